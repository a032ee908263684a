"""Eligibility for compression: all but the newest messages, measured in tokens. A pure function of the conversation."""

from collections.abc import Sequence

import msgspec

from services.domain.conversation import Conversation, Message, Part, is_written

SNAP = 256
"""Eligible tokens up to which a job is not worth it."""
RELAX = 1.4
"""The factor by which a tail may exceed its measure, to begin with a person's message, or with a long message."""
LEAST = 0.6
"""The share of its measure that a tail has at least, where the next message does not make it much too long."""
CALL_TOKENS = 15
"""The tokens of a line about a tool call in a transcript."""


class MessageCost(msgspec.Struct, frozen=True):
    """A message with what it costs."""

    ordinal: int
    message: Message
    tokens: int
    transcript_tokens: int
    """Its estimated tokens in a transcript: its text, and a line for each call."""
    is_turn: bool
    """Whether a person wrote it."""
    owners: frozenset[str]
    """The messages whose calls it answers: a call and its answer are never parted."""


def measured(conversation: Conversation, behind: int) -> tuple[MessageCost, ...]:
    """The messages behind this ordinal, in order."""
    return tuple(_measured(conversation, message) for message in conversation.after(behind))


def _measured(conversation: Conversation, message: Message) -> MessageCost:
    parts = [part for _, part in conversation.sent_parts(message)]
    return MessageCost(
        ordinal=message.ordinal,
        message=message,
        tokens=message.tokens,
        transcript_tokens=sum(_transcript_tokens(part) for part in parts),
        is_turn=message.recorded.role == "user" and any(is_written(part.recorded) for part in parts),
        owners=frozenset(part.recorded.owner for part in parts if part.recorded.kind == "tool_result"),
    )


def _transcript_tokens(part: Part) -> int:
    recorded = part.recorded
    if recorded.kind == "text":
        return 0 if recorded.ignored else recorded.tokens
    return CALL_TOKENS if recorded.kind in ("tool", "tool_call") else 0


def eligible(messages: Sequence[MessageCost], tail: int) -> tuple[MessageCost, ...]:
    """Those in front of the newest `tail` tokens.

    The tail begins with a person's message if one is near, and never between a call and its answer. A call that
    was never answered holds nothing up.
    """
    start = _whole(messages, _relaxed(messages, _start(messages, tail), tail))
    front = tuple(messages[:start])
    return front if sum(one.tokens for one in front) > SNAP else ()


def _start(messages: Sequence[MessageCost], tail: int) -> int:
    """The place of the first message that fits into the tail with all behind it; the newest always belongs to it.

    Where one message is so long that little would be left without it, the tail is somewhat longer.
    """
    size = 0
    for place in range(len(messages) - 1, -1, -1):
        before, size = size, size + messages[place].tokens
        is_newest = place == len(messages) - 1
        if size > tail and not is_newest and (before >= LEAST * tail or size > RELAX * tail):
            return place + 1
    return 0


def _relaxed(messages: Sequence[MessageCost], start: int, tail: int) -> int:
    size = sum(one.tokens for one in messages[start:])
    for place in range(start, 0, -1):
        if place < len(messages) and messages[place].is_turn:
            return place
        size += messages[place - 1].tokens
        if size > RELAX * tail:
            break
    return start


def _whole(messages: Sequence[MessageCost], start: int) -> int:
    """The place at or before this one at which no answer of the tail belongs to a call in front of it."""
    places = {one.message.recorded.message: place for place, one in enumerate(messages)}
    reached = len(messages)
    while start < reached:
        owners = {owner for one in messages[start:reached] for owner in one.owners}
        reached = start
        start = min((places[owner] for owner in owners if owner in places), default=start)
        start = min(start, reached)
    return start
