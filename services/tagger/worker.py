"""The tagger's wiring: inbound messages in, canonical facts out."""

import asyncio
from collections.abc import Iterable
from typing import ClassVar

import msgspec

from schemas.codec import decode_inbound
from schemas.envelope import Actor
from schemas.events import EVENTS, Event
from schemas.inbox import ErrorSeen, Seen, SessionSeen, UsageSeen
from schemas.streams import IN
from schemas.subjects import Address, parse_inbound
from services.domain import learned_limits
from services.domain.addressing import check_address
from services.domain.draft import Draft
from services.domain.guards import ALL
from services.domain.outcome import Done, Outcome
from services.domain.registry import events_made_in
from services.domain.secrets import mask
from services.domain.window import Learned
from services.kit.aggregate import Aggregate
from services.kit.bus import Delivery
from services.kit.loop import CommandHandler, Loop
from services.kit.room import Kit
from services.tagger import core
from services.tagger.core.decide import InboundContext, decide
from services.tagger.core.overflow import unknown_limits
from services.tagger.core.state import TaggedSession, evolve
from services.tagger.externalise import BodyStore, StoredBodies
from services.tagger.masking import mask_item
from services.tagger.projects import Projects

WARMING = "gh" + "p_" + 36 * "a"
"""Something like a token: the first has the patterns compiled."""
LARGE = 64 * 1024
"""Bytes from which a message is masked on another thread, so that other sessions go on."""


class Tagger:
    """Turns what harnesses saw into canonical facts, and numbers what an agent may name."""

    NAME: ClassVar[str] = "tagger"
    WATCHES_STREAMS: ClassVar[bool] = True
    READS: ClassVar[tuple[type[Event], ...]] = ()
    WRITES: ClassVar[tuple[type[Event], ...]] = events_made_in(core)

    async def open(self, kit: Kit) -> None:
        self._actor = Actor("room", kit.room)
        self._sessions = Aggregate.of(kit, evolve, TaggedSession(), guard=ALL, catches_up=False, once=True)
        self._bodies = BodyStore(kit.bus)
        self._projects = Projects(kit)
        self._limits = Aggregate.of(kit, learned_limits.evolve, Learned(), guard="limit", catches_up=False)
        handler = CommandHandler(address=_address, read=self._read, decide=_decide, finish=self._finish)
        self._loop = Loop(kit, IN, handler, self._sessions)
        await asyncio.to_thread(mask, WARMING)
        for noun in _nouns(EVENTS) - _nouns(self.WRITES):
            # one to a session makes what is decided on it stale
            await kit.bus.follow(f"log.*.*.*.{noun}.*", self._sessions.heard)
        await self._loop.open()

    async def idle(self) -> bool:
        return await self._loop.idle()

    def health(self) -> dict[str, object]:
        return {"ok": True, "in_hand": self._loop.in_hand, "sessions": len(self._sessions)}

    async def _read(self, delivery: Delivery) -> InboundContext:
        """Decode and mask. A body that is too long for a message goes to its bucket, masked as well."""
        harness, address = parse_inbound(delivery.subject)
        inbound = decode_inbound(delivery.data)
        check_address(address, inbound)
        if len(delivery.data) > LARGE:
            items = await asyncio.to_thread(mask_item, inbound.items)
        else:
            items = mask_item(inbound.items)
        stored = StoredBodies()
        items = tuple([await self._bodies.externalise(item, stored) for item in items])
        origin = await self._origin(address, items)
        whole = msgspec.structs.replace(inbound, items=items)
        return InboundContext(harness, whole, origin, stored.sizes, stored.files, stored.requests, stored.definitions)

    async def _origin(self, address: Address, items: tuple[Seen, ...]) -> TaggedSession | None:
        """The session that this one is a copy of, as its harness reports."""
        for item in items:
            if isinstance(item, SessionSeen) and item.forked_from:
                return await self._sessions.newest(Address(address.project, item.forked_from))
        return None

    async def _finish(self, address: Address, context: InboundContext) -> None:
        """Record what a message means beyond its session."""
        await self._projects.record(address.project, context)
        if any(isinstance(item, UsageSeen | ErrorSeen) for item in context.inbound.items):
            await self._share_limits(address, context)

    async def _share_limits(self, address: Address, context: InboundContext) -> None:
        own = (await self._sessions.load(address)).learned

        async def judge(draft: Draft[Learned]) -> None:
            draft.record(*unknown_limits(draft.state, own, address))

        await self._limits.handle(learned_limits.GLOBAL, judge, cause=context.id, at=context.at, actor=self._actor)


def _address(subject: str) -> Address:
    return parse_inbound(subject)[1]


def _decide(draft: Draft[TaggedSession], context: InboundContext) -> Outcome:
    decide(draft, context)
    return Done()


def _nouns(events: Iterable[type[Event]]) -> set[str]:
    return {event.TYPE.partition(".")[0] for event in events}
