"""The neutral session: one JSON object per session, the tool's result inside the call."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from schemas.inbox import MessageSeen, PartKind, PartSeen, Role, SessionSeen, ToolStatus
from services.edges.client.readers.common import ReadMessage, arguments, moment, transcripts
from services.edges.client.transcript import Transcript, UnreadableTranscript

NAME = "neutral JSON Lines, one session per line"

_KINDS: dict[str, PartKind] = {"text": "text", "reasoning": "reasoning", "tool": "tool", "compaction": "compaction"}
_STATUS: dict[str, ToolStatus] = {"completed": "completed", "error": "error"}


class _Part(msgspec.Struct):
    """One part of a message."""

    type: str
    text: str | None = None
    name: str | None = None
    call_id: str | None = None
    input: Any = None
    output: str | None = None
    status: str | None = None
    summary: str | None = None


class _NeutralMessage(msgspec.Struct):
    """One message."""

    role: Role
    id: str | None = None
    time: str | float | None = None
    synthetic: bool = False
    sidechain: bool = False
    parts: list[_Part] = []


class _Session(msgspec.Struct):
    """One line of the file."""

    session_id: str
    source: str | dict[str, Any] | None = None
    title: str | None = None
    cwd: str | None = None
    parent: str | None = None
    """The session that started this one as its sub-agent, where that is a session of its own."""
    messages: list[_NeutralMessage] = []


def knows(keys: set[str]) -> bool:
    """Whether the first JSON object of a file has the keys of this format."""
    return {"session_id", "messages"} <= keys


def read(data: bytes) -> Iterator[Transcript]:
    try:
        sessions = [msgspec.json.decode(data, type=_Session)]
    except ValueError:
        yield from _lines(data)
    else:
        for session in sessions:
            yield from _transcripts(session)


def _lines(data: bytes) -> Iterator[Transcript]:
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            session = msgspec.json.decode(line, type=_Session)
        except ValueError as error:
            raise UnreadableTranscript(f"line {number} is not a neutral session: {error}") from error
        yield from _transcripts(session)


def _transcripts(session: _Session) -> Iterator[Transcript]:
    harness = _harness(session.source)
    seen = SessionSeen(
        title=session.title or "",
        parent=session.parent or "",
        directory=session.cwd or "",
        mode="subagent" if session.parent else "primary",
    )
    yield from transcripts(harness, session.session_id, seen, map(_message, _side(session, sidechain=False)))
    child = SessionSeen(parent=session.session_id, directory=session.cwd or "", mode="subagent")
    name = f"{session.session_id}:sidechain"
    yield from transcripts(harness, name, child, map(_message, _side(session, sidechain=True)))


def _side(session: _Session, *, sidechain: bool) -> list[_NeutralMessage]:
    return [message for message in session.messages if message.sidechain is sidechain]


def _harness(source: str | dict[str, Any] | None) -> str:
    name = source.get("agent") or source.get("format") if isinstance(source, dict) else source
    return re.sub(r"[^a-z0-9]+", "-", str(name or "").lower()).strip("-") or "neutral"


def _message(message: _NeutralMessage) -> ReadMessage:
    parts = tuple(_part(part, at) for at, part in enumerate(message.parts) if part.type in _KINDS)
    return ReadMessage(
        MessageSeen(
            message=message.id or "",
            role=message.role,
            at=moment(message.time),
            synthetic=message.synthetic,
            parts=parts,
        )
    )


def _part(part: _Part, position: int) -> PartSeen:
    if part.type != "tool":
        text = part.summary if part.type == "compaction" else part.text
        return PartSeen(message="", type=_KINDS[part.type], position=position, text=text or "")
    return PartSeen(
        message="",
        type="tool",
        position=position,
        tool=part.name or "",
        call=part.call_id or "",
        input=arguments(part.input),
        output=part.output or "",
        status=_STATUS.get(part.status or "", "pending"),
    )
