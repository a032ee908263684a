"""A room of a few lines: it writes each word of a message into two facts, and does what some words ask of it."""

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
from services.domain.draft import Draft
from services.domain.outcome import Done, Later, Outcome, Refused
from services.kit.aggregate import Aggregate
from services.kit.bus import Bus, Delivery, Unreachable
from services.kit.loop import CommandHandler, Loop
from services.kit.room import Kit
from services.settings import Settings
from tests.helpers.broker_world import HARBOUR, NOON, kit_of

Words = tuple[str, ...]
SILENCE: Words = ()
ROOM = "notary"


class Word(msgspec.Struct, frozen=True):
    """One message: its id, and what it says."""

    id: str
    text: str
    attempt: int
    at: datetime = NOON
    actor: Actor = Actor("harness")


class EchoRoom:
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
        handler = CommandHandler(
            address=lambda subject: parse_inbound(subject)[1], read=self._read, decide=_decide, finish=self._finish
        )
        self.sessions = Aggregate.of(kit, evolve, SILENCE, guard="session", catches_up=False, once=True)
        self.loop = Loop(kit, IN, handler, self.sessions)

    def gate(self, word: str) -> tuple[asyncio.Event, asyncio.Event]:
        """Hold this word back while it is read; the events that it is there, and that it may go on."""
        self.gates[word], self.entered[word] = asyncio.Event(), asyncio.Event()
        return self.entered[word], self.gates[word]

    async def _read(self, delivery: Delivery) -> Word:
        text = delivery.data.decode()
        attempt = delivery.metadata.num_delivered or 0
        self.attempts.append((text, attempt))
        if text in self.gates:
            self.entered[text].set()
            await self.gates[text].wait()
        if self.away.get(text):
            self.away[text] -= 1
            raise Unreachable("what it needs is away")
        if text == "garbage":
            raise Malformed("this is garbage; say a word")
        self.read.append(text)
        return Word((delivery.headers or {})["Nats-Msg-Id"], text, attempt)

    async def _finish(self, _: Address, word: Word) -> None:
        if word.text in self.after_writing:
            result = self.after_writing[word.text]()
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


def _decide(draft: Draft[Words], word: Word) -> Outcome:
    match word.text.split():
        case ["refuse", *_]:
            return Refused("this word is refused; say another")
        case ["later", *_] if word.attempt == 1:
            return Later(0.05)
        case ["break"]:
            raise RuntimeError("it broke")
        case ["break", times] if word.attempt <= int(times):
            raise RuntimeError("it broke")
        case _:
            events = (SessionRenamed(title=word.text), SessionClosed(reason=word.text))
            known = draft.state
            draft.record(
                *(event for event, sign in zip(events, (word.text, f"{word.text}."), strict=True) if sign not in known)
            )
            return Done()


async def publish(bus: Bus, *words: str, address: Address = HARBOUR) -> None:
    for word in words:
        await bus.publish(address.inbound("pi"), word.encode(), f"{address.session}/{word}")


@asynccontextmanager
async def at_work(bus: Bus, settings: Settings) -> AsyncIterator[EchoRoom]:
    async with kit_of(ROOM, bus, settings) as kit:
        room = EchoRoom(kit)
        await room.loop.open()
        yield room
