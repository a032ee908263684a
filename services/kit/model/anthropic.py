"""Providers that speak Anthropic's messages."""

from anthropic import AsyncAnthropic
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.profiles.anthropic import AnthropicModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider

from services.kit.model.chain import NO_KEY, ModelEndpoint
from services.kit.model.client import NO_THINKING_TAGS


def connect(endpoint: ModelEndpoint) -> tuple[AnthropicModel, AsyncAnthropic]:
    key = endpoint.key.get_secret_value() or NO_KEY
    older = {} if endpoint.is_vendor else {"X-Api-Key": key}  # who only follows the vendor may still look there
    connection = AsyncAnthropic(base_url=endpoint.url, api_key=key, max_retries=0, default_headers=older)
    provider = AnthropicProvider(anthropic_client=connection)
    profile = AnthropicModelProfile(thinking_tags=NO_THINKING_TAGS)
    return AnthropicModel(endpoint.model, provider=provider, profile=profile), connection
