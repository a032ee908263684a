"""A session as the index sees it: its messages and compartments, and the rows of those that a fact has changed."""

from collections.abc import Iterable, Iterator

import msgspec

from schemas.envelope import Envelope
from schemas.events import CompartmentSealed, Event, MessageRecorded, MessageRemoved, SessionClosed
from schemas.subjects import Address
from services.domain import compartments
from services.domain.compartments import CompartmentHistory
from services.domain.conversation import Conversation, Message
from services.domain.fold import Map
from services.domain.search.rows import WIDE_TEXT_WORDS, SearchRow, completed, head, needs_wide_text, row_id, tail
from services.indexer.core import messages as message_fold
from services.indexer.core.changes import Changes, key
from services.indexer.core.messages import IndexedMessage, Messages

replace = msgspec.structs.replace

NOUNS = ("session", "message", "part", "compartment", "history")
"""Of the facts that are folded."""
DELETED = "deleted"
"""The reason for which a session ended that is to be forgotten. One that was put away can still be found."""

Touched = tuple[str, str]
"""A thing that may have other rows now: its kind, `compartment` or `message`, and its id."""


class SessionRows(msgspec.Struct, frozen=True):
    """The rows of a session."""

    seq: int = 0
    """The newest fact that is in it."""
    messages: Messages = Messages()
    history: CompartmentHistory = CompartmentHistory()
    size: int = 0
    """About how many bytes it holds."""


def evolve(session: SessionRows, event: Event, envelope: Envelope) -> SessionRows:
    """The session after this fact."""
    if isinstance(event, SessionClosed) and event.reason == DELETED:
        return SessionRows(envelope.seq)
    places = _places(session.messages, event) if isinstance(event, MessageRemoved) else Conversation()
    messages = message_fold.evolve(session.messages, event, envelope)
    history = compartments.evolve(session.history, event, envelope.seq, places)
    size = session.size + sum(
        _length(messages, name) - _length(session.messages, name)
        for name in set(message_fold.touched(event, session.messages))
    )
    return SessionRows(envelope.seq, messages, history, size)


def _length(messages: Messages, name: str) -> int:
    known = messages.by_id.get(name)
    return known.size if known else 0


def _places(messages: Messages, event: MessageRemoved) -> Conversation:
    """The places of these messages, as the fold of compartments takes them."""
    known = {
        name: Message(MessageRecorded(message=name, role=""), ordinal=messages.by_id[name].ordinal)
        for name in event.messages
        if name in messages.by_id
    }
    return Conversation(messages=Map(known))


def touched(before: SessionRows, after: SessionRows, event: Event) -> frozenset[Touched]:
    """Messages and compartments whose rows may change by this fact."""
    compartments_touched = frozenset(("compartment", name) for name in _moved(before, after))
    if isinstance(event, SessionClosed):
        return compartments_touched | {("message", name) for name in before.messages.by_id}
    names = message_fold.touched(event, before.messages)
    return compartments_touched | {
        ("message", other)
        for messages in (before.messages, after.messages)
        for name in names
        for other in messages.around(name)
    }


def all_of(session: SessionRows) -> frozenset[Touched]:
    """All that may have a row."""
    return frozenset(("message", name) for name in session.messages.by_id) | {
        ("compartment", name) for name in _found(session)
    }


def changes(address: Address, before: SessionRows, after: SessionRows, names: Iterable[Touched]) -> Changes:
    """The rows to write: those that these facts have touched, or that they are gone.

    What has come and gone between the two is gone, too: an index that was killed behind a write has its row, and its
    position does not know of it.
    """
    rows: list[SearchRow] = []
    gone: list[tuple[str, str]] = []
    sealed = _found(after)
    for kind, name in sorted(names):
        if kind == "message":
            _sort_message(address, before.messages, after.messages, name, rows, gone)
        elif name in sealed:
            rows.append(compartment_row(address, sealed[name], after.history.positions.get(name, after.seq)))
        else:
            gone.append((kind, key(address.project, row_id("compartment", name, address.session))))
    return Changes(tuple(rows), tuple(gone))


