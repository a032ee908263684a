"""Many writers at once who want things remembered, and what the log must say of them in the end."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from schemas.codec import decode_envelope, encode
from schemas.commands import Answer, Command, CommandMessage, MemoryWrite
from schemas.events import MemoryJudged
from schemas.streams import LOG
from schemas.subjects import Address
from services.kit.bus import Bus, LogReader, Unreachable
from services.kit.cache import Entry, Sessions
from services.kit.nouns import NounReader
from services.kit.retry import retrying
from services.memory.book import NOUNS, Book, evolve
from tests.helpers.broker_world import HARBOUR, NOON, PERSON, facts, stored
from tests.helpers.waiting import PATIENCE

PROJECT = Address(HARBOUR.project)
WRITERS = 100


def repeated(count: int) -> list[str]:
    """So many wishes, of which 32 in 100 say what another one says."""
    words = words_of(count)
    return [f"Always read page {number % words} first." for number in range(count)]


def words_of(count: int) -> int:
    """How many different ones `repeated` has."""
    return count * 68 // 100


async def written(
    bus: Bus, texts: Sequence[str], *, wait: float = 20.0, watch: Callable[[int], None] = lambda _: None
) -> list[Answer]:
    """The answers to these commands, of many writers at once; every third command is sent twice.

    Whoever gets no answer within `wait` seconds sends the same command again. `watch` learns how many are answered.
    """
    turns, done = asyncio.Semaphore(WRITERS), 0

    async def write_memory(number: int, text: str) -> Answer:
        nonlocal done
        async with turns:
            command = MemoryWrite(text=text, category="PROJECT_RULES", session=f"s{number % 7}")
            answers = [await answered(bus, command, f"w{number}", wait) for _ in range(1 + (number % 3 == 0))]
            assert 1 == len({(answer.ok, answer.seq) for answer in answers})
            done += 1
            watch(done)
            return answers[0]

    return list(await asyncio.gather(*(write_memory(number, text) for number, text in enumerate(texts))))


async def answered(bus: Bus, command: Command, name: str, wait: float) -> Answer:
    """The answer to a command, which is sent again where there is none within `wait` seconds."""
    data = encode(CommandMessage(name, NOON, PERSON, msgspec.Raw(encode(command))))
    async for attempt in retrying(Unreachable, seconds=PATIENCE):
        with attempt:
            return msgspec.json.decode(
                await bus.request(PROJECT.command(command.TYPE, "person"), data, wait), type=Answer
            )
    raise AssertionError("patience ends with the last error")


async def check_ledger(bus: Bus, answers: Sequence[Answer], words: int) -> Book:
    """What was acknowledged is in the log, once; the book as a fold from the first fact gives it."""
    log = [decode_envelope(one.data) for one in await stored(bus, LOG.name)]
    kinds = Counter(envelope.type for envelope in log)
    seen = len(answers) - words
    assert {"memory.judged": len(answers), "memory.written": words, "memory.reinforced": seen} == kinds
    last = {seq: one.cause for seq, one in enumerate(log, 1) if one.last}
    assert {f"w{number}" for number in range(len(answers))} == set(last.values())
    assert {answer.seq: f"w{number}" for number, answer in enumerate(answers)} == last
    found = await folded(bus)
    assert (words, len(answers), []) == (len(found.memories), len(found.candidates), list(found.unfinished))
    assert len(answers) == sum(memory.seen for memory in found.memories.values())
    assert {"accepted": words, "absorbed": seen} == Counter(one.verdict for one in found.candidates.values())
    return found


async def folded(bus: Bus, address: Address = PROJECT) -> Book:
    """The book as a fold from the first fact gives it."""
    return (await Sessions(LogReader(bus), evolve, Book(), 1).get(address)).state


class Grown:
    """The book as it grows where somebody keeps it in memory, as the desk does."""

    def __init__(self, bus: Bus) -> None:
        self._sessions = Sessions(NounReader(LogReader(bus), NOUNS, catches_up=True), evolve, Book(), 1)
        self._entry: Entry[Book] | None = None

    async def book(self) -> Book:
        """The book at the head of the log, with what has come since it was looked at last."""
        if self._entry is None:
            self._entry = await self._sessions.get(PROJECT)
        await self._sessions.catch_up(self._entry)
        return self._entry.state

    async def follow(self) -> None:
        """Look at it again and again, until that is cancelled."""
        while True:
            await self.book()
            await asyncio.sleep(0)


def digest(book: Book) -> str:
    """A fingerprint of all that is in a book."""
    fields = {name: getattr(book, name) for name in book.__struct_fields__}
    maps = {name: dict(value.items()) if hasattr(value, "items") else value for name, value in fields.items()}
    return hashlib.sha256(msgspec.json.encode(maps, order="deterministic")).hexdigest()


async def judged(bus: Bus) -> list[MemoryJudged]:
    return [one for one in await facts(bus, PROJECT) if isinstance(one, MemoryJudged)]
