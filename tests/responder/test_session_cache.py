"""States of projections that fold some nouns of a project: loaded, and fed, as if there were no other facts."""

from collections.abc import AsyncGenerator

import pytest
from msgspec.structs import replace

from schemas.codec import wrap
from schemas.envelope import Actor
from schemas.events import DocumentCaptured, Event, MemoryWritten, NoteWritten, SessionRenamed
from schemas.subjects import Address
from services.domain.record import Record
from services.kit.bus import Appender, Bus, LogReader
from services.responder.projections.folds import BOOK
from services.responder.session_cache import SessionCache
from tests.helpers.broker_world import NOON, wrapped

pytestmark = pytest.mark.broker

PROJECT = Address("harbour")
MANY = 600
"""More than a reader of the log takes at once."""


def memory(name: str) -> MemoryWritten:
    return MemoryWritten(memory=name, category="NAMING", text=f"It is called {name}.")


class Log:
    """Appends a project's facts."""

    def __init__(self, bus: Bus) -> None:
        self._appender = Appender(bus)
        self._expected: dict[str, int] = {}

    async def append(self, *events: Event) -> int:
        guard = {PROJECT.log(event.TYPE): self._expected.get(PROJECT.log(event.TYPE), 0) for event in events}
        seqs = await self._appender.append(wrapped(events, guard, PROJECT), guard)
        self._expected |= {PROJECT.log(event.TYPE): seq for event, seq in zip(events, seqs, strict=True)}
        return seqs[-1]


async def test_only_the_nouns_that_are_folded_are_read_and_in_order(bus: Bus) -> None:
    log, asked = Log(bus), list[str]()

    class Asked(LogReader):
        async def after(self, seq: int, subject_filter: str) -> AsyncGenerator[Record, None]:
            asked.append(subject_filter)
            async for recorded in super().after(seq, subject_filter):
                yield recorded

    for start in range(0, MANY, 100):
        await log.append(*(memory(f"m{n}") for n in range(start, start + 100)))
        await log.append(NoteWritten(note=f"n{start}", text="later"), DocumentCaptured(path="A.md", digest="d"))
    found = await SessionCache(Asked(bus), 4).state(BOOK, PROJECT)
    assert (MANY, 6) == (len(found.book.memories), len(found.book.notes))
    assert [change.memory for change in found.since(0)] == [f"m{n}" for n in range(MANY)]
    assert [PROJECT.log(f"{noun}.*") for noun in ("memory", "note", "policy", "project")] == asked


async def test_what_comes_while_one_noun_after_another_is_read_is_not_missed(bus: Bus) -> None:
    """A memory comes when memories were read, and a note behind it before notes are."""
    log = Log(bus)
    await log.append(memory("a"))

    class Late(LogReader):
        cache: SessionCache
        is_late = True

        async def after(self, seq: int, subject_filter: str) -> AsyncGenerator[Record, None]:
            if ".note." in subject_filter and self.is_late:
                self.is_late = False
                for event in (memory("b"), NoteWritten(note="n", text="later")):
                    self.append(await log.append(event), event)
                self.append(await log.append(DocumentCaptured(path="A.md", digest="d")), DocumentCaptured("A.md", "d"))
            async for recorded in super().after(seq, subject_filter):
                yield recorded

        def append(self, seq: int, event: Event) -> None:
            envelope = wrap(event, PROJECT, id=f"e{seq}", at=NOON, actor=Actor("room"))
            self.cache.feed(replace(envelope, seq=seq), event)

    reader = Late(bus)
    reader.cache = SessionCache(reader, 4)
    found = await reader.cache.state(BOOK, PROJECT)
    assert ({"a", "b"}, {"n"}) == ({*found.book.memories}, {*found.book.notes})


async def test_a_cached_state_takes_in_the_facts_of_its_nouns(bus: Bus) -> None:
    log, cache = Log(bus), SessionCache(LogReader(bus), 4)
    entry = await cache.entry(BOOK, PROJECT)
    for event in (memory("a"), SessionRenamed(title="t"), NoteWritten(note="n", text="later")):
        seq = await log.append(event)
        envelope = wrap(event, PROJECT, id=f"e{seq}", at=NOON, actor=Actor("room"))
        cache.feed(replace(envelope, seq=seq), event)
    assert (3, 3) == (entry.seq, entry.state.book.seq)
