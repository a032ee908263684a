"""A session's messages and parts, folded from its events: authors, order, and tag numbers."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterator

import msgspec

from schemas.envelope import Envelope
from schemas.events import (
    Event,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    PartRecorded,
    PartRemoved,
    StepOpened,
    TagAssigned,
)
from services.domain.fold import Map
from services.domain.tokens import tokens

replace = msgspec.structs.replace

HEAD_CHARACTERS = 400
"""Characters of a text that stay in memory: enough for a preview."""


class Part(msgspec.Struct, frozen=True):
    """A part without its bodies."""

    recorded: PartRecorded
    seq: int = 0
    number: int = 0
    """Its tag; 0: none."""
    tag_seq: int = 0
    head: str = ""
    """The beginning of its text."""


class Message(msgspec.Struct, frozen=True):
    """A message as recorded, and its place."""

    recorded: MessageRecorded
    ordinal: int = 0
    """Its place in the conversation, now or when it last had one; 0: never listed."""
    present: bool = False
    """Whether it is part of the conversation now."""
    parts: tuple[str, ...] = ()
    """All known parts, by position."""
    known: tuple[Part, ...] = ()
    """The same parts as the conversation knows them: who reads all messages need not look up each part."""
    tokens: int = 0
    """Estimated cost of its parts."""

    @property
    def sent(self) -> tuple[str, ...]:
        """The parts that the harness sends, in order."""
        return tuple(self.recorded.listed) or self.parts


class Conversation(msgspec.Struct, frozen=True):
    """The messages by id, and the order of those that are part of it now."""

    messages: Map[str, Message] = Map()
    order: Map[int, str] = Map()
    """Ordinal -> message."""
    parts: Map[str, Part] = Map()
    numbered: Map[int, str] = Map()
    """Tag -> the part that carries it."""
    last_ordinal: int = 0
    """The highest that was ever given."""
    last_number: int = 0
    """The highest tag that was ever given."""
    unchanged: int = 0
    """The ordinal up to which everything is as it was at the last step."""
    tokens: int = 0
    """Estimated cost of what is part of it now."""

    @property
    def count(self) -> int:
        return len(self.order)

    def after(self, ordinal: int) -> Iterator[Message]:
        """The messages behind this ordinal, in order."""
        for place in range(ordinal + 1, self.last_ordinal + 1):
            name = self.order.get(place)
            if name is not None:
                yield self.messages[name]

    def place(self, part: str) -> int:
        """The ordinal of the message that this part is sent in now; 0: none."""
        known = self.parts.get(part)
        message = self.messages.get(known.recorded.message) if known else None
        return message.ordinal if message and message.present else 0

    def sent_parts(self, message: Message) -> Iterator[tuple[str, Part]]:
        """The parts of a message that the harness sends, in order."""
        for name in message.sent:
            part = self.parts.get(name)
            if part is not None:
                yield name, part


def precedes(conversation: Conversation, one: str, other: str) -> bool:
    """Whether a message precedes another. One that has no place yet is an answer that just came."""
    first, second = conversation.messages.get(one), conversation.messages.get(other)
    if first is None or not first.ordinal:
        return False
    return second is None or not second.ordinal or first.ordinal < second.ordinal


def output_tokens(part: PartRecorded) -> int:
    """Estimated tokens of what a tool returned: its text and its attachments. Its arguments do not count."""
    return tokens(part.bytes) + part.attachment_tokens


def is_written(part: PartRecorded) -> bool:
    """Whether a person wrote it, where its message is a person's."""
    return part.kind == "text" and not part.ignored and not part.synthetic and part.bytes > 0


def evolve(conversation: Conversation, event: Event, envelope: Envelope) -> Conversation:
    match event:
        case PartRecorded():
            return _part_recorded(conversation, event, envelope.seq)
        case MessageRecorded():
            return _message_recorded(conversation, event)
        case MessageListed():
            return _messages_listed(conversation, event)
        case TagAssigned():
            return _tags_assigned(conversation, event, envelope.seq)
        case StepOpened(last=last):
            return replace(conversation, unchanged=last)
        case MessageRemoved(messages=messages):
            return _messages_removed(conversation, messages)
        case PartRemoved():
            return _part_removed(conversation, event)
        case _:
            return conversation


def _message_recorded(conversation: Conversation, event: MessageRecorded) -> Conversation:
    before = conversation.messages.get(event.message)
    if before is None:
        return replace(conversation, messages=conversation.messages.insert(event.message, Message(event)))
    unchanged = conversation.unchanged
    if before.present and before.recorded.listed != event.listed:
        unchanged = min(unchanged, before.ordinal - 1)
    messages = conversation.messages.insert(event.message, replace(before, recorded=event))
    return replace(conversation, messages=messages, unchanged=unchanged)


