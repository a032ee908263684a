"""Limits of models: what a refusal says of them, and what one session knows and no other does. No clock, no I/O."""

import json
import re
from collections.abc import Iterable, Iterator

import msgspec

from schemas.events import LimitLearned, LimitWithdrawn
from schemas.subjects import Address
from services.domain.window import Learned

MIN_LIMIT = 1_024
MAX_LIMIT = 10_000_000
"""No context window is smaller or larger: such a number in an error is something else."""
MAX_CHARACTERS = 16_384
"""The characters of an error that are read. Providers name the reason at the beginning."""
MAX_DEPTH = 6
"""Bodies within bodies: a gateway hands on what another gateway has answered."""


class Overflow(msgspec.Struct, frozen=True):
    """A prompt was too long."""

    limit: int = 0
    """Tokens that the model takes; 0: it is not named."""
    used: int = 0
    """Tokens that the prompt had; 0: it is not named."""


_N = r"(\d{1,3}(?:,\d{3}){1,4}|\d{1,15})"
"""A number, with or without commas between thousands; the beginning of one that is far beyond all limits."""

_WORDINGS = (
    r"prompt is too long",
    r"exceeds? context limit:? \d",
    r"input is too long for requested model",
    r"exceeds? the context window",
    r"exceeds? context window of \d",
    r"input token count.{0,200}exceeds the maximum",
    r"tokens exceed the configured limit of \d",
    r"maximum prompt length is \d",
    r"maximum context length (?:is|of) \d",
    r"maximum context length \(\d",
    r"exceeds the available context size",
    r"exceed_context_size_error",
    r"greater than the context length",
    r"context length (?:is|of) only \d",
    r"context window exceeds limit",
    r"exceeded model token limit",
    r"context[_ ]length[_ ]exceeded",
    r"input length.{0,200}exceeds.{0,80}(?:context|maximum allowed) length",
    r"longer than the maximum model length",
    r"prompt too long; exceeded (?:max )?context length",
    r"too large for model with \d[\d,]* maximum context length",
    r"model_context_window_exceeded",
    r"context size has been exceeded",
)
_DOUBTFUL = (
    r"reduce the length of the messages",
    r"exceeds the limit of \d[\d,]*\b(?! *(?:bytes|[kmg]i?b\b|requests|characters|images|messages|files|per\b|/))",
    r"request entity too large",
    r"\b413\b.{0,200}\b(?:entity|payload|context|prompt)",
    r"\b(?:entity|payload|context|prompt)\b.{0,200}\b413\b",
)
"""Words of refusals for a prompt's length, and for too many requests or tokens in a time as well."""
_RATE = r"rate.?limit|too many requests|throttl|quota|(?:tokens|requests)(?:/| per )(?:s|m|h|d)|\bTPM\b|\bRPM\b"

_LIMITS = (
    rf"> {_N} maximum",
    rf"exceeds? context limit:? {_N} \+ {_N} > {_N}",
    rf"maximum prompt length is {_N}",
    rf"maximum number of tokens allowed \(?{_N}",
    rf"maximum context length (?:is |of )?\(?{_N}",
    rf"context length (?:is|of) only {_N}",
    rf"exceeds? the (?:configured )?limit of {_N}",
    rf"model with {_N} maximum context length",
    rf"model token limit:? {_N}",
    rf"context size\b[^\d]{{0,60}}{_N} tokens",
    rf"exceeds? (?:the |its )?(?:model's )?context length (?:of )?\(?{_N}",
    rf"exceeds? (?:the )?context window of {_N}",
    rf"maximum allowed length \(?{_N}",
    rf"maximum model length of {_N}",
    rf"\bn_ctx\b\W{{1,4}}{_N}",
    rf"\bmax\w*[ _-]context\b(?:(?!\bby\b|request)[^\d.]){{0,40}}{_N}",
)
"""The limit is the last number of a match."""
_USED = (
    rf"{_N} tokens > \d",
    rf"exceeds? context limit:? {_N} \+",
    rf"token count (?:of )?\(?{_N}",
    rf"contains {_N} tokens",
    rf"resulted in {_N} tokens",
    rf"requested:? (?:about )?{_N}",
    rf"requested tokens \({_N}",
    rf"input length \(?{_N}",
    rf"request \({_N} tokens",
    rf"prompt \(length {_N}",
    rf"prompt of {_N} tokens",
    rf"keep the first {_N} tokens",
    rf"\bn_prompt_tokens\b\W{{1,4}}{_N}",
)

