"""OpenCode's sessions: its export, and the same with child sessions."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from schemas.inbox import Attachment, MessageSeen, PartSeen, Role, SessionSeen, ToolStatus, UsageSeen
from services.domain.attachments import attachment
from services.edges.client.readers.common import ReadMessage, arguments, moment, transcripts
from services.edges.client.transcript import Transcript, UnreadableTranscript

NAME = "OpenCode (`opencode export`, its store opencode.db)"
CLEARED = "[Old tool result content cleared]"
"""The text that OpenCode sends in place of an output that it has pruned."""

_SIGNATURES = ("signature", "redactedData", "redactedContent")
_STATUS: dict[str, ToolStatus] = {"completed": "completed", "error": "error", "running": "running"}


class _Time(msgspec.Struct):
    """Milliseconds since 1970."""

    created: float = 0
    compacted: float | None = None


class _Cache(msgspec.Struct):
    """Tokens that the provider's cache served and stored."""

    read: float = 0
    write: float = 0


class _Tokens(msgspec.Struct):
    """The provider's count."""

    input: float = 0
    output: float = 0
    reasoning: float = 0
    cache: _Cache = msgspec.field(default_factory=_Cache)


class _Model(msgspec.Struct):
    """Whom a user's message was meant for."""

    provider: str = msgspec.field(default="", name="providerID")
    model: str = msgspec.field(default="", name="modelID")


class Info(msgspec.Struct):
    """A message without its parts."""

    role: Role
    id: str = ""
    time: _Time = msgspec.field(default_factory=_Time)
    agent: str | None = None
    provider: str = msgspec.field(default="", name="providerID")
    model_id: str = msgspec.field(default="", name="modelID")
    model: _Model | None = None
    tokens: _Tokens | None = None
    summary: Any = None
    """True on the assistant's message that a compaction wrote; something else on a user's message."""


class _File(msgspec.Struct):
    """A file that a tool returned in addition to its text."""

    mime: str = ""
    url: str = ""
    filename: str | None = None


class _ToolState(msgspec.Struct):
    """The state of a tool call."""

    status: str = ""
    input: Any = None
    output: str | None = None
    error: str | None = None
    time: _Time | None = None
    attachments: list[_File] | None = None


class OpenCodePart(msgspec.Struct):
    """One part of a message, of any type."""

    type: str
    id: str = ""
    text: str = ""
    synthetic: bool = False
    ignored: bool = False
    metadata: dict[str, Any] | None = None
    tool: str = ""
    call: str = msgspec.field(default="", name="callID")
    state: _ToolState | None = None
    mime: str = ""
    url: str = ""
    filename: str | None = None


class OpenCodeMessage(msgspec.Struct):
    """A message with its parts."""

    info: Info
    parts: list[OpenCodePart] = []


class OpenCodeSession(msgspec.Struct):
    """A session in OpenCode's data."""

    id: str
    title: str | None = None
    directory: str | None = None
    parent: str | None = msgspec.field(default=None, name="parentID")
    agent: str | None = None
    version: str | None = None


class _Recording(msgspec.Struct):
    """A file: the export calls its session `info`, the HTTP API `session`."""

    messages: list[OpenCodeMessage]
    info: OpenCodeSession | None = None
    session: OpenCodeSession | None = None
    children: list["_Recording"] | None = None


def knows(keys: set[str]) -> bool:
    """Whether the first JSON object of a file has the keys of this format."""
    return "messages" in keys and bool(keys & {"info", "session"})


def read(data: bytes) -> Iterator[Transcript]:
    try:
        recording = msgspec.json.decode(data, type=_Recording)
    except ValueError as error:
        raise UnreadableTranscript(f"not a whole OpenCode session: {error}") from error
    yield from _recorded(recording)