def _sort_message(
    address: Address, before: Messages, after: Messages, name: str, rows: list[SearchRow], gone: list[tuple[str, str]]
) -> None:
    found = after.by_id.get(name)
    if found is not None and found.counts and after.order.get(found.place) == name:
        rows.append(message_row(address, after, found))
    else:
        gone.append(("message", key(address.project, row_id("message", name, address.session))))
    if found is None or found is not before.by_id.get(name):
        _sort_output(address, after, name, rows, gone)


def _sort_output(
    address: Address, messages: Messages, name: str, rows: list[SearchRow], gone: list[tuple[str, str]]
) -> None:
    """The row of a message's calls and outputs. It holds nothing of its neighbours, and does not change with them."""
    found = messages.by_id.get(name)
    if found is not None and found.names and messages.order.get(found.place) == name:
        rows.append(output_row(address, found))
    else:
        gone.append(("output", key(address.project, row_id("output", name, address.session))))


def output_row(address: Address, found: IndexedMessage) -> SearchRow:
    """The names that only the calls of a message's tools and their outputs show."""
    return completed(
        SearchRow(
            id=row_id("output", found.message, address.session),
            project=address.project,
            kind="output",
            ref=found.message,
            text="\n".join(found.names),
            session=address.session,
            message=found.message,
            ordinal=found.ordinal,
            last_ordinal=found.ordinal,
            actor=found.actor,
            at=found.at,
            seq=found.seq,
        )
    )


def message_row(address: Address, messages: Messages, found: IndexedMessage) -> SearchRow:
    is_short = needs_wide_text(found.text)
    return completed(
        SearchRow(
            id=row_id("message", found.message, address.session),
            project=address.project,
            kind="message",
            ref=found.message,
            text=found.text,
            session=address.session,
            message=found.message,
            ordinal=found.ordinal,
            last_ordinal=found.ordinal,
            actor=found.actor,
            role=messages.role_of(found),
            at=found.at,
            seq=found.seq,
            before=tail(_gathered(messages.before(found.place), is_backward=True)) if is_short else "",
            after=head(_gathered(messages.behind(found.place), is_backward=False)) if is_short else "",
        )
    )


def _gathered(messages: Iterator[IndexedMessage], *, is_backward: bool) -> str:
    """The neighbouring text on one side of a message, as far as it is read."""
    texts: list[str] = []
    words = 0
    for other in messages:
        if other.counts:
            texts.append(other.text)
            words += other.words
        if words >= WIDE_TEXT_WORDS:
            break
    return "\n".join(reversed(texts) if is_backward else texts)


def _found(session: SessionRows) -> dict[str, CompartmentSealed]:
    """The compartments that can be found: those in force that quote nothing which is gone, and are no copies."""
    history = session.history
    return {
        one.compartment: one
        for one in history.sealed
        if not one.copied and one.compartment not in history.outdated and (one.p1 or one.title)
    }


def _moved(before: SessionRows, after: SessionRows) -> frozenset[str]:
    """The compartments that can be found before or after, and not both, or that are others now."""
    if before.history is after.history:
        return frozenset()
    old, new = _found(before), _found(after)
    return frozenset(name for name in old.keys() | new.keys() if old.get(name) is not new.get(name))


def compartment_row(address: Address, one: CompartmentSealed, seq: int) -> SearchRow:
    ended = one.ended or one.began
    names = " ".join(dict.fromkeys((*one.anchors, *one.names)))
    return completed(
        SearchRow(
            id=row_id("compartment", one.compartment, address.session),
            project=address.project,
            kind="compartment",
            ref=one.compartment,
            title=one.title,
            text="\n".join(filter(None, (one.title, one.p1, names))),
            session=address.session,
            message=one.first_message,
            ordinal=one.first,
            last_ordinal=one.last,
            actor=one.source,
            at=ended.timestamp() if ended else 0.0,
            seq=seq,
        )
    )