def _messages_listed(conversation: Conversation, event: MessageListed) -> Conversation:
    messages, order, unchanged, cost = (
        conversation.messages,
        conversation.order,
        conversation.unchanged,
        conversation.tokens,
    )
    for name, ordinal in zip(event.messages, event.ordinals, strict=True):
        message = messages.get(name) or Message(MessageRecorded(message=name, role=""))
        if message.present:
            order = order.discard(message.ordinal)
            unchanged = min(unchanged, message.ordinal - 1)
        else:
            cost += message.tokens
        unchanged = min(unchanged, ordinal - 1)
        messages = messages.insert(name, replace(message, ordinal=ordinal, present=True))
        order = order.insert(ordinal, name)
    last = max(conversation.last_ordinal, *event.ordinals)
    return replace(conversation, messages=messages, order=order, unchanged=unchanged, last_ordinal=last, tokens=cost)


def _messages_removed(conversation: Conversation, gone: list[str]) -> Conversation:
    messages, order, unchanged, cost = (
        conversation.messages,
        conversation.order,
        conversation.unchanged,
        conversation.tokens,
    )
    for name in gone:
        message = messages.get(name)
        if message is None or not message.present:
            continue
        messages = messages.insert(name, replace(message, present=False))
        order = order.discard(message.ordinal)
        unchanged = min(unchanged, message.ordinal - 1)
        cost -= message.tokens
    return replace(conversation, messages=messages, order=order, unchanged=unchanged, tokens=cost)


def _part_recorded(conversation: Conversation, event: PartRecorded, seq: int) -> Conversation:
    before = conversation.parts.get(event.part)
    if before is not None and before.recorded.message != event.message:
        conversation = _part_removed(conversation, PartRemoved(message=before.recorded.message, part=event.part))
        return _part_recorded(conversation, event, seq)
    bare = replace(event, text="", input="", output="")
    part = Part(
        recorded=bare,
        seq=seq,
        number=before.number if before else 0,
        tag_seq=before.tag_seq if before else 0,
        head=event.text[:HEAD_CHARACTERS],
    )
    parts = conversation.parts.insert(event.part, part)
    message = conversation.messages.get(event.message) or Message(MessageRecorded(message=event.message, role=""))
    growth = event.tokens - (before.recorded.tokens if before else 0)
    names, known = _with_part(message, part)
    unchanged, cost = conversation.unchanged, conversation.tokens
    if message.present:
        cost += growth
        if not event.ignored:
            unchanged = min(unchanged, message.ordinal - 1)
    message = replace(message, parts=names, known=known, tokens=message.tokens + growth)
    messages = conversation.messages.insert(event.message, message)
    return replace(conversation, parts=parts, messages=messages, unchanged=unchanged, tokens=cost)


def _with_part(message: Message, part: Part) -> tuple[tuple[str, ...], tuple[Part, ...]]:
    """The message's parts with this one, by name and as they are known.

    A new one is inserted at its position; of equal positions, the one that was reported later comes last.
    """
    names, known, name, position = message.parts, message.known, part.recorded.part, part.recorded.position
    if name in names:
        return names, tuple([part if one.recorded.part == name else one for one in known])
    if not known or known[-1].recorded.position <= position:
        return (*names, name), (*known, part)
    at = sum(one.recorded.position <= position for one in known)
    return (*names[:at], name, *names[at:]), (*known[:at], part, *known[at:])


def _part_removed(conversation: Conversation, event: PartRemoved) -> Conversation:
    part = conversation.parts.get(event.part)
    if part is None:
        return conversation
    message = conversation.messages[part.recorded.message]
    unchanged, cost = conversation.unchanged, conversation.tokens
    if message.present:
        unchanged = min(unchanged, message.ordinal - 1)
        cost -= part.recorded.tokens
    message = replace(
        message,
        parts=tuple(name for name in message.parts if name != event.part),
        known=tuple(one for one in message.known if one.recorded.part != event.part),
        tokens=message.tokens - part.recorded.tokens,
    )
    return replace(
        conversation,
        messages=conversation.messages.insert(part.recorded.message, message),
        parts=conversation.parts.discard(event.part),
        unchanged=unchanged,
        tokens=cost,
    )


def _tags_assigned(conversation: Conversation, event: TagAssigned, seq: int) -> Conversation:
    parts, numbered, messages = conversation.parts, conversation.numbered, conversation.messages
    changed: dict[str, None] = {}
    for number, name in enumerate(event.parts, event.first):
        part = parts.get(name)
        if part is not None:
            parts = parts.insert(name, replace(part, number=number, tag_seq=seq))
            numbered = numbered.insert(number, name)
            changed[part.recorded.message] = None
    for name in changed:
        message = messages[name]
        messages = messages.insert(name, replace(message, known=tuple([parts[one] for one in message.parts])))
    last = max(conversation.last_number, event.first + len(event.parts) - 1)
    return replace(conversation, parts=parts, numbered=numbered, messages=messages, last_number=last)
