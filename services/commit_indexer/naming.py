"""Records which parts of sessions name commits: each part once, in the order of its session."""

from collections import deque
from collections.abc import Sequence

from schemas.envelope import Actor, Envelope
from schemas.events import Event, PartRecorded
from schemas.subjects import Address
from services.commit_indexer.core.mentions import Mentions, evolve, news
from services.domain.draft import Draft
from services.domain.outcome import Done
from services.kit.aggregate import Aggregate
from services.kit.bus import Delivery
from services.kit.cache import Sessions
from services.kit.command_queue import QueuedCommand
from services.kit.consumer import fact_of, log_consumer
from services.kit.nouns import NounReader
from services.kit.room import Kit

NOUN = "commit"
MOST_AT_ONCE = 256


class MentionReader:
    """Reads what is recorded of all sessions."""

    def __init__(self, kit: Kit) -> None:
        self._actor = Actor("room", kit.room)
        sessions = Sessions(NounReader(kit.reader, (NOUN,)), evolve, Mentions(), kit.settings.loop.sessions)
        self._sessions = Aggregate(kit, sessions, guard=NOUN)
        self._consumer = log_consumer(kit, (PartRecorded,), self._work, goes_back=True)

    async def open(self) -> None:
        await self._consumer.open()

    async def idle(self) -> bool:
        return await self._consumer.idle()

    async def _work(self, address: Address, queue: "deque[Delivery]") -> None:
        """Look at what has come of a session meanwhile, all at once."""
        deliveries = [queue.popleft() for _ in range(min(len(queue), MOST_AT_ONCE))]
        try:
            await self._record_mentions(address, [fact_of(delivery) for delivery in deliveries])
        except Exception as error:  # noqa: BLE001 - it concerns this session only
            for delivery in deliveries:
                await self._consumer.broken(delivery, error)
            return
        for delivery in deliveries:
            await self._consumer.settle(delivery, Done())

    async def _record_mentions(self, address: Address, facts: Sequence[tuple[Envelope, Event | None]]) -> None:
        known = await self._sessions.load(address)
        commands = [
            self._command(envelope, event)
            for envelope, event in facts
            if isinstance(event, PartRecorded) and (event.part in known.parts or news(known, event))
        ]
        for handled in await self._sessions.handle_all(address, commands):
            if isinstance(handled, Exception):
                raise handled

    def _command(self, envelope: Envelope, event: PartRecorded) -> QueuedCommand[Mentions, None]:
        async def decide(draft: Draft[Mentions]) -> None:
            draft.record(*news(draft.state, event))

        return QueuedCommand(decide, cause=envelope.id, at=envelope.at, actor=self._actor)
