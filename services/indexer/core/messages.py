"""A session's messages as search reads them: what people and agents wrote, in order, and the names in calls of tools.

A message has its place by its ordinal; one that has none yet comes after all that have, in the order of arrival. What a
harness only leaves out of its list is still indexed. What was copied from another session is found there.
"""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterator, Sequence

import msgspec

from schemas.envelope import Envelope
from schemas.events import (
    Event,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    PartRecorded,
    PartRemoved,
    SessionForked,
    SessionOpened,
)
from services.domain.compartments import GONE
from services.domain.fold import Map
from services.domain.search.output_names import names_of_call, together
from services.domain.search.rows import MOST_CHARACTERS, TASK, WIDE_TEXT_WORDS, length
from services.domain.senders import is_of_subagent, name_of
from services.domain.texts.clean import cleaned

replace = msgspec.structs.replace

ROLES = frozenset({"user", "assistant"})
UNPLACED = 1 << 40
"""Places of messages without an ordinal begin here."""


class IndexedPiece(msgspec.Struct, frozen=True):
    """A part that somebody wrote, or the names in a call of a tool and in its output."""

    part: str
    position: int
    text: str
    digest: str
    names: tuple[str, ...] = ()


class IndexedMessage(msgspec.Struct, frozen=True):
    """A message, with what of it can be found."""

    message: str
    role: str = ""
    synthetic: bool = False
    actor: str = ""
    at: float = 0.0
    seq: int = 0
    place: int = 0
    """Its place: its ordinal, or behind all of these."""
    pieces: tuple[IndexedPiece, ...] = ()
    listed: tuple[str, ...] = ()
    text: str = ""
    """All of its pieces that are sent."""
    words: int = 0
    is_copied: bool = False
    names: tuple[str, ...] = ()
    """Those in calls of its tools and their outputs, as far as they are sent, and not in its text."""

    @property
    def ordinal(self) -> int:
        return self.place if self.place < UNPLACED else 0

    @property
    def counts(self) -> bool:
        """Whether it can be found."""
        return bool(self.text) and self.is_speech and not self.is_copied

    @property
    def is_speech(self) -> bool:
        """Whether a person or an agent has written its text."""
        return self.role in ROLES and not self.synthetic

    @property
    def size(self) -> int:
        """About how many bytes it takes in memory."""
        return 2 * len(self.text) + sum(len(name) for piece in self.pieces for name in piece.names)


class Messages(msgspec.Struct, frozen=True):
    """The messages of a session by id, and their order."""

    by_id: Map[str, IndexedMessage] = Map()
    order: Map[int, str] = Map()
    last: int = 0
    """The highest ordinal."""
    first_unplaced: int = UNPLACED
    next_unplaced: int = UNPLACED
    copied: Map[str, None] = Map()
    """The digests of contents that were copied."""
    copied_places: tuple[int, ...] = ()
    """The ordinals at which those copies may be: the first and the last one of each run."""
    owners: Map[str, str] = Map()
    """Part -> its message."""
    is_subagent: bool = False
    """Whether another agent has started the session, and wrote its messages of the role `user`."""

    def role_of(self, message: IndexedMessage) -> str:
        """The role of a message, as it is found by: what a sub-agent is asked is a task, and no person's word."""
        return TASK if self.is_subagent and message.role == "user" else message.role

    def behind(self, place: int) -> Iterator[IndexedMessage]:
        """The messages after this place, in order."""
        for at in range(place + 1, self.last + 1):
            if (name := self.order.get(at)) is not None:
                yield self.by_id[name]
        for at in range(max(place + 1, self.first_unplaced), self.next_unplaced):
            if (name := self.order.get(at)) is not None:
                yield self.by_id[name]

    def before(self, place: int) -> Iterator[IndexedMessage]:
        """The messages before this place, the newest first."""
        for at in range(min(place, self.next_unplaced) - 1, self.first_unplaced - 1, -1):
            if (name := self.order.get(at)) is not None:
                yield self.by_id[name]
        for at in range(min(place - 1, self.last), 0, -1):
            if (name := self.order.get(at)) is not None:
                yield self.by_id[name]

    def around(self, name: str) -> Iterator[str]:
        """A message, and those that are indexed with it as a neighbour."""
        yield name
        indexed = self.by_id.get(name)
        if indexed is None:
            return
        for side in (self.before(indexed.place), self.behind(indexed.place)):
            words = 0
            for other in side:
                if other.counts and other.words < WIDE_TEXT_WORDS:
                    yield other.message
                words += other.words if other.counts else 0
                if words >= WIDE_TEXT_WORDS:
                    break


def touched(event: Event, messages: Messages) -> Sequence[str]:
    """The messages that a fact is about, and those whose places it gives to others."""
    match event:
        case PartRecorded(message=name) | PartRemoved(message=name) | MessageRecorded(message=name):
            return (name,)
        case MessageListed(messages=names, ordinals=ordinals):
            return [*names, *(known for place in ordinals if (known := messages.order.get(place)) is not None)]
        case MessageRemoved(messages=names):
            return names
        case SessionOpened() if _is_of_subagent(event) != messages.is_subagent:
            return tuple(messages.by_id)
        case _:
            return ()


def _is_of_subagent(event: SessionOpened) -> bool:
    return is_of_subagent(event.parent, event.mode)