_OUTER = ("error", "errors", "cause", "data", "metadata", "raw", "body", "responseBody", "response_body")
_MESSAGES = (
    "message", "error_message", "errorMessage", "msg", "detail", "details", "description", "title", "reason",
    "finish_reason",
)  # fmt: skip
_CODES = ("type", "code", "status", "statusCode", "name", "n_ctx", "n_prompt_tokens")
"""The fields of errors that have codes and numbers. Other fields may be the prompt itself, with any words."""


def _patterns(patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in patterns)


_overflow = re.compile("|".join(_WORDINGS), re.IGNORECASE | re.DOTALL)
_doubtful = re.compile("|".join(_DOUBTFUL), re.IGNORECASE | re.DOTALL)
_rate = re.compile(_RATE, re.IGNORECASE)
_limits = _patterns(_LIMITS)
_used = _patterns(_USED)


def read_overflow(text: str) -> Overflow | None:
    """The report of an error on the length of a prompt; None if it is about something else."""
    words = "\n".join(texts_of(text))[:MAX_CHARACTERS]
    if _overflow.search(words) or (_doubtful.search(words) and not _rate.search(words)):
        return Overflow(limit=_first(_limits, words), used=_first(_used, words))
    return None


def _first(patterns: Iterable[re.Pattern[str]], words: str) -> int:
    """The first plausible number, by the order of the patterns."""
    for pattern in patterns:
        for found in pattern.finditer(words):
            number = int(found[found.re.groups].replace(",", ""))
            if MIN_LIMIT <= number <= MAX_LIMIT:
                return number
    return 0


def texts_of(text: str, depth: int = 0) -> Iterator[str]:
    """A text in its own words; one that holds JSON, in the words of that, the innermost first."""
    start = text.find("{")
    body = _object(text[start:]) if start >= 0 and depth < MAX_DEPTH else None
    if body is None:
        yield text
        return
    messages = list(_messages(body, depth + 1))
    yield from messages or [text]
    if messages and text[:start].strip():
        yield text[:start].strip()


def _object(text: str) -> object:
    """The JSON object that a text begins with, if it does."""
    try:
        body, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return body


def _messages(value: object, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        return
    match value:
        case str():
            yield from texts_of(value, depth)
        case list():
            for one in value:
                yield from _messages(one, depth + 1)
        case dict():
            for key in (*_OUTER, *_MESSAGES):
                yield from _messages(value.get(key), depth + 1)
            yield from (f"{key}: {value[key]}" for key in _CODES if isinstance(value.get(key), str | int))
        case _:
            pass


def unknown_limits(common: Learned, own: Learned, address: Address) -> list[LimitLearned | LimitWithdrawn]:
    """The facts that all sessions should know of it. What is known already yields nothing.

    Of a model without a name nothing is learned, since it may be any.
    """
    return [*_withdrawn(common, own, address), *_learned(common, own, address)]


def _withdrawn(common: Learned, own: Learned, address: Address) -> Iterator[LimitWithdrawn]:
    for (provider, model), accepted in sorted(own.accepted.items()):
        limit = common.limits.get((provider, model), accepted)
        if accepted > limit:
            yield LimitWithdrawn(
                provider=provider,
                model=model,
                limit=limit,
                accepted=accepted,
                in_project=address.project,
                in_session=address.session,
            )


def _learned(common: Learned, own: Learned, address: Address) -> Iterator[LimitLearned]:
    for name, limit in sorted(own.limits.items()):
        provider, model = name
        answered = max(own.accepted.get(name) or 0, common.accepted.get(name) or 0)
        known = common.limits.get(name, limit + 1)
        if provider and model and limit >= answered and (limit < known or known < answered):
            yield LimitLearned(
                provider=provider,
                model=model,
                limit=limit,
                in_project=address.project,
                in_session=address.session,
            )
