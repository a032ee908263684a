"""A room of a few lines: it writes each word it is told into two facts, and does what some words ask of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

import msgspec

from schemas.codec import Malformed
from schemas.envelope import Actor, Envelope
from schemas.events import Event, SessionClosed, SessionRenamed
from schemas.streams import IN
from schemas.subjects import Address, parse_inbound
from services.kit.bus import Bus, Delivery, Unreachable
from services.kit.cache import Sessions
from services.kit.loop import Judgement, Loop
from services.kit.outcome import Done, Later, Outcome, Refused
from services.kit.room import Kit
from services.kit.settings import Settings
from tests.broker.world import HARBOUR, NOON, kit_of

Words = tuple[str, ...]
SILENCE: Words = ()
ROOM = "notary"


class Word(msgspec.Struct, frozen=True):
    """One message: its id, and what it says."""

    id: str
    says: str
    attempt: int
    at: datetime = NOON
    actor: Actor = Actor("harness")


class Notary:
    """Words that ask for more: `later`, `refuse`, `break`, `break N` (at its first N attempts), `garbage`."""

    def __init__(self, kit: Kit) -> None:
        self.read: list[str] = []
        self.attempts: list[tuple[str, int]] = []
        self.before_reading: Callable[[str], object] = lambda _: None
        self.gates: dict[str, asyncio.Event] = {}
        self.entered: dict[str, asyncio.Event] = {}
        self.away: dict[str, int] = {}
        """How often what a word needs is not to be had."""
        self.after_writing: dict[str, Callable[[], object]] = {}
        self.judgement = Judgement(
            address=lambda subject: parse_inbound(subject)[1],
            prepare=self._prepare,
            decide=_decide,
            evolve=evolve,
            appended=self._appended,
        )
        self.sessions = Sessions(kit.reader, evolve, SILENCE, 64)
        self.loop = Loop(kit, IN, self.judgement, self.sessions)

    def gate(self, word: str) -> tuple[asyncio.Event, asyncio.Event]:
        """Hold this word back while it is read; the events that it is there, and that it may go on."""
        self.gates[word], self.entered[word] = asyncio.Event(), asyncio.Event()
        return self.entered[word], self.gates[word]

    async def _prepare(self, delivery: Delivery) -> Word:
        says = delivery.data.decode()
        attempt = delivery.metadata.num_delivered or 0
        self.attempts.append((says, attempt))
        if says in self.gates:
            self.entered[says].set()
            await self.gates[says].wait()
        if self.away.get(says):
            self.away[says] -= 1
            raise Unreachable("what it needs is away")
        if says == "garbage":
            raise Malformed("this is garbage; say a word")
        self.read.append(says)
        return Word((delivery.headers or {})["Nats-Msg-Id"], says, attempt)

    async def _appended(self, _: Address, word: Word) -> None:
        if word.says in self.after_writing:
            result = self.after_writing[word.says]()
            if asyncio.iscoroutine(result):
                await result


def evolve(words: Words, event: Event, _: Envelope) -> Words:
    match event:
        case SessionRenamed(title=word):
            return (*words, word)
        case SessionClosed(reason=word):
            return (*words, f"{word}.")
        case _:
            return words


def _decide(words: Words, word: Word) -> Outcome:
    match word.says.split():
        case ["refuse", *_]:
            return Refused("this word is refused; say another")
        case ["later", *_] if word.attempt == 1:
            return Later(0.05)
        case ["break"]:
            raise RuntimeError("it broke")
        case ["break", times] if word.attempt <= int(times):
            raise RuntimeError("it broke")
        case _:
            events = (SessionRenamed(title=word.says), SessionClosed(reason=word.says))
            return Done(
                [event for event, known in zip(events, (word.says, f"{word.says}."), strict=True) if known not in words]
            )


async def say(bus: Bus, *words: str, address: Address = HARBOUR) -> None:
    for word in words:
        await bus.publish(address.inbound("pi"), word.encode(), f"{address.session}/{word}")


@asynccontextmanager
async def at_work(bus: Bus, settings: Settings) -> AsyncIterator[Notary]:
    async with kit_of(ROOM, bus, settings) as kit:
        notary = Notary(kit)
        await notary.loop.open()
        yield notary
