"""What may be compressed: all but the newest messages, measured in tokens. A pure function of what was said."""

from collections.abc import Sequence

import msgspec

from services.kit.conversation import Conversation, Message, Part, is_written

SNAP = 256
"""Eligible tokens up to which a run is not worth it."""
RELAX = 1.25
"""How much longer than its measure a tail may be, to begin with what a person said."""
CALL_TOKENS = 15
"""What a line about a tool call costs in a transcript."""


class Measured(msgspec.Struct, frozen=True):
    """A message with what it costs."""

    ordinal: int
    message: Message
    tokens: int
    spoken: int
    """Estimated tokens of it in a transcript: what was said, and a line for each call."""
    is_turn: bool
    """Whether a person wrote it."""
    owners: frozenset[str]
    """The messages whose calls it answers: a call and its answer are never parted."""


def measured(talk: Conversation, behind: int) -> tuple[Measured, ...]:
    """The messages behind this ordinal, in order."""
    return tuple(_measured(talk, message) for message in talk.after(behind))


def _measured(talk: Conversation, message: Message) -> Measured:
    parts = [part for _, part in talk.sent_parts(message)]
    return Measured(
        ordinal=message.ordinal,
        message=message,
        tokens=message.tokens,
        spoken=sum(_spoken(part) for part in parts),
        is_turn=message.recorded.role == "user" and any(is_written(part.recorded) for part in parts),
        owners=frozenset(part.recorded.owner for part in parts if part.recorded.kind == "tool_result"),
    )


def _spoken(part: Part) -> int:
    recorded = part.recorded
    if recorded.kind == "text":
        return 0 if recorded.ignored else recorded.tokens
    return CALL_TOKENS if recorded.kind in ("tool", "tool_call") else 0


def eligible(messages: Sequence[Measured], tail: int) -> tuple[Measured, ...]:
    """Those in front of the newest `tail` tokens.

    The tail begins with what a person said if that is near, and never between a call and its answer. A call that
    was never answered holds nothing up.
    """
    start = _relaxed(messages, _start(messages, tail), tail)
    while start and _parts_a_call(messages, start):
        start -= 1
    front = tuple(messages[:start])
    return front if sum(one.tokens for one in front) > SNAP else ()


def _start(messages: Sequence[Measured], tail: int) -> int:
    """The place of the first message that fits into the tail with all behind it; the newest always belongs to it."""
    size = 0
    for place in range(len(messages) - 1, -1, -1):
        size += messages[place].tokens
        if size > tail and place < len(messages) - 1:
            return place + 1
    return 0


def _relaxed(messages: Sequence[Measured], start: int, tail: int) -> int:
    size = sum(one.tokens for one in messages[start:])
    for place in range(start, 0, -1):
        if place < len(messages) and messages[place].is_turn:
            return place
        size += messages[place - 1].tokens
        if size > RELAX * tail:
            break
    return start


def _parts_a_call(messages: Sequence[Measured], start: int) -> bool:
    """Whether an answer at the beginning of the tail belongs to a call in front of it."""
    before = {one.message.recorded.message for one in messages[:start]}
    return start < len(messages) and bool(messages[start].owners & before)