def evolve(messages: Messages, event: Event, envelope: Envelope) -> Messages:
    match event:
        case SessionOpened():
            return replace(messages, is_subagent=_is_of_subagent(event))
        case MessageRecorded():
            return _recorded(messages, event, envelope)
        case MessageListed():
            return _listed(messages, event)
        case MessageRemoved(messages=names, reason=reason) if reason in GONE:
            for name in names:
                messages = _without(messages, name)
            return messages
        case PartRecorded():
            return _part_recorded(messages, event, envelope)
        case PartRemoved(message=name, part=part):
            return _part_removed(messages, name, part)
        case SessionForked(digests=digests, places=places):
            copied = messages.copied
            for digest in digests:
                copied = copied.insert(digest, None)
            return replace(messages, copied=copied, copied_places=messages.copied_places or tuple(places))
        case _:
            return messages


def _of(messages: Messages, name: str) -> tuple[Messages, IndexedMessage]:
    """The message; a new one comes behind all others."""
    indexed = messages.by_id.get(name)
    if indexed is not None:
        return messages, indexed
    place = messages.next_unplaced
    indexed = IndexedMessage(name, place=place)
    order = messages.order.insert(place, name)
    return replace(messages, order=order, next_unplaced=place + 1), indexed


def _stored(messages: Messages, indexed: IndexedMessage) -> Messages:
    """With this message as it is now."""
    sent = [piece for piece in indexed.pieces if not indexed.listed or piece.part in indexed.listed]
    written = [piece for piece in sent if piece.text]
    copied: Map[str, None] = messages.copied if _may_be_copied(messages, indexed) else Map()
    text = "\n".join(piece.text for piece in written)[:MOST_CHARACTERS]
    is_copied = bool(written) and all(piece.digest in copied for piece in written)
    outputs = [piece.names for piece in sent if piece.names and piece.digest not in copied]
    indexed = replace(indexed, text=text, words=length(text), is_copied=is_copied)
    indexed = replace(indexed, names=together(outputs, text if indexed.counts else "") if outputs else ())
    return replace(messages, by_id=messages.by_id.insert(indexed.message, indexed))


def _may_be_copied(messages: Messages, indexed: IndexedMessage) -> bool:
    """Whether it may be a copy from the origin, as far as its place is known."""
    runs = zip(messages.copied_places[::2], messages.copied_places[1::2], strict=False)
    return bool(messages.copied) and (
        not indexed.ordinal or any(first <= indexed.ordinal <= last for first, last in runs)
    )


def _recorded(messages: Messages, event: MessageRecorded, envelope: Envelope) -> Messages:
    messages, indexed = _of(messages, event.message)
    return _stored(
        messages,
        replace(
            indexed,
            role=event.role,
            synthetic=event.synthetic,
            actor=name_of(envelope.actor),
            at=(event.sent or envelope.at).timestamp(),
            seq=max(indexed.seq, envelope.seq),
            listed=tuple(event.listed),
        ),
    )


def _part_recorded(messages: Messages, event: PartRecorded, envelope: Envelope) -> Messages:
    owner = messages.owners.get(event.part)
    if owner is not None and owner != event.message:
        messages = _part_removed(messages, owner, event.part)
    is_written = event.kind == "text" and not event.ignored and not event.synthetic
    text = cleaned(event.text[: 2 * MOST_CHARACTERS])[:MOST_CHARACTERS] if is_written else ""
    names = names_of_call(event.input, event.output)
    if not (text or names):
        return _part_removed(messages, event.message, event.part)
    messages, indexed = _of(messages, event.message)
    others = (piece for piece in indexed.pieces if piece.part != event.part)
    piece = IndexedPiece(event.part, event.position, text, event.digest, names)
    pieces = tuple(sorted((*others, piece), key=lambda one: one.position))
    at = indexed.at or envelope.at.timestamp()
    indexed = replace(indexed, pieces=pieces, seq=max(indexed.seq, envelope.seq), at=at)
    messages = replace(messages, owners=messages.owners.insert(event.part, event.message))
    return _stored(messages, indexed)


def _part_removed(messages: Messages, name: str, part: str) -> Messages:
    indexed = messages.by_id.get(name)
    if indexed is None or all(piece.part != part for piece in indexed.pieces):
        return messages
    messages = replace(messages, owners=messages.owners.discard(part))
    return _stored(messages, replace(indexed, pieces=tuple(piece for piece in indexed.pieces if piece.part != part)))


def _listed(messages: Messages, event: MessageListed) -> Messages:
    for name, ordinal in zip(event.messages, event.ordinals, strict=True):
        messages, indexed = _of(_displaced(messages, name, ordinal), name)
        order = messages.order
        if order.get(indexed.place) == name:
            order = order.discard(indexed.place)
        first = messages.first_unplaced
        while first < messages.next_unplaced and order.get(first) is None:
            first += 1
        messages = replace(
            messages,
            order=order.insert(ordinal, name),
            last=max(messages.last, ordinal),
            first_unplaced=first,
        )
        messages = _stored(messages, replace(indexed, place=ordinal))
    return messages


def _displaced(messages: Messages, name: str, ordinal: int) -> Messages:
    """Whoever has this place and is not the one who gets it moves behind all others, as if it had none yet."""
    other = messages.order.get(ordinal)
    if other is None or other == name:
        return messages
    place = messages.next_unplaced
    order = messages.order.discard(ordinal).insert(place, other)
    messages = replace(messages, order=order, next_unplaced=place + 1)
    return _stored(messages, replace(messages.by_id[other], place=place))


def _without(messages: Messages, name: str) -> Messages:
    indexed = messages.by_id.get(name)
    if indexed is None:
        return messages
    order = messages.order.discard(indexed.place) if messages.order.get(indexed.place) == name else messages.order
    owners = messages.owners
    for piece in indexed.pieces:
        owners = owners.discard(piece.part)
    return replace(messages, by_id=messages.by_id.discard(name), order=order, owners=owners)
