"""What the tagger knows of a session, folded from its own facts."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

import msgspec

from schemas.envelope import Envelope
from schemas.events import (
    Event,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    ModelChanged,
    PartRecorded,
    PartRemoved,
    SessionClosed,
    SessionForked,
    SessionOpened,
    SessionRenamed,
    StepOpened,
    TagAssigned,
    UsageSampled,
)
from services.kit.fold import Map


class Message(msgspec.Struct, frozen=True):
    """A message as recorded, and its place."""

    recorded: MessageRecorded
    ordinal: int = 0
    """Its place in the conversation, now or when it last had one; 0: never listed."""
    present: bool = False
    """Whether it is part of the conversation now."""
    parts: tuple[str, ...] = ()
    """All known parts, by position."""

    @property
    def sent(self) -> tuple[str, ...]:
        """The parts that the harness sends, in order."""
        return tuple(self.recorded.listed) or self.parts


class Part(msgspec.Struct, frozen=True):
    """A part as far as its identity, its number and its sameness go."""

    message: str
    kind: str
    position: int
    digest: str
    call: str
    owner: str
    number: int = 0
    taggable: bool = False


class Session(msgspec.Struct, frozen=True):
    """One session's conversation and numbering."""

    opened: bool = False
    closed: bool = False
    title: str = ""
    messages: Map[str, Message] = Map()
    order: Map[int, str] = Map()
    """Ordinal -> message, for those that are part of the conversation."""
    parts: Map[str, Part] = Map()
    numbers: Map[str, int] = Map()
    """Identity -> number, for ever."""
    inherited: Map[str, tuple[int, ...]] = Map()
    """Content -> numbers taken over from the session that this one was copied from."""
    calls: Map[str, tuple[str, ...]] = Map()
    """Call id -> messages that made such a call and have no result yet, oldest first."""
    owners: Map[str, tuple[str, ...]] = Map()
    """Call id -> all messages that ever made such a call, oldest first."""
    waiting: Map[str, None] = Map()
    """Parts that may be numbered and are not yet."""
    usage: Map[str, UsageSampled] = Map()
    steps: Map[str, None] = Map()
    model: ModelChanged | None = None
    last_ordinal: int = 0
    last_number: int = 0
    last_step: str = ""
    unchanged: int = 0
    """The ordinal up to which the conversation is the same as at the last step."""

    @property
    def count(self) -> int:
        return len(self.order)


def evolve(session: Session, event: Event, _: Envelope) -> Session:  # noqa: C901, PLR0911 - one arm per fact
    match event:
        case SessionOpened(title=title):
            return replace(session, opened=True, title=title)
        case SessionRenamed(title=title):
            return replace(session, title=title)
        case SessionClosed():
            return replace(session, closed=True)
        case SessionForked():
            return _forked(session, event)
        case MessageRecorded():
            return _message_recorded(session, event)
        case MessageListed():
            return _messages_listed(session, event)
        case MessageRemoved(messages=messages):
            return _messages_removed(session, messages)
        case PartRecorded():
            return _part_recorded(session, event)
        case PartRemoved():
            return _part_removed(session, event)
        case TagAssigned():
            return _tags_assigned(session, event)
        case UsageSampled(message=message):
            return replace(session, usage=session.usage.insert(message, event))
        case ModelChanged():
            return replace(session, model=event)
        case StepOpened(step=step, last=last):
            return replace(session, steps=session.steps.insert(step, None), last_step=step, unchanged=last)
        case _:
            return session


replace = msgspec.structs.replace


def _forked(session: Session, event: SessionForked) -> Session:
    inherited = session.inherited
    for number, digest in zip(event.tags, event.digests, strict=True):
        inherited = inherited.insert(digest, (*inherited.get(digest, ()), number))
    return replace(session, inherited=inherited, last_number=max(session.last_number, event.last_tag))


def _message_recorded(session: Session, event: MessageRecorded) -> Session:
    before = session.messages.get(event.message)
    if before is None:
        return replace(session, messages=session.messages.insert(event.message, Message(event)))
    unchanged = session.unchanged
    if before.present and before.recorded.listed != event.listed:
        unchanged = min(unchanged, before.ordinal - 1)
    messages = session.messages.insert(event.message, replace(before, recorded=event))
    return replace(session, messages=messages, unchanged=unchanged)


