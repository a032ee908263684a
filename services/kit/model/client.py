"""The client of all kinds of providers. Only this file and those it loads know their libraries."""

import asyncio
import importlib
from contextlib import AsyncExitStack
from typing import Protocol

from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    ModelTimeoutError,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from services.domain.questions.question import Outcome
from services.kit.model.calls import Completion, ModelFailure, clean
from services.kit.model.chain import ModelEndpoint

TOO_LARGE = 413
NO_THINKING_TAGS = ("\0", "\0")
"""Answers are taken as they are: what a summary says of `<think>` is part of it."""
_FINAL = (ModelAuthenticationError, ModelNotFoundError, ModelQuotaExceededError, ModelRequestRejectedError)
"""The errors that another try would not change."""


class ProviderKind(Protocol):
    """A module that knows one kind of provider."""

    def connect(self, endpoint: ModelEndpoint) -> tuple[Model, "ModelConnection"]: ...


class ModelConnection(Protocol):
    """A connection that must be closed."""

    async def close(self) -> None: ...


def client(temperature: float) -> "Providers":
    return Providers(temperature)


class Providers:
    """Asks models, each over a lasting connection of its own."""

    def __init__(self, temperature: float) -> None:
        self._temperature = temperature
        self._models: dict[str, tuple[Model, ModelConnection]] = {}

    async def close(self) -> None:
        """Close all connections, also where one of them cannot be closed; that is raised at the end."""
        models, self._models = self._models, {}
        async with AsyncExitStack() as stack:
            for _, connection in models.values():
                stack.push_async_callback(connection.close)

    async def ask(
        self, endpoint: ModelEndpoint, system: str, prompt: str, *, output: int, seconds: float
    ) -> Completion | ModelFailure:
        if endpoint.fault:
            return ModelFailure("refused", endpoint.fault)
        settings = ModelSettings(max_tokens=output, temperature=self._temperature, timeout=seconds)
        message = ModelRequest(parts=[SystemPromptPart(content=system), UserPromptPart(content=prompt)])
        model = await self._model(endpoint)
        try:
            async with asyncio.timeout(seconds):
                response = await model_request(model, [message], model_settings=settings)
        except (TimeoutError, ModelTimeoutError):
            return ModelFailure("timeout", f"no answer within {seconds:.0f} s", spent=True)
        except (ModelAPIError, UnexpectedModelBehavior) as error:
            return _failed(error, endpoint)
        return _completion(response)

    async def _model(self, endpoint: ModelEndpoint) -> Model:
        if endpoint.name not in self._models:
            kind: ProviderKind = await asyncio.to_thread(importlib.import_module, f"services.kit.model.{endpoint.kind}")
            if endpoint.name not in self._models:
                self._models[endpoint.name] = kind.connect(endpoint)
        return self._models[endpoint.name][0]


def _completion(response: ModelResponse) -> Completion:
    usage = response.usage
    return Completion(
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        tokens_in=usage.input_tokens,
        tokens_out=usage.output_tokens,
        cached=usage.cache_read_tokens,
        cut=response.finish_reason == "length",
    )


def _failed(error: ModelAPIError | UnexpectedModelBehavior, endpoint: ModelEndpoint) -> ModelFailure:
    """Nothing of the error itself is handed on: it holds the whole answer, and may hold the key."""
    words = _words(error)
    if isinstance(error, ModelHTTPError):
        words = f"{error.status_code}: {words}"
    return ModelFailure(_outcome(error), clean(words, endpoint.key), spent=_spent(error))


def _outcome(error: ModelAPIError | UnexpectedModelBehavior) -> Outcome:
    too_large = isinstance(error, ModelHTTPError) and error.status_code == TOO_LARGE
    if too_large or isinstance(error, ModelContextWindowExceededError):
        return "overflow"
    if isinstance(error, _FINAL):
        return "refused"
    return "transient"


def _spent(error: ModelAPIError | UnexpectedModelBehavior) -> bool:
    """Whether the model may have worked: not where the provider refused, or was never reached."""
    if isinstance(error, ModelConnectionError):
        return error.phase not in {"pool", "connect"}
    return not isinstance(error, ModelHTTPError)


def _words(error: ModelAPIError | UnexpectedModelBehavior) -> str:
    """The provider's own sentence, if it is where it should be."""
    body = getattr(error, "body", None)
    for value in (body.get("error"), body) if isinstance(body, dict) else ():
        if isinstance(value, dict) and isinstance(value.get("message"), str):
            return str(value["message"])
    return str(error)
