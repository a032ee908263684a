"""Helpers of all readers: times, words of contents, arguments as JSON, and ids that are unique within a session."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from schemas.inbox import MessageSeen, PartSeen, SessionSeen, UsageSeen
from services.edges.client.transcript import Transcript


class ReadMessage(msgspec.Struct, frozen=True):
    """A message under the ids of its recording, which may repeat or lack some."""

    message: MessageSeen
    usage: UsageSeen | None = None


def moment(value: str | float | None) -> datetime | None:
    """Make an aware time of ISO 8601 or of milliseconds since 1970; None of anything else."""
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        return datetime.fromtimestamp(value / 1000, UTC) if value else None
    except (ValueError, OverflowError, OSError):  # no year has such a number
        return None


def arguments(value: Any) -> str:  # noqa: ANN401 - whatever the model passed
    """Write a tool's arguments as compact JSON; nothing recorded is nothing."""
    return "" if value is None else msgspec.json.encode(value).decode()


def texts(content: Any) -> str:  # noqa: ANN401 - as it was recorded
    """The words of a content: a text, a block with one, or a list of both; what is no text has none."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(texts, content)))
    if isinstance(content, dict):
        return next((texts(content[key]) for key in ("text", "content", "output") if key in content), "")
    return ""


def transcripts(harness: str, session: str, seen: SessionSeen, found: Iterable[ReadMessage]) -> Iterator[Transcript]:
    """Make the session, or nothing if no message of it is left."""
    messages: list[MessageSeen] = []
    usage: dict[str, UsageSeen] = {}
    names: dict[str, int] = {}
    parts: dict[str, int] = {}
    for ordinal, one in enumerate(found):
        if not one.message.parts and one.message.role != "assistant":
            continue
        name = _name(one.message.message or f"m{ordinal}", names)
        messages.append(_renamed(one.message, name, parts))
        if one.usage:
            usage[name] = msgspec.structs.replace(one.usage, message=name)
    if messages:
        yield Transcript(harness, session, seen, tuple(messages), usage)


def _renamed(message: MessageSeen, name: str, taken: dict[str, int]) -> MessageSeen:
    parts = tuple(_part(part, name, taken) for part in message.parts)
    return msgspec.structs.replace(message, message=name, parts=parts)


def _part(part: PartSeen, message: str, taken: dict[str, int]) -> PartSeen:
    wanted = part.part if part.part and part.part not in taken else f"{message}:p{part.position}"
    return msgspec.structs.replace(part, message=message, part=_name(wanted, taken))


def _name(wanted: str, taken: dict[str, int]) -> str:
    """Take the wanted id, numbered if it is taken already: masked recordings give many things the same id.

    `taken`: each id that is, with the last number that was put behind it, so that no number is tried twice.
    """
    name, count = wanted, taken.get(wanted, 0)
    while name in taken:
        count += 1
        name = f"{wanted}~{count}"
    taken[wanted] = max(count, 1)
    taken.setdefault(name, 1)
    return name
