"""Answers of a provider that will not answer, in the shape and the wording of each."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tests.harness.provider.content import Format


class Refusal(msgspec.Struct, frozen=True):
    """An answer with a status other than 200."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str] = {}


def openai(status: int, message: str, kind: str = "invalid_request_error", **more: object) -> Refusal:
    return Refusal(status, {"error": {"message": message, "type": kind, "param": None, "code": None} | more})


def anthropic(status: int, message: str, kind: str = "invalid_request_error") -> Refusal:
    error = {"type": kind, "message": message}
    return Refusal(status, {"type": "error", "error": error, "request_id": "req_scripted"})


def refused(form: Format, message: str) -> Refusal:
    """A request that breaks the rules."""
    return anthropic(400, message) if form == "anthropic" else openai(400, message)


def rate_limited(form: Format = "openai", retry_after: float = 1) -> Refusal:
    message = "Rate limit reached for requests."
    refusal = (
        anthropic(429, message, "rate_limit_error")
        if form == "anthropic"
        else openai(429, message, "requests", code="rate_limit_exceeded")
    )
    milliseconds = str(round(retry_after * 1000))
    headers = {"retry-after": str(max(1, round(retry_after))), "retry-after-ms": milliseconds}
    return msgspec.structs.replace(refusal, headers=headers)


def overloaded(form: Format = "anthropic") -> Refusal:
    if form == "anthropic":
        return anthropic(529, "Overloaded", "overloaded_error")
    return openai(503, "The engine is currently overloaded, please try again later.", "server_error")


def server_error(form: Format = "openai") -> Refusal:
    if form == "anthropic":
        return anthropic(500, "Internal server error", "api_error")
    return openai(500, "The server had an error while processing your request.", "server_error")


_OVERFLOWS: Mapping[str, str] = {
    "anthropic": "prompt is too long: {used} tokens > {limit} maximum",
    "bedrock": "Input is too long for requested model.",
    "openai": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "gemini": "The input token count ({used}) exceeds the maximum number of tokens allowed ({limit}).",
    "xai": "This model's maximum prompt length is {limit} but the request contains {used} tokens.",
    "groq": "Please reduce the length of the messages or completion.",
    "openrouter": "This endpoint's maximum context length is {limit} tokens. You requested about {used} tokens.",
    "deepseek": "This model's maximum context length is {limit} tokens. However, you requested {used} tokens.",
    "copilot": "prompt token count of {used} exceeds the limit of {limit}",
    "llama.cpp": "the request exceeds the available context size, try increasing it",
    "lmstudio": "Trying to keep the first {used} tokens when context the overflows. "
    "However, the number of tokens to keep is greater than the context length.",
    "minimax": "invalid params, context window exceeds limit (2013)",
    "kimi": "Invalid request: Your request exceeded model token limit: {limit}",
    "generic": "context_length_exceeded",
    "http": "Request Entity Too Large",
    "vllm": "This model's context length is only {limit} tokens, please shorten the prompt of {used} tokens.",
    "vllm-input": "The input length ({used}) exceeds the model's context length ({limit}).",
    "ollama": "prompt too long; exceeded max context length by {over} tokens",
    "mistral": "Prompt contains {used} tokens and is too large for model with {limit} maximum context length",
    "z.ai": "model_context_window_exceeded",
    "llama": "Context size has been exceeded.",
    "payload": "413 Payload Too Large",
}

OVERFLOWS = tuple(_OVERFLOWS)
"""The providers whose wording for a prompt that is too long is known."""


def overflow(provider: str = "openai", used: int = 210_000, limit: int = 200_000) -> Refusal:
    """A prompt that is too long, in the words of this provider."""
    if provider not in _OVERFLOWS:
        raise ValueError(f"{provider} has no wording for an overflow: name one of {', '.join(OVERFLOWS)}")
    message = _OVERFLOWS[provider].format(used=used, limit=limit, over=used - limit)
    match provider:
        case "anthropic":
            return anthropic(400, message)
        case "http" | "payload":
            return openai(413, message)
        case "openai" | "generic":
            return openai(400, message, code="context_length_exceeded")
        case _:
            return openai(400, message)
