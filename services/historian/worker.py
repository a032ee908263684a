"""The historian's wiring: it watches how sessions grow, and compresses what is old in the background."""

from collections import deque
from collections.abc import Callable
from typing import ClassVar

import msgspec

from schemas.codec import decode_envelope, decode_event
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
    LimitLearned,
    LimitWithdrawn,
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
from schemas.subjects import Address
from services.historian.asked import Asked
from services.historian.limits import Limits
from services.historian.rescorer import Rescorer
from services.historian.runner import Runner
from services.historian.runs import Runs
from services.historian.state import RESCORE, Session, evolve
from services.historian.watcher import Watcher, address_of, anywhere
from services.historian.writers import Rules, Writer
from services.kit.bus import Delivery, Unreachable
from services.kit.cache import Sessions
from services.kit.intake import Intake
from services.kit.limits import Limits as PlanLimits
from services.kit.model import Models, Purse
from services.kit.outcome import Done
from services.kit.room import Kit
from services.kit.spending import Spending

RUNS = "historian_runs"
"""The consumer of open runs, beside the one that watches."""


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
        LimitLearned,
        LimitWithdrawn,
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
        plan = msgspec.convert(settings.plan.model_dump(), PlanLimits)
        limits = msgspec.convert(settings.history.model_dump(), Limits)
        models = Models(settings.model)
        kit.stack.push_async_callback(models.close)
        self._sessions = Sessions(kit.reader, evolve, Session(), settings.loop.sessions)
        self._runs = Runs(kit, self._sessions)
        self._runner = Runner(kit, self._runs, _writer(models, self._purse))
        self._watcher = Watcher(kit, self._sessions, plan, limits)
        self._rescorer = Rescorer(kit, self._runs, models, self._purse, self._watcher.learned, plan, limits)
        self._intake = Intake(
            kit,
            LOG,
            durable=RUNS,
            address=address_of,
            work=self._run,
            credit=settings.history.at_once,
            filters=[anywhere(HistoryRequested)],
        )
        await self._watcher.open()
        await self._intake.open()

    async def idle(self) -> bool:
        return await self._watcher.idle() and await self._intake.idle()

    def health(self) -> dict[str, object]:
        return {"ok": True, "runs": self._intake.in_hand, "sessions": len(self._sessions)}

    async def run(self, address: Address, name: str) -> None:
        """Go on with a run to its end, whoever else does so."""
        opened = await self._runs.opened(address, name)
        if opened is not None:
            maker = self._rescorer if opened[1].reason == RESCORE else self._runner
            await maker.run(address, name)

    def _purse(self, address: Address) -> Purse:
        """What the models are paid from."""
        room = self._kit.room
        return Spending(self._kit.bus, address.project, room).purse(room, address.session)

    async def _run(self, address: Address, queue: "deque[Delivery]") -> None:
        delivery = queue.popleft()
        event = decode_event(decode_envelope(delivery.data))
        try:
            if isinstance(event, HistoryRequested):
                await self._guarded(address, event.run, delivery)
        except Exception as error:  # noqa: BLE001 - the broker was away: the run goes on when it is delivered again
            await self._intake.broken(delivery, error)
        else:
            await self._intake.settle(delivery, Done())

    async def _guarded(self, address: Address, run: str, delivery: Delivery) -> None:
        """A run that cannot be finished ends with its reason: a session is never left with one that hangs."""
        if (delivery.metadata.num_delivered or 1) > self._kit.settings.loop.max_deliver:
            await self._runs.fail(address, run, "aborted", "it was begun too often without coming to an end")
            return
        try:
            await self.run(address, run)
        except Unreachable:
            raise
        except Exception as error:
            self._kit.log.exception("a run failed", session=address.session, run=run)
            await self._runs.fail(address, run, "aborted", f"{type(error).__name__}: {error}")


def _writer(models: Models, purse: Callable[[Address], Purse]) -> Writer:
    """The models of the settings, or the rules where there is none."""
    return Asked(models, purse, Rules()) if models.names else Rules()
