"""The half of the historian that watches: it opens runs, gives rebuilds up, and proposes what sessions showed."""

from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from schemas.codec import decode_envelope, decode_event
from schemas.commands import MemoryPropose
from schemas.envelope import Actor, Envelope
from schemas.events import Event, FactExtracted, HistoryOrdered, SessionIdled, UsageSampled
from schemas.streams import LOG
from schemas.subjects import Address, parse_log
from services.historian.limits import Limits
from services.historian.pen import append
from services.historian.state import Session
from services.historian.triggers import due
from services.kit import house
from services.kit.bus import Delivery
from services.kit.cache import Sessions
from services.kit.intake import Intake
from services.kit.limits import Limits as PlanLimits
from services.kit.outcome import Done
from services.kit.room import Kit
from services.kit.window import Learned
from services.kit.wishes import wish

WATCHED: tuple[type[Event], ...] = (UsageSampled, SessionIdled, HistoryOrdered, FactExtracted)
ATTEMPTS = 8


class Watcher:
    """Looks at a session whenever something happened to it that may call for a run."""

    def __init__(self, kit: Kit, sessions: Sessions[Session], plan: PlanLimits, limits: Limits) -> None:
        self._kit = kit
        self._sessions = sessions
        self._plan = plan
        self._limits = limits
        self._houses = Sessions(kit.reader, house.evolve, Learned(), 1)
        self._intake = Intake(
            kit,
            LOG,
            durable=kit.room,
            address=address_of,
            work=self._watched,
            credit=kit.settings.loop.max_in_hand,
            filters=[anywhere(event) for event in WATCHED],
        )

    async def open(self) -> None:
        await self._intake.open()

    async def idle(self) -> bool:
        return await self._intake.idle()

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
                await self._intake.broken(delivery, error)
            return
        for delivery in deliveries:
            await self._intake.settle(delivery, Done())

    async def _look(self, address: Address, types: Sequence[str]) -> None:
        """Write what is due, until nothing is: behind a rebuild that is given up, a run may have waited."""
        entry = await self._sessions.get(address)
        learned = await self.learned()
        for _ in range(ATTEMPTS):
            async with entry.deciding:
                await self._sessions.catch_up(entry)
                is_idle = types[-1] == SessionIdled.TYPE
                state = replace(entry.state, learned=entry.state.learned.beside(learned))
                event = due(state, self._plan, self._limits, now=datetime.now(UTC), idle=is_idle)
                if event is None:
                    return
                await append(self._kit, entry, [event], event.run)

    async def learned(self) -> Learned:
        """What all sessions have learned of models' limits, up to now."""
        entry = await self._houses.get(house.HOUSE)
        await self._houses.catch_up(entry)
        return entry.state

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


def address_of(subject: str) -> Address:
    return parse_log(subject)[0]


def anywhere(event: type[Event]) -> str:
    """The subject of this event in all sessions."""
    return f"log.*.*.*.{event.TYPE}"