def _messages_listed(session: Session, event: MessageListed) -> Session:
    messages, order, unchanged = session.messages, session.order, session.unchanged
    for name, ordinal in zip(event.messages, event.ordinals, strict=True):
        message = messages.get(name) or Message(MessageRecorded(message=name, role=""))
        if message.present:
            order = order.discard(message.ordinal)
            unchanged = min(unchanged, message.ordinal - 1)
        unchanged = min(unchanged, ordinal - 1)
        messages = messages.insert(name, replace(message, ordinal=ordinal, present=True))
        order = order.insert(ordinal, name)
    last = max(session.last_ordinal, *event.ordinals)
    return replace(session, messages=messages, order=order, unchanged=unchanged, last_ordinal=last)


def _messages_removed(session: Session, gone: list[str]) -> Session:
    messages, order, unchanged = session.messages, session.order, session.unchanged
    for name in gone:
        message = messages.get(name)
        if message is None or not message.present:
            continue
        messages = messages.insert(name, replace(message, present=False))
        order = order.discard(message.ordinal)
        unchanged = min(unchanged, message.ordinal - 1)
    return replace(session, messages=messages, order=order, unchanged=unchanged)


def _part_recorded(session: Session, event: PartRecorded) -> Session:
    before = session.parts.get(event.part)
    part = Part(
        message=event.message,
        kind=event.kind,
        position=event.position,
        digest=event.digest,
        call=event.call,
        owner=event.owner,
        number=before.number if before else 0,
        taggable=_taggable(event),
    )
    session = replace(session, parts=session.parts.insert(event.part, part))
    if part.taggable and not part.number:
        session = replace(session, waiting=session.waiting.insert(event.part, None))
    if before is None:
        session = _with_part(session, event)
    return session


def _taggable(event: PartRecorded) -> bool:
    if event.ignored:
        return False
    match event.kind:
        case "text":
            return event.bytes > 0
        case "file":
            return True
        case "tool" | "tool_result":
            return event.status == "completed"
        case _:
            return False


def _with_part(session: Session, event: PartRecorded) -> Session:
    """Enter a new part at its message and, if it is a call or a result, in the books of calls."""
    session = replace(session, messages=_listed_at_message(session, event))
    if event.kind in ("tool", "tool_call"):
        known = session.owners.get(event.call, ())
        session = replace(session, owners=session.owners.insert(event.call, (*known, event.owner)))
    open_calls = session.calls.get(event.call, ())
    if event.kind == "tool_call":
        session = replace(session, calls=session.calls.insert(event.call, (*open_calls, event.owner)))
    if event.kind == "tool_result" and event.owner in open_calls:
        left = list(open_calls)
        left.remove(event.owner)
        session = replace(session, calls=session.calls.insert(event.call, tuple(left)))
    return session


def _listed_at_message(session: Session, event: PartRecorded) -> Map[str, Message]:
    message = session.messages.get(event.message)
    if message is None:
        unseen = MessageRecorded(message=event.message, role="")
        return session.messages.insert(event.message, Message(unseen, parts=(event.part,)))
    parts = sorted((*message.parts, event.part), key=lambda name: _position(session, name, event))
    return session.messages.insert(event.message, replace(message, parts=tuple(parts)))


def _position(session: Session, part: str, new: PartRecorded) -> int:
    return new.position if part == new.part else session.parts[part].position


def _part_removed(session: Session, event: PartRemoved) -> Session:
    message = session.messages.get(event.message)
    messages, unchanged = session.messages, session.unchanged
    if message is not None:
        parts = tuple(part for part in message.parts if part != event.part)
        messages = messages.insert(event.message, replace(message, parts=parts))
        if message.present:
            unchanged = min(unchanged, message.ordinal - 1)
    return replace(
        session,
        messages=messages,
        parts=session.parts.discard(event.part),
        waiting=session.waiting.discard(event.part),
        unchanged=unchanged,
    )


def _tags_assigned(session: Session, event: TagAssigned) -> Session:
    parts, numbers, waiting, inherited = session.parts, session.numbers, session.waiting, session.inherited
    for number, name in enumerate(event.parts, event.first):
        part = parts.get(name)
        if part is None:
            continue
        parts = parts.insert(name, replace(part, number=number))
        waiting = waiting.discard(name)
        numbers = numbers.insert(identity(name, part), number)
        left = inherited.get(part.digest, ())
        if number in left:
            inherited = inherited.insert(part.digest, tuple(other for other in left if other != number))
    last = max(session.last_number, event.first + len(event.parts) - 1)
    return replace(session, parts=parts, numbers=numbers, waiting=waiting, inherited=inherited, last_number=last)


def identity(name: str, part: Part) -> str:
    """What makes a part the same one again: a tool use its call and who made it, anything else its id."""
    if part.kind in ("tool", "tool_result"):
        return f"call:{part.call}\0{part.owner}"
    return f"part:{name}"
