"""The historian's wiring: it watches how sessions grow, and compresses what is old in the background."""

from collections import deque
from datetime import UTC, datetime
from typing import ClassVar

import msgspec

from schemas.codec import decode_envelope, decode_event
from schemas.commands import MemoryPropose
from schemas.envelope import Actor, Envelope
from schemas.events import (
    CompartmentRescored,
    CompartmentSealed,
    DropRequested,
    Event,
    FactExtracted,
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryAttempted,
    HistoryFailed,
    HistoryOrdered,
    HistoryReplaced,
    HistoryRequested,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    ObservationRecorded,
    OverflowDetected,
    PartRecorded,
    PartRemoved,
    SessionIdled,
    SessionOpened,
    StepOpened,
    TagAssigned,
    TodoCaptured,
    ToolRan,
    UsageSampled,
)
from schemas.streams import LOG
from schemas.subjects import Address, parse_log
from services.historian.asked import Asked
from services.historian.limits import Limits
from services.historian.pen import append
from services.historian.runner import Runner
from services.historian.state import Session, evolve
from services.historian.triggers import wanted
from services.historian.writers import Reading, Rules, Writer
from services.kit.bus import Delivery, Unreachable
from services.kit.cache import Sessions
from services.kit.intake import Intake
from services.kit.limits import Limits as PlanLimits
from services.kit.model import Models, Purse
from services.kit.outcome import Done
from services.kit.room import Kit
from services.kit.spending import Spending
from services.kit.wishes import wish

RUNS = "historian_runs"
"""The consumer of open runs, beside the one that watches."""
WATCHED: tuple[type[Event], ...] = (UsageSampled, SessionIdled, HistoryOrdered, FactExtracted)
ATTEMPTS = 8


class Historian:
    """Compresses what is old in a session, before room is short, and never in its way."""

    NAME: ClassVar[str] = "historian"
    READS: ClassVar[tuple[type[Event], ...]] = (
        SessionOpened,
        SessionIdled,
        MessageRecorded,
        MessageListed,
        MessageRemoved,
        PartRecorded,
        PartRemoved,
        ToolRan,
        TodoCaptured,
        TagAssigned,
        UsageSampled,
        OverflowDetected,
        StepOpened,
        DropRequested,
        HistoryOrdered,
    )
    WRITES: ClassVar[tuple[type[Event], ...]] = (
        HistoryRequested,
        HistoryAttempted,
        HistoryAdvanced,
        HistoryFailed,
        HistoryReplaced,
        HistoryAbandoned,
        CompartmentSealed,
        CompartmentRescored,
        FactExtracted,
        ObservationRecorded,
    )

    async def open(self, kit: Kit) -> None:
        self._kit = kit
        settings = kit.settings
        self._plan = msgspec.convert(settings.plan.model_dump(), PlanLimits)
        self._limits = msgspec.convert(settings.history.model_dump(), Limits)
        self._sessions = Sessions(kit.reader, evolve, Session(), settings.loop.sessions)
        self._runner = Runner(kit, self._sessions, _writer(kit))
        self._watch = Intake(
            kit,
            LOG,
            durable=kit.room,
            address=_address,
            work=self._watched,
            credit=settings.loop.max_in_hand,
            filters=[_anywhere(event) for event in WATCHED],
        )
        self._runs = Intake(
            kit,
            LOG,
            durable=RUNS,
            address=_address,
            work=self._run,
            credit=settings.history.at_once,
            filters=[_anywhere(HistoryRequested)],
        )
        await self._watch.open()
        await self._runs.open()

    async def idle(self) -> bool:
        return await self._watch.idle() and await self._runs.idle()

    def health(self) -> dict[str, object]:
        return {"ok": True, "runs": self._runs.in_hand, "sessions": len(self._sessions)}

    async def run(self, address: Address, name: str) -> None:
        """Go on with a run to its end, whoever else does so."""
        await self._runner.run(address, name)

    async def _watched(self, address: Address, queue: "deque[Delivery]") -> None:
        """Look at a session once for all that happened to it meanwhile."""
        deliveries = [queue.popleft() for _ in range(len(queue))]
        try:
            envelopes = [decode_envelope(delivery.data) for delivery in deliveries]
            await self._look(address, [envelope.type for envelope in envelopes])
            for envelope in envelopes:
                await self._propose(envelope)
        except Exception as error:  # noqa: BLE001 - it concerns this session only
            for delivery in deliveries:
                await self._watch.broken(delivery, error)
            return
        for delivery in deliveries:
            await self._watch.settle(delivery, Done())

    async def _propose(self, envelope: Envelope) -> None:
        """Propose what a session showed of its project for the project's memory."""
        event = decode_event(envelope)
        if not isinstance(event, FactExtracted):
            return
        command = MemoryPropose(event.category, event.text, envelope.session, tuple(event.evidence))
        actor = Actor("room", self._kit.room)
        answer = await wish(self._kit.bus, Address(envelope.project), command, name=envelope.id, actor=actor)
        if not answer.ok:
            self._kit.log.warning("not proposed", session=envelope.session, reason=answer.text)

    async def _look(self, address: Address, types: list[str]) -> None:
        entry = await self._sessions.get(address)
        for _ in range(ATTEMPTS):
            async with entry.deciding:
                await self._sessions.catch_up(entry)
                is_idle = types[-1] == SessionIdled.TYPE
                request = wanted(entry.state, self._plan, self._limits, now=datetime.now(UTC), idle=is_idle)
                if request is None or await append(self._kit, entry, [request], request.run):
                    return

    async def _run(self, address: Address, queue: "deque[Delivery]") -> None:
        delivery = queue.popleft()
        event = decode_event(decode_envelope(delivery.data))
        try:
            if isinstance(event, HistoryRequested):
                await self._guarded(address, event.run, delivery)
        except Exception as error:  # noqa: BLE001 - the broker was away: the run goes on when it is delivered again
            await self._runs.broken(delivery, error)
        else:
            await self._runs.settle(delivery, Done())

    async def _guarded(self, address: Address, run: str, delivery: Delivery) -> None:
        """A run that cannot be finished ends with its reason: a session is never left with one that hangs."""
        if (delivery.metadata.num_delivered or 1) > self._kit.settings.loop.max_deliver:
            await self._runner.fail(address, run, "aborted", "it was begun too often without coming to an end")
            return
        try:
            await self.run(address, run)
        except Unreachable:
            raise
        except Exception as error:
            self._kit.log.exception("a run failed", session=address.session, run=run)
            await self._runner.fail(address, run, "aborted", f"{type(error).__name__}: {error}")


def _writer(kit: Kit) -> Writer:
    """The models of the settings, or the rules where there is none."""
    models = Models(kit.settings.model)
    if not models.names:
        return Rules()
    kit.stack.push_async_callback(models.close)

    def purse(reading: Reading) -> Purse:
        address = reading.address
        return Spending(kit.bus, address.project, kit.room).purse(kit.room, address.session)

    return Asked(models, purse, Rules())


def _address(subject: str) -> Address:
    return parse_log(subject)[0]


def _anywhere(event: type[Event]) -> str:
    return f"log.*.*.*.{event.TYPE}"
