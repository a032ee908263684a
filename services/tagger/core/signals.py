"""Reports that are recorded as they are: counts, refusals, todo lists, sets of tools, adapters."""

import re
from collections.abc import Mapping

from schemas.codec import encode
from schemas.events import (
    AdapterConnected,
    CallFailed,
    OverflowDetected,
    SignatureRefused,
    TodoCaptured,
    ToolsetChanged,
    UsageSampled,
)
from schemas.inbox import AdapterSeen, ErrorSeen, TodoSeen, ToolSeen, ToolsSeen, UsageSeen
from services.domain.tokens import tokens
from services.domain.window import Model
from services.tagger.core.overflow import MAX_CHARACTERS, read_overflow, texts_of
from services.tagger.core.state import TaggedSession, refusal

MAX_ERROR_CHARACTERS = 240
_WORDINGS = (
    r"(?:invalid|corrupted|bad)\W{0,3}signature\W{1,3}(?:in|for|on|of)\W{1,3}(?:the |a )?\W{0,2}(?:redacted_)?thinking",
    r"invalid\W{0,3}data\W{1,3}in\W{1,3}redacted_thinking",
    r"(?:redacted_)?thinking\W{1,3}blocks? in the latest assistant message cannot be modified",
    r"block is bound to a(?:nother| different) (?:conversation|account|organization|model)",
    r"thinking\W{1,3}(?:block )?signature (?:is (?:not valid|invalid)|verification failed|could not be verified)",
    r"invalid_encrypted_content",
    r"encrypted content\b.{0,400}\bcould not be (?:verified|decrypted)",
)
ErrorFact = CallFailed | OverflowDetected | SignatureRefused
"""A fact that a report of an error becomes."""
_refused = re.compile("|".join(_WORDINGS), re.IGNORECASE | re.DOTALL)


def adapter_seen(session: TaggedSession, item: AdapterSeen, harness: str) -> list[AdapterConnected]:
    connected = AdapterConnected(
        harness=harness,
        name=item.name,
        version=item.version,
        harness_version=item.harness_version,
        digest=item.digest,
        rival=item.rival,
    )
    return [] if connected in session.adapters else [connected]


def usage_seen(session: TaggedSession, item: UsageSeen) -> list[UsageSampled]:
    known = session.usage.get(item.message)
    provider, model = (known.provider, known.model) if known else _asked(session, item.message)
    sample = UsageSampled(
        message=item.message,
        input=item.input,
        output=item.output,
        reasoning=item.reasoning,
        cache_read=item.cache_read,
        cache_write=item.cache_write,
        cost=item.cost,
        provider=provider,
        model=model,
    )
    has_count = sample.input + sample.cache_read + sample.cache_write > 0
    return [sample] if has_count and known != sample else []


def error_seen(session: TaggedSession, item: ErrorSeen) -> list[ErrorFact]:
    """Note a refusal, and that it was one of length or of thinking.

    A harness may report it twice: of the session and of the answer.
    """
    failed = failed_call(item)
    text = failed.text
    facts: list[ErrorFact] = [] if refusal(failed) in session.reported else [failed]
    if text in session.reported:
        return facts
    provider, model = _asked(session, item.message)
    overflow = read_overflow(item.text)
    if overflow is None and refuses_thinking(item.text):
        facts.append(SignatureRefused(message=item.message, text=text, provider=provider, model=model))
    if overflow is not None:
        facts.append(
            OverflowDetected(
                message=item.message,
                text=text,
                limit=overflow.limit,
                used=overflow.used,
                provider=provider,
                model=model,
            )
        )
    return facts


def failed_call(item: ErrorSeen) -> CallFailed:
    text = item.text[:MAX_ERROR_CHARACTERS]
    return CallFailed(message=item.message, name=item.name, status=item.status, text=text)


def _asked(session: TaggedSession, message: str) -> Model:
    """The model that makes this message, as that is recorded; where it names none, the one in work."""
    known = session.conversation.messages.get(message)
    if known is not None and known.recorded.provider and known.recorded.model:
        return known.recorded.provider, known.recorded.model
    return session.learned.model or ("", "")


def todos_seen(session: TaggedSession, item: TodoSeen) -> list[TodoCaptured]:
    captured = TodoCaptured(
        contents=[todo.content for todo in item.items],
        statuses=[todo.status for todo in item.items],
        priorities=[todo.priority for todo in item.items],
    )
    return [] if captured == session.todos else [captured]


def tools_seen(session: TaggedSession, item: ToolsSeen, references: Mapping[str, str]) -> list[ToolsetChanged]:
    """The set of tools, if it is not the one that holds; `references` are of definitions in the bucket, by digest."""
    if item.digest == session.toolset:
        return []
    reference = references.get(item.digest, "")
    return [
        ToolsetChanged(
            digest=item.digest,
            names=[tool.name for tool in item.tools],
            tokens=[_cost(tool) for tool in item.tools],
            definitions="" if reference else definitions(item),
            definitions_ref=reference,
        )
    ]


def definitions(item: ToolsSeen) -> str:
    """The tools as JSON."""
    return encode(item.tools).decode()


def _cost(tool: ToolSeen) -> int:
    return tokens(sum(len(text.encode()) for text in (tool.name, tool.description, tool.parameters)))


def refuses_thinking(text: str) -> bool:
    """Whether an error refuses the signature, the seal or the place of thinking, in the words of each provider.

    Not so where thinking is missed: to leave out more of it would not help.
    """
    return _refused.search("\n".join(texts_of(text))[:MAX_CHARACTERS]) is not None