def from_entries(
    session: OpenCodeSession, entries: Iterable[OpenCodeMessage], parent: str = ""
) -> Iterator[Transcript]:
    """One session made of its parts, wherever OpenCode stored them."""
    entries = list(entries)
    parent = session.parent or parent
    seen = SessionSeen(
        title=session.title or "",
        parent=parent,
        directory=session.directory or "",
        agent=session.agent or next((entry.info.agent for entry in entries if entry.info.agent), ""),
        mode="subagent" if parent else "primary",
        version=session.version or "",
    )
    return transcripts("opencode", session.id, seen, map(_message, entries))


def _recorded(recording: _Recording, parent: str = "") -> Iterator[Transcript]:
    session = recording.info or recording.session
    if session is None:
        raise UnreadableTranscript("an OpenCode session without its info")
    yield from from_entries(session, recording.messages, parent)
    for child in recording.children or ():
        yield from _recorded(child, session.id)


def _message(entry: OpenCodeMessage) -> ReadMessage:
    info = entry.info
    meant = info.model or _Model(info.provider, info.model_id)
    message = MessageSeen(
        message=info.id,
        role=info.role,
        at=moment(info.time.created),
        agent=info.agent or "",
        provider=meant.provider,
        model=meant.model,
        synthetic=info.summary is True,
        parts=tuple(part for at, one in enumerate(entry.parts) if (part := _part(one, at))),
    )
    return ReadMessage(message, _usage(info.tokens))


def _usage(tokens: _Tokens | None) -> UsageSeen | None:
    if tokens is None:
        return None
    counts = (tokens.input, tokens.output, tokens.reasoning, tokens.cache.read, tokens.cache.write)
    return UsageSeen("", *map(int, counts)) if any(counts) else None


def _part(part: OpenCodePart, position: int) -> PartSeen | None:
    """Turn a part into what is seen of it; None for the parts that carry nothing."""
    seen = PartSeen(
        message="",
        type="text",
        part=part.id,
        position=position,
        text=part.text,
        ignored=part.ignored,
        synthetic=part.synthetic,
    )
    match part.type:
        case "text":
            return seen
        case "reasoning":
            return msgspec.structs.replace(seen, type="reasoning", signed=_signed(part.metadata))
        case "file":
            filename = part.filename or ""
            return msgspec.structs.replace(seen, type="file", text=part.url, mime=part.mime, filename=filename)
        case "compaction":
            return msgspec.structs.replace(seen, type="compaction")
        case "tool":
            return _tool(part, seen, part.state or _ToolState())
        case _:
            return None


def _tool(part: OpenCodePart, seen: PartSeen, state: _ToolState) -> PartSeen:
    return msgspec.structs.replace(
        seen,
        type="tool",
        tool=part.tool,
        call=part.call,
        input=arguments(state.input),
        output=_output(state),
        attachments=_attachments(state),
        status=_STATUS.get(state.status, "pending"),
    )


def _output(state: _ToolState) -> str:
    if state.time and state.time.compacted:
        return CLEARED
    return (state.error if state.status == "error" else state.output) or ""


def _attachments(state: _ToolState) -> tuple[Attachment, ...]:
    """The attachments that OpenCode sends with an output: none with a failure, and none with one that it has pruned."""
    if state.status != "completed" or (state.time and state.time.compacted):
        return ()
    return tuple(attachment(one.url, one.mime, one.filename or "") for one in state.attachments or ())


def _signed(metadata: dict[str, Any] | None) -> bool:
    """Whether a thought is bound to its place. Each provider keeps the signature under its own name."""
    own = [value for value in (metadata or {}).values() if isinstance(value, dict)]
    details = [detail for fields in own for detail in fields.get("reasoning_details") or () if isinstance(detail, dict)]
    return any(fields.get(key) for fields in own for key in _SIGNATURES) or any(map(_is_bound, details))


def _is_bound(detail: dict[str, Any]) -> bool:
    """Of a router's details; one that does not say whose it is is taken for Claude's."""
    return detail.get("format") in (None, "anthropic-claude-v1") and bool(detail.get("signature") or detail.get("data"))
