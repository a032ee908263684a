"""What happens to the memory of a project that had another name before: it goes on under the name that it has now.

The facts of the former book are told again in the book of today, each decision with its own time, sender and cause, so
that whoever reads that book needs to know of no other. Then the former book is closed by a fact that names this one:
what still comes under the former name is decided here, and who asks for it is answered from here. All of it may be done
twice, and by two desks at once.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import islice

from schemas.envelope import Actor, Envelope
from schemas.events import Event, MemoryMoved, ProjectMerged
from schemas.subjects import Address
from services.desk.core.book.adopting import adopted
from services.desk.past import book_at
from services.domain.draft import Draft
from services.domain.memory.book import NOUNS, Book
from services.domain.memory.state import ADOPTED
from services.kit.aggregate import Aggregate
from services.kit.command_queue import Command
from services.kit.nouns import NounReader
from services.kit.room import Kit

AT_ONCE = 200
"""Decisions that are told again together."""
Told = tuple[Envelope, Sequence[Event]]
"""A decision of the former book: its first fact, and all of them."""


class Adoption:
    """Lets books take in those of their projects' former names."""

    def __init__(self, kit: Kit, books: Aggregate[Book]) -> None:
        self._kit = kit
        self._books = books

    async def all_known(self) -> None:
        """What was merged while nobody could take it in."""
        async for record in self._kit.reader.after(0, f"log.*.*._.{ProjectMerged.TYPE}"):
            if isinstance(record.event, ProjectMerged):
                await self.take_in(record.envelope, record.event)

    async def take_in(self, merged: Envelope, event: ProjectMerged) -> None:
        """Take in the book that a project had under a former name, as far as that was not done."""
        project, former = await self._newest_name(merged.project), Address(event.former)
        theirs = await self._books.newest(former)
        if project == former or theirs.is_home or theirs.moved_to not in ("", merged.project, project.project):
            self._kit.log.info("a memory stays under its name", project=project.project, former=former.project)
            return
        own = await book_at(self._kit.reader, project, merged.seq)
        seq = await self._told_again(project, former, own, 0)
        if not theirs.moved_to:
            await self._close(merged, former, project)
            await self._told_again(project, former, own, seq)

    async def _newest_name(self, project: str) -> Address:
        """The project under the name that it has now."""
        while moved_to := (await self._books.newest(Address(project))).moved_to:
            project = moved_to
        return Address(project)

    async def _close(self, merged: Envelope, former: Address, project: Address) -> None:
        """Nothing more is written to the former book."""

        async def decide(draft: Draft[Book]) -> None:
            if not draft.state.moved_to:
                draft.record(MemoryMoved(name=project.project))

        actor = Actor("room", self._kit.room)
        await self._books.handle(former, decide, cause=f"moved/{merged.id}", at=merged.at, actor=actor)

    async def _told_again(self, project: Address, former: Address, own: Book, begin: int) -> int:
        """Tell what the former book holds behind a position; the position up to which it was told."""
        last = begin
        async with aclosing(self._decisions(former, begin)) as found:
            told = [one async for one in found]
        rest = iter(told)
        while some := list(islice(rest, AT_ONCE)):
            commands = [_again(former, own, envelope, events) for envelope, events in some]
            for handled in await self._books.handle_all(project, commands):
                if isinstance(handled, Exception):
                    raise handled
            last = some[-1][0].seq
        return last

    async def _decisions(self, former: Address, begin: int) -> AsyncGenerator[Told, None]:
        """The decisions of a book, in their order."""
        first: Envelope | None = None
        events: list[Event] = []
        async for record in NounReader(self._kit.reader, NOUNS).after(begin, former.log_filter):
            envelope, event = record.envelope, record.event
            if event is None:
                continue
            if first is not None and (not envelope.cause or envelope.cause != first.cause):
                yield first, events
                first, events = None, []
            first = first or envelope
            events.append(event)
        if first is not None:
            yield first, events


def _again(former: Address, own: Book, first: Envelope, events: Sequence[Event]) -> Command[Book, None]:
    """A decision of the former book as one of this book: once, however often it is told."""

    async def decide(draft: Draft[Book]) -> None:
        draft.record(*(told for event in events if (told := adopted(event, own)) is not None))

    return Command(
        decide,
        cause=f"{ADOPTED}/{former.project}/{first.seq}",
        at=first.at,
        actor=first.actor,
        again=lambda _: None,
    )
