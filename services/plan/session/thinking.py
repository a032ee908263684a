"""Signed thinking: where the running turn begins, and from where on what was thought holds no more."""

from collections.abc import Callable

import msgspec

from schemas.events import MessageListed, PartRecorded, StepOpened
from services.domain.conversation import Conversation, Message, is_written

replace = msgspec.structs.replace


class Void(msgspec.Struct, frozen=True):
    """A stretch of the conversation whose signed thinking follows other bytes than it was signed behind."""

    first: int
    """Ordinal of the first message of the stretch; 0: what changed precedes all messages."""
    last: int
    """Ordinal of its last message: what was thought later was thought behind the new bytes."""


class Thinking(msgspec.Struct, frozen=True):
    """The places of signed thinking, which is valid only behind the bytes that it was signed behind."""

    turn: int = 0
    """Ordinal of the newest message that a person wrote."""
    signed: int = 0
    """Ordinal of the newest message with signed thinking that follows what it was signed behind."""
    latest: int = 0
    """Ordinal of the newest message that ever had signed thinking, valid or not; 0: there was none."""
    void: Void | None = None
    """The places of signed thinking that does not, because the harness changed what is before it."""


def with_part(thinking: Thinking, conversation: Conversation, event: PartRecorded) -> Thinking:
    """A part of a message was recorded."""
    message = conversation.messages[event.message]
    if not message.present:
        return thinking
    if event.signed:
        newest = max(thinking.signed, message.ordinal)
        thinking = replace(thinking, signed=newest, latest=max(thinking.latest, newest))
    if message.recorded.role == "user" and is_written(event):
        thinking = replace(thinking, turn=max(thinking.turn, message.ordinal))
    return thinking


def with_listed(thinking: Thinking, conversation: Conversation, event: MessageListed) -> Thinking:
    """Messages got their places."""
    turn, signed = thinking.turn, thinking.signed
    for name, ordinal in zip(event.messages, event.ordinals, strict=True):
        message = conversation.messages[name]
        parts = [conversation.parts[part].recorded for part in message.parts if part in conversation.parts]
        if message.recorded.role == "user" and any(is_written(part) for part in parts):
            turn = max(turn, ordinal)
        if any(part.signed for part in parts):
            signed = max(signed, ordinal)
    return replace(thinking, turn=turn, signed=signed, latest=max(thinking.latest, signed))


def bounded(thinking: Thinking, conversation: Conversation) -> Thinking:
    """With the turn and its newest signed thinking where they are now, if what they were found in is gone."""
    turn, signed = thinking.turn, thinking.signed
    if not turn or not is_turn(conversation, turn):
        turn = turn_of(conversation, turn or conversation.last_ordinal)
    if signed and newest_signed(conversation, signed, signed) != signed:
        signed = newest_signed(conversation, turn + 1, signed)
    if (turn, signed) == (thinking.turn, thinking.signed):
        return thinking
    return replace(thinking, turn=turn, signed=signed)


def changed_from(thinking: Thinking, conversation: Conversation, first: int | None, last: int) -> Thinking:
    """With what the harness changed before signed thinking, from the message `first` to `last`; none: it did not."""
    if first is None:
        return thinking
    signed = newest_signed(conversation, thinking.turn + 1, first - 1) if thinking.signed >= first else thinking.signed
    if not thinking.latest or first > thinking.latest:
        return replace(thinking, signed=signed)  # there is no thinking
    return replace(thinking, signed=signed, void=joined(thinking.void, first, last))


def joined(known: Void | None, first: int, last: int) -> Void:
    """The stretch with one more. Leaving out what is void in front makes void what is between, so they are one."""
    return Void(min(known.first, first), max(known.last, last)) if known else Void(first, last)


def first_change(before: StepOpened | None, step: StepOpened, *, system_changed: bool) -> int | None:
    """Ordinal of the first message that is not what it was at the step before; 0: tools or system prompt; or none."""
    if before is None:
        return None
    if system_changed or _offers_others(before, step):
        return 0
    return step.unchanged + 1 if step.unchanged < before.last else None


def _offers_others(before: StepOpened, step: StepOpened) -> bool:
    """Whether the call offers other tools than the one before it. A harness may not know its tools at first."""
    if not before.toolset or not step.toolset:
        return False
    return (before.toolset, sorted(before.denied)) != (step.toolset, sorted(step.denied))


def turn_of(conversation: Conversation, ordinal: int) -> int:
    """The newest message up to this one that a person wrote; without one, that a user sent at all; 0: none."""
    return _newest(conversation, ordinal, _is_prompt) or _newest(conversation, ordinal, _is_users)


def is_turn(conversation: Conversation, ordinal: int) -> bool:
    """Whether what a user sent is still there."""
    message = conversation.messages.get(conversation.order.get(ordinal, ""))
    return message is not None and _is_users(conversation, message)


def newest_signed(conversation: Conversation, first: int, ordinal: int) -> int:
    """The newest message with signed thinking between these two, both included; 0: none."""
    return _newest(conversation, ordinal, _is_signed, down_to=first)


def _newest(
    conversation: Conversation, ordinal: int, is_meant: Callable[[Conversation, Message], bool], *, down_to: int = 1
) -> int:
    for place in range(ordinal, max(0, down_to - 1), -1):
        message = conversation.messages.get(conversation.order.get(place, ""))
        if message is not None and is_meant(conversation, message):
            return place
    return 0


def _is_prompt(conversation: Conversation, message: Message) -> bool:
    return _is_users(conversation, message) and any(
        is_written(part.recorded) for _, part in conversation.sent_parts(message)
    )


def _is_users(conversation: Conversation, message: Message) -> bool:
    """Whether a user's message holds more than the results of tools."""
    if message.recorded.role != "user":
        return False
    parts = (part.recorded for _, part in conversation.sent_parts(message))
    return any(not part.ignored and part.kind != "tool_result" for part in parts)


def _is_signed(conversation: Conversation, message: Message) -> bool:
    return any(part.recorded.signed for _, part in conversation.sent_parts(message))
