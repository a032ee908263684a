"""The tagger's wiring: inbound messages in, canonical facts out."""

import asyncio
from typing import ClassVar

import msgspec

from schemas.codec import decode_inbound
from schemas.events import (
    AdapterConnected,
    CallFailed,
    DocumentCaptured,
    Event,
    FileTouched,
    LimitLearned,
    LimitWithdrawn,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    ModelChanged,
    NativeCompacted,
    OverflowDetected,
    PartRecorded,
    PartRemoved,
    ProjectIdentified,
    SessionClosed,
    SessionForked,
    SessionIdled,
    SessionOpened,
    SessionRenamed,
    StepOpened,
    TagAssigned,
    TodoCaptured,
    ToolRan,
    ToolsetChanged,
    UsageSampled,
)
from schemas.inbox import ErrorSeen, Seen, SessionSeen, UsageSeen
from schemas.streams import IN
from schemas.subjects import Address, parse_inbound
from services.kit import house
from services.kit.bus import Delivery
from services.kit.cache import Sessions
from services.kit.loop import Judgement, Loop
from services.kit.outcome import Done, Outcome
from services.kit.room import Kit
from services.kit.secrets import mask
from services.kit.window import Learned
from services.tagger.aside import Aside, Kept
from services.tagger.book import Book
from services.tagger.core import Told, decide
from services.tagger.lessons import lessons
from services.tagger.masking import masked
from services.tagger.projects import Projects
from services.tagger.state import Session, evolve

WARMING = "gh" + "p_" + 36 * "a"
"""Something like a token: the first makes the detectors load, which takes a while."""
LARGE = 64 * 1024
"""Bytes from which a message is masked on another thread, so that other sessions go on."""


class Tagger:
    """Turns what harnesses saw into canonical facts, and numbers what an agent may name."""

    NAME: ClassVar[str] = "tagger"
    READS: ClassVar[tuple[type[Event], ...]] = ()
    WRITES: ClassVar[tuple[type[Event], ...]] = (
        ProjectIdentified,
        DocumentCaptured,
        AdapterConnected,
        SessionOpened,
        SessionRenamed,
        SessionIdled,
        SessionClosed,
        SessionForked,
        MessageRecorded,
        MessageListed,
        MessageRemoved,
        PartRecorded,
        PartRemoved,
        ToolRan,
        FileTouched,
        TodoCaptured,
        TagAssigned,
        UsageSampled,
        ModelChanged,
        ToolsetChanged,
        NativeCompacted,
        CallFailed,
        OverflowDetected,
        LimitLearned,
        LimitWithdrawn,
        StepOpened,
    )

    async def open(self, kit: Kit) -> None:
        self._sessions = Sessions(kit.reader, evolve, Session(), kit.settings.loop.sessions)
        self._aside = Aside(kit.bus)
        self._projects = Projects(kit)
        self._house = Book(kit, house.evolve, Learned())
        judgement = Judgement(
            address=_address,
            prepare=self._prepare,
            decide=_decide,
            evolve=evolve,
            appended=self._appended,
        )
        self._loop = Loop(kit, IN, judgement, self._sessions)
        await asyncio.to_thread(mask, WARMING)
        await self._loop.open()

    async def idle(self) -> bool:
        return await self._loop.idle()

    def health(self) -> dict[str, object]:
        return {"ok": True, "in_hand": self._loop.in_hand, "sessions": len(self._sessions)}

    async def _prepare(self, delivery: Delivery) -> Told:
        """Decode and mask. A body that is too long for a message goes to its bucket, masked as well."""
        harness, address = parse_inbound(delivery.subject)
        inbound = decode_inbound(delivery.data)
        if len(delivery.data) > LARGE:
            items = await asyncio.to_thread(masked, inbound.items)
        else:
            items = masked(inbound.items)
        kept = Kept()
        items = tuple([await self._aside.put(item, kept) for item in items])
        origin = await self._origin(address, items)
        whole = msgspec.structs.replace(inbound, items=items)
        return Told(harness, whole, origin, kept.sizes, kept.pictures, kept.uses, kept.definitions)

    async def _origin(self, address: Address, items: tuple[Seen, ...]) -> Session | None:
        """The session that this one says it is a copy of."""
        for item in items:
            if isinstance(item, SessionSeen) and item.forked_from:
                entry = await self._sessions.get(Address(address.project, item.forked_from))
                await self._sessions.reload(entry)
                return entry.state
        return None

    async def _appended(self, address: Address, told: Told) -> None:
        await self._projects.take(address.project, told)
        if any(isinstance(item, UsageSeen | ErrorSeen) for item in told.inbound.items):
            learned = (await self._sessions.get(address)).state.learned
            await self._house.write(house.HOUSE, told, lambda known: lessons(known, learned, address))


def _address(subject: str) -> Address:
    return parse_inbound(subject)[1]


def _decide(session: Session, told: Told) -> Outcome:
    return Done(decide(session, told))
