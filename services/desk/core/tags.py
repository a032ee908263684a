"""The tags of a session: which were given, which are still in the prompt, and which are queued to be dropped."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Sequence

import msgspec

from schemas.envelope import Envelope
from schemas.events import (
    DropRequested,
    Event,
    MessageListed,
    MessageRemoved,
    PartRecorded,
    PartRemoved,
    TagAssigned,
)
from services.domain.decision import Decision
from services.domain.fold import Map
from services.domain.protection import newest, protected_sentence
from services.domain.ranges import BadRange, ends_of, ranges

replace = msgspec.structs.replace

MAX_TAGS = 1000
"""Tags that one call of `ctx_reduce` may name."""


class Tags(msgspec.Struct, frozen=True):
    """The tags of a session, and which of them are queued to be dropped."""

    messages: Map[int, str] = Map()
    """Every number that was given -> the message that it is of."""
    parts: Map[str, int] = Map()
    """Part -> its number."""
    last: int = 0
    """The highest number."""
    requested: Map[int, None] = Map()
    """Numbers whose drop was asked for, whether it is served yet or not."""
    removed: Map[str, None] = Map()
    """Messages that are not part of the conversation any more."""
    lost: Map[int, None] = Map()
    """Numbers whose parts were removed from their messages."""
    results: Map[str, str] = Map()
    """Result of a call -> the message that holds it, where that is not the one that made the call."""

    def is_listed(self, number: int) -> bool:
        """Whether the part with this number is in a message that is part of the conversation now."""
        message = self.messages.get(number)
        return message is not None and message not in self.removed and number not in self.lost


def evolve(tags: Tags, event: Event, _: Envelope) -> Tags:
    match event:
        case TagAssigned():
            return _tagged(tags, event)
        case PartRecorded(kind="tool_result", part=part, message=message, owner=owner) if owner != message:
            messages = tags.messages.insert(tags.parts[part], message) if part in tags.parts else tags.messages
            return replace(tags, messages=messages, results=tags.results.insert(part, message))
        case PartRemoved(part=part) if part in tags.parts:
            return replace(tags, lost=tags.lost.insert(tags.parts[part], None))
        case MessageListed(messages=names):
            removed = tags.removed
            for name in names:
                removed = removed.discard(name)
            return replace(tags, removed=removed)
        case MessageRemoved(messages=names):
            removed = tags.removed
            for name in names:
                removed = removed.insert(name, None)
            return replace(tags, removed=removed)
        case DropRequested(tags=dropped):
            requested = tags.requested
            for number in dropped:
                requested = requested.insert(number, None)
            return replace(tags, requested=requested)
        case _:
            return tags


def _tagged(tags: Tags, event: TagAssigned) -> Tags:
    messages, parts, lost = tags.messages, tags.parts, tags.lost
    for number, (part, message) in enumerate(zip(event.parts, event.messages, strict=True), event.first):
        listed_in = tags.results.get(part, message)
        messages, parts, lost = messages.insert(number, listed_in), parts.insert(part, number), lost.discard(number)
    last = max(tags.last, event.first + len(event.parts) - 1)
    return replace(tags, messages=messages, parts=parts, lost=lost, last=last)


def drop(tags: Tags, text: str, protected: int) -> Decision:
    """Queue the tags that a text names, or refuse it as a whole."""
    try:
        named = parse_tags(text)
    except BadRange as error:
        return Decision(ok=False, text=f"Nothing was queued: {error}.")
    unknown = [number for number in named if number not in tags.messages]
    if unknown:
        return Decision(
            ok=False,
            text=f"Nothing was queued: there is no tag {ranges(unknown)} in this session. "
            "Use numbers that you can see as §N§; numbers of removed messages are not given again.",
        )
    gone = [number for number in named if not tags.is_listed(number)]
    if gone:
        return Decision(
            ok=False,
            text=f"Nothing was queued: {ranges(gone)} is not in the prompt any more, since it was removed or "
            "summarised. Leave it out.",
        )
    fresh = tuple(number for number in named if number not in tags.requested)
    if not fresh:
        return Decision(ok=True, text=f"Nothing to do: {ranges(named)} was queued or dropped before.")
    return Decision(ok=True, text=_queued(tags, fresh, len(named) - len(fresh), protected), events=(_request(fresh),))


def _request(numbers: Sequence[int]) -> Event:
    return DropRequested(tags=list(numbers))


def _queued(tags: Tags, fresh: Sequence[int], known: int, protected: int) -> str:
    """Which will go and which wait for newer content; never when."""
    guarded = newest(tags.last, protected, tags.is_listed)
    now = [number for number in fresh if number not in guarded]
    later = [number for number in fresh if number in guarded]
    sentences = []
    if now:
        sentences.append(f"Queued to be dropped: {ranges(now)}.")
    if later:
        sentences.append(protected_sentence(ranges(later), protected))
    if known:
        sentences.append(f"{known} more had been queued or dropped before.")
    return " ".join(sentences)


def has_old(tags: Tags, protected: int) -> bool:
    """Whether any tag in the prompt is older than the newest ones, which stay whoever asks."""
    return len(newest(tags.last, protected + 1, tags.is_listed)) > protected


def parse_tags(text: str) -> tuple[int, ...]:
    """The argument of `ctx_reduce`, such as `3-5,8`, as sorted numbers. Raises `BadRange`."""
    if not text.strip():
        raise BadRange('nothing is named: give tag numbers such as "3-5,8"')
    numbers: set[int] = set()
    for item in text.split(","):
        numbers |= _numbers(item)
        if len(numbers) > MAX_TAGS:
            raise BadRange(f"more than {MAX_TAGS} tags are named: ask for fewer at once")
    return tuple(sorted(numbers))


def _numbers(item: str) -> set[int]:
    first, last = ends_of(item, 'is no tag number and no range: write "3", or "3-5"')
    if last - first >= MAX_TAGS:
        raise BadRange(f"the range {item.strip()!r} names more than {MAX_TAGS} tags: ask for fewer at once")
    return set(range(first, last + 1))
