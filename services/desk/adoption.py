"""Moves the memory of a project that had another name before to the name that it has now.

The facts of the former book are copied into the book of today, each decision with its own time, sender and cause, so
that a reader of that book needs to know of no other. Then the former book is closed by a fact that names this one:
what still comes under the former name is decided here, and who asks for it is answered from here. All of it may be done
twice, and by two desks at once.

Where a person takes that back, what came from the former book alone is archived here, and that book is open again.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import islice
from typing import NamedTuple

from schemas.envelope import Actor, Envelope
from schemas.events import AliasAdded, AliasRemoved, Event, MemoryArchived, MemoryMoved, MemoryRestored, ProjectMerged
from schemas.subjects import Address
from services.desk.project_names import ProjectNames
from services.domain.aliases import GLOBAL
from services.domain.draft import Draft
from services.kit.aggregate import Aggregate
from services.kit.bus import LogReader
from services.kit.cache import folded
from services.kit.command_queue import QueuedCommand
from services.kit.nouns import NounReader
from services.kit.room import Kit
from services.memory.book import NOUNS, Book, evolve
from services.memory.decide.adopting import adopted_fact, given_back
from services.memory.state import ADOPTED

AT_ONCE = 200
"""Decisions that are copied together."""
GIVEN_BACK = "given_back"
"""The beginning of the causes of decisions that take a former book out of this one."""


class Former(NamedTuple):
    """A decision of a book: its first fact, all of them, and the position of the last one."""

    first: Envelope
    events: Sequence[Event]
    last: int


class Adoption:
    """Lets books take in those of their projects' former names, and give them back."""

    def __init__(self, kit: Kit, books: Aggregate[Book], names: ProjectNames) -> None:
        self._kit = kit
        self._books = books
        self._names = names

    async def all_known(self) -> None:
        """Do what follows from changes of names that happened while nobody could do it."""
        async for record in self._kit.reader.after(0, f"log.*.*._.{ProjectMerged.TYPE}"):
            if isinstance(record.event, ProjectMerged):
                await self._names.claim(record.envelope, record.event)
        async for record in self._kit.reader.after(0, GLOBAL.log("alias.*")):
            await self.follow(record.envelope, record.event)

    async def follow(self, envelope: Envelope, event: Event | None) -> None:
        """Have the memory go where a name leads by this fact, as far as it still leads there and that was not done."""
        aliases = await self._names.now()
        match event:
            case AliasAdded(alias=former, leads_to=project, how=how) if how != "given":
                alias = aliases.leads.get(former)
                if alias is not None and alias.leads_to == project:
                    await self._take_in(envelope, former, project, aliases.removed.get((former, project), 0))
            case AliasRemoved(alias=former) if former not in aliases.leads:
                await self._give_back(envelope, former)
            case _:
                pass

    async def _take_in(self, added: Envelope, name: str, leads_to: str, removed: int) -> None:
        """Take in the book that a project had under a former name. `removed`: how often that was taken back."""
        project, former = await self._newest_name(leads_to), Address(name)
        theirs = await self._books.newest(former)
        if project == former or theirs.is_home or theirs.moved_to not in ("", leads_to, project.project):
            self._kit.log.info("a memory stays under its name", project=project.project, former=former.project)
            return
        own = await book_at(self._kit.reader, project, added.seq)
        if removed:
            await self._restore(added, former, project, own)
        seq = await self._copy_decisions(project, former, own, 0, removed)
        if not theirs.moved_to:
            await self._close(added, former, project)
            await self._copy_decisions(project, former, own, seq, removed)

    async def _give_back(self, removed: Envelope, name: str) -> None:
        """Open the book of a former name again, and archive here what came from it and from nobody else."""
        former = Address(name)
        moved_to = (await self._books.newest(former)).moved_to
        if not moved_to:
            return
        holder, project = Address(moved_to), await self._newest_name(moved_to)
        decisions = [one async for one in self._decisions(holder, 0)]

        async def archive(draft: Draft[Book]) -> None:
            draft.record(*given_back(draft.state, [(one.first, one.events) for one in decisions], name))

        async def reopen(draft: Draft[Book]) -> None:
            if draft.state.moved_to:
                draft.record(_moved(""))

        actor = Actor("room", self._kit.room)
        for address, decide in ((project, archive), (former, reopen)):
            await self._books.handle(
                address, decide, cause=f"{GIVEN_BACK}/{removed.id}/{address.project}", at=removed.at, actor=actor,
                again=lambda _: None,
            )  # fmt: skip

    async def _restore(self, added: Envelope, former: Address, project: Address, own: Book) -> None:
        """Restore what was archived because the two were separated, since they are one again."""
        archived = [
            record.event.memory
            async for record in self._kit.reader.after(0, project.log(MemoryArchived.TYPE))
            if isinstance(record.event, MemoryArchived) and record.envelope.cause.startswith(f"{GIVEN_BACK}/")
        ]
        theirs = await self._books.newest(former)
        names = [
            name
            for name in dict.fromkeys(archived)
            if (here := own.memories.get(name)) and here.status == "archived"
            and (there := theirs.memories.get(name)) and there.is_active
        ]  # fmt: skip

        async def decide(draft: Draft[Book]) -> None:
            draft.record(*(MemoryRestored(memory=name, reason=f"{former.project} is this project") for name in names))

        if names:
            await self._books.handle(
                project, decide, cause=f"restored/{added.id}", at=added.at, actor=Actor("room", self._kit.room),
                again=lambda _: None,
            )  # fmt: skip

    async def _newest_name(self, project: str) -> Address:
        """The project under the name that it has now."""
        while moved_to := (await self._books.newest(Address(project))).moved_to:
            project = moved_to
        return Address(project)

    async def _close(self, added: Envelope, former: Address, project: Address) -> None:
        """Nothing more is written to the former book."""

        async def decide(draft: Draft[Book]) -> None:
            if not draft.state.moved_to:
                draft.record(_moved(project.project))

        actor = Actor("room", self._kit.room)
        await self._books.handle(former, decide, cause=f"moved/{added.id}", at=added.at, actor=actor)

    async def _copy_decisions(self, project: Address, former: Address, own: Book, begin: int, removed: int) -> int:
        """Copy what the former book has behind a position; returns the position up to which it was copied."""
        last = begin
        async with aclosing(self._decisions(former, begin)) as found:
            decisions = [one async for one in found]
        rest = iter(decisions)
        while some := list(islice(rest, AT_ONCE)):
            commands = [_again(former, own, one, removed) for one in some]
            for handled in await self._books.handle_all(project, commands):
                if isinstance(handled, Exception):
                    raise handled
            last = some[-1].last
        return last

    async def _decisions(self, former: Address, begin: int) -> AsyncGenerator[Former, None]:
        """The decisions of a book, in their order."""
        first: Envelope | None = None
        events: list[Event] = []
        last = begin
        async for record in NounReader(self._kit.reader, NOUNS).after(begin, former.log_filter):
            envelope, event = record.envelope, record.event
            if event is None:
                continue
            if first is not None and (not envelope.cause or envelope.cause != first.cause):
                yield Former(first, events, last)
                first, events = None, []
            first, last = first or envelope, envelope.seq
            events.append(event)
        if first is not None:
            yield Former(first, events, last)


def _again(former: Address, own: Book, one: Former, removed: int) -> QueuedCommand[Book, None]:
    """A decision of the former book as one of this book: once, however often it is copied."""

    async def decide(draft: Draft[Book]) -> None:
        draft.record(*(again for event in one.events if (again := adopted_fact(event, own)) is not None))

    return QueuedCommand(
        decide,
        cause=f"{ADOPTED}/{former.project}/{one.first.seq}" + (f"/{removed}" if removed else ""),
        at=one.first.at,
        actor=one.first.actor,
        again=lambda _: None,
    )


async def book_at(reader: LogReader, project: Address, position: int) -> Book:
    """The book, folded from its facts up to this position."""
    book = Book()
    async for record in NounReader(reader, NOUNS, until=position).after(0, project.log_filter):
        if record.event is not None:
            book = folded(evolve, book, record.event, record.envelope)
    return book


def _moved(name: str) -> MemoryMoved:
    """The fact that a book goes on under this name; empty: it is open again."""
    return MemoryMoved(name=name)
