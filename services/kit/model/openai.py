"""Providers that speak OpenAI's chat completions."""

from openai import AsyncOpenAI
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import Provider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from services.kit.model.chain import NO_KEY, ModelEndpoint
from services.kit.model.client import NO_THINKING_TAGS


def connect(endpoint: ModelEndpoint) -> tuple[OpenAIChatModel, AsyncOpenAI]:
    connection = AsyncOpenAI(base_url=endpoint.url, api_key=endpoint.key.get_secret_value() or NO_KEY, max_retries=0)
    provider: Provider[AsyncOpenAI] = (
        OpenAIProvider(openai_client=connection)
        if endpoint.is_vendor
        else OpenAICompatibleProvider(endpoint.name, openai_client=connection)
    )
    profile = OpenAIModelProfile(thinking_tags=NO_THINKING_TAGS)
    return OpenAIChatModel(endpoint.model, provider=provider, profile=profile), connection
