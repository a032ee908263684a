"""A session in an installation, as a harness reports it and asks about it, and as the historian is at work on it."""

from collections.abc import Iterator, Sequence
from itertools import count, cycle

from msgspec.structs import replace

from schemas.commands import Command, HistoryOrder
from schemas.envelope import Actor
from schemas.inbox import MessageSeen, StepSeen
from schemas.subjects import Address
from services.edges.client.adapter import Adapter
from services.edges.client.outbox import Outbox
from services.edges.client.transcript import Transcript
from services.historian.core.state import HistorianSession, evolve
from services.kit.bus import Bus, LogReader
from services.kit.cache import Sessions
from tests.bench.compressing import START
from tests.helpers.installation import settle, until

PATIENCE = 120.0
LIMIT = 10_000_000
"""Tokens that the session's model takes: nothing is ever short of room."""


class Worked:
    """A session in an installation of its own, that is reported and asked about as a harness does."""

    def __init__(self, bus: Bus, transcript: Transcript, start: int) -> None:
        self.address = Address("bench", transcript.session)
        self._bus = bus
        self._outbox = Outbox(bus)
        self._adapter = Adapter(bus, self._outbox, transcript.harness, self.address, deadline_ms=0)
        self._transcript = transcript
        self._messages = list(transcript.messages[:start])
        self._more = again(transcript.messages[start:])
        self._known = Sessions(LogReader(bus), evolve, HistorianSession(), 1)
        self._numbers = count(1)

    async def open(self) -> None:
        """Report it, and have it compressed for the first time."""
        await self._adapter.publish("session", START, self._transcript.seen)
        await self._ask()
        await self.compress(HistoryOrder())
        await self.ended()

    async def step(self) -> float:
        """Seconds from telling a step to its plan in hand."""
        self._messages.append(next(self._more))
        await self._adapter.saw(self._messages[-1])
        await self._outbox.flushed()
        await settle(self._bus)
        return await self._ask()

    async def _ask(self) -> float:
        step = StepSeen(f"s{next(self._numbers)}", provider="bench", model="bench", context_limit=LIMIT)
        served = await self._adapter.step(step, self._messages, START)
        if served.plan.status != "ready":
            raise RuntimeError(f"no plan for {step.step}: {served.plan.status} {served.plan.reason}")
        return served.seconds

    async def compress(self, order: Command) -> None:
        """Order it, and wait until the historian is at work."""
        before = (await self._now()).jobs.begun
        answer = await self._adapter.send(f"order/{next(self._numbers)}", order, START, Actor("person"))
        if not answer.ok:
            raise RuntimeError(answer.text)

        async def is_begun() -> bool:
            return (await self._now()).jobs.begun > before

        await until(is_begun, f"the historian begins with {self.address.session}", PATIENCE)

    async def ended(self) -> None:
        """Wait until the historian is done with it."""

        async def is_done() -> bool:
            return not await self.is_compressed()

        await until(is_done, f"{self.address.session} is compressed", PATIENCE)
        if failures := (await self._now()).jobs.failures:
            raise RuntimeError(f"{failures} runs for {self.address.session} failed")

    async def is_compressed(self) -> bool:
        """Whether the historian is at work on it now."""
        return (await self._now()).request is not None

    async def close(self) -> None:
        await self._outbox.close()

    async def _now(self) -> HistorianSession:
        entry = await self._known.get(self.address)
        await self._known.catch_up(entry)
        return entry.state


def again(messages: Sequence[MessageSeen], prefix: str = "again") -> Iterator[MessageSeen]:
    """These messages for ever, each time as new ones."""
    for number, message in enumerate(cycle(messages)):
        name = f"{prefix}.{number}"
        parts = [
            replace(part, message=name, part=f"{name}.{place}", call=f"{name}.{place}" if part.call else "")
            for place, part in enumerate(message.parts)
        ]
        yield replace(message, message=name, at=START, parts=tuple(parts))
