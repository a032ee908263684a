"""The parts that a copy of a session shares with its origin: the same messages and parts under other ids."""

from collections.abc import Mapping

import msgspec

from services.domain.conversation import Conversation, Message, Part


class Copies(msgspec.Struct, frozen=True):
    """Names in the origin -> names in the copy, of what is the same in both."""

    messages: Mapping[str, str] = {}
    parts: Mapping[str, str] = {}
    last: int = 0
    """The ordinal up to which the copy has nothing but such messages; 0: it begins otherwise."""


def copies(origin: Conversation, copy: Conversation, copied: int) -> Copies:
    """Compare place by place. `copied`: the last place in the copy where a copied message may stand.

    A message is the same where its role and all parts are; of one that was cut short while it was copied, those parts.
    """
    messages: dict[str, str] = {}
    parts: dict[str, str] = {}
    last, is_unbroken = 0, True
    for message in copy.after(0):
        if message.ordinal > copied:
            break
        original = origin.messages.get(origin.order.get(message.ordinal, ""))
        same = _same_parts(origin, original, copy, message) if original is not None else {}
        parts |= same
        if original is not None and len(same) == _count(origin, original) == _count(copy, message):
            messages[original.recorded.message] = message.recorded.message
            last = message.ordinal if is_unbroken else last
        else:
            is_unbroken = False
    return Copies(messages, parts, last)


def _same_parts(origin: Conversation, original: Message, copy: Conversation, message: Message) -> dict[str, str]:
    if original.recorded.role != message.recorded.role:
        return {}
    pairs = zip(origin.sent_parts(original), copy.sent_parts(message), strict=False)
    return {before: now for (before, one), (now, other) in pairs if _is_same(one, other)}


def _is_same(one: Part, other: Part) -> bool:
    """Whether they hold the same, under the same number."""
    return one.recorded.digest == other.recorded.digest and one.number == other.number


def _count(conversation: Conversation, message: Message) -> int:
    return sum(1 for _ in conversation.sent_parts(message))
