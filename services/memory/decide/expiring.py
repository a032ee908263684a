"""Records what time has done to a book, so that no fold needs a clock, and every replay gives the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from schemas.commands import MemoryExpire
from schemas.events import Event, MemoryExpired, MemoryPaused
from services.domain.command import AddressKind, command
from services.domain.decision import Decision
from services.domain.texts.listings import is_listing
from services.memory.book import LISTING, Book
from services.memory.decide.context import BookContext, Refusal

Span = tuple[datetime, datetime]


@command(
    MemoryExpire,
    on=Book,
    sent_by=("person", "desk"),
    writes=(MemoryExpired, MemoryPaused),
    address=AddressKind.PROJECT,
)
def expire(book: Book, command: MemoryExpire, context: BookContext) -> Decision:
    """The memories whose time was over at a moment, and the spans in which the project rested until then."""
    if context.now is not None and command.at > context.now:
        raise Refusal(f"{command.at.isoformat()} is still to come; give a moment that has passed")
    due = sorted(
        (memory.expires_at, memory.id)
        for memory in book.memories.values()
        if memory.is_active and memory.expires_at is not None and memory.expires_at <= command.at
    )
    names = [name for _, name in due]
    lists = [] if book.are_listings_expired else _listings(book)
    paused = [MemoryPaused(since=since, until=until) for since, until in _new_pauses(book, context.dormant)]
    expired = [MemoryExpired(memories=names, at=command.at)] if names else []
    if lists:
        expired.append(MemoryExpired(memories=lists, at=command.at, reason=LISTING))
    events: tuple[Event, ...] = (*paused, *expired)
    if not events:
        return Decision(ok=True, text="Nothing to do: nothing has expired.")
    count = len(names) + len(lists)
    return Decision(ok=True, text=f"Written down until {command.at.isoformat()}: {count} expired.", events=events)


def _listings(book: Book) -> list[str]:
    """The lists of names that an earlier release has read off sessions, but for those that a person has marked."""
    return sorted(
        memory.id
        for memory in book.memories.values()
        if memory.trust == "historian"
        and memory.status in ("active", "pending")
        and not memory.is_pinned
        and memory.verification != "verified"
        and is_listing(memory.text)
    )


def _new_pauses(book: Book, dormant: Iterable[Span]) -> Iterator[Span]:
    """Those spans that the book does not know, and that a memory of it has lived through."""
    if not len(book.memories):
        return
    first = min(memory.created for memory in book.memories.values())
    known = {pause.until for pause in book.pauses}
    for since, until in dormant:
        if until > first and until not in known:
            yield since, until


def dormant_spans(works: Iterable[datetime], grace: timedelta, last: datetime | None = None) -> list[Span]:
    """The spans without work between these moments that were longer than the grace, which is not in them.

    `last` is the newest moment before them. Work that is reported late, as of an imported session, begins no span.
    """
    found: list[Span] = []
    for at in works:
        if last is not None and at - last > grace:
            found.append((last + grace, at))
        last = at if last is None else max(last, at)
    return found
