"""The tagger's wiring: inbound messages in, canonical facts out."""

import asyncio
from typing import ClassVar

import msgspec

from schemas.codec import decode_inbound, encode
from schemas.events import (
    Event,
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
    UsageSampled,
)
from schemas.inbox import ErrorSeen, MessageSeen, PartSeen, Seen, SessionSeen
from schemas.inbox import SessionClosed as SessionEnded
from schemas.streams import BODIES, IN, INBOUND_BODIES, MAX_BODY_BYTES
from schemas.subjects import Address, parse_inbound
from services.kit.bus import Bodies, Delivery
from services.kit.cache import Sessions
from services.kit.loop import Judgement, Loop
from services.kit.outcome import Done, Outcome
from services.kit.room import Kit
from services.kit.secrets import mask
from services.tagger.core import Told, decide
from services.tagger.projects import Projects
from services.tagger.state import Session, evolve

LONGEST_CHARACTER = 6
"""Bytes that one character takes in JSON at most."""
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
        TagAssigned,
        UsageSampled,
        ModelChanged,
        NativeCompacted,
        OverflowDetected,
        StepOpened,
    )

    async def open(self, kit: Kit) -> None:
        self._sessions = Sessions(kit.reader, evolve, Session(), kit.settings.loop.sessions)
        self._inbound_bodies = Bodies(kit.bus, INBOUND_BODIES)
        self._bodies = Bodies(kit.bus, BODIES)
        self._projects = Projects(kit)
        judgement = Judgement(
            address=_address,
            prepare=self._prepare,
            decide=_decide,
            evolve=evolve,
            appended=self._identify,
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
            items = await asyncio.to_thread(_masked, inbound.items)
        else:
            items = _masked(inbound.items)
        sizes: dict[str, int] = {}
        items = tuple([await self._with_bodies(item, sizes) for item in items])
        origin = await self._origin(address, items)
        return Told(harness, msgspec.structs.replace(inbound, items=items), origin, sizes)

    async def _with_bodies(self, item: Seen, sizes: dict[str, int]) -> Seen:
        match item:
            case MessageSeen(parts=parts) if any(_has_long_body(part) for part in parts):
                kept = [await self._keep(part, sizes) if _has_long_body(part) else part for part in parts]
                return msgspec.structs.replace(item, parts=tuple(kept))
            case PartSeen() if _has_long_body(item):
                return await self._keep(item, sizes)
            case _:
                return item

    async def _keep(self, part: PartSeen, sizes: dict[str, int]) -> PartSeen:
        """Put long bodies aside, and note in `sizes` how long they are."""
        changes: dict[str, str] = {}
        for field in ("text", "input", "output"):
            body, reference = getattr(part, field), getattr(part, f"{field}_ref")
            if reference:
                body = await asyncio.to_thread(mask, await self._inbound_bodies.get(reference))
            if len(encode(body)) > MAX_BODY_BYTES:  # as JSON, where it may be six times as long
                kept = await self._bodies.put(body)
                sizes[kept] = len(body.encode())
                changes |= {field: "", f"{field}_ref": kept}
            else:
                changes |= {field: body, f"{field}_ref": ""}
        return msgspec.structs.replace(part, **changes)

    async def _origin(self, address: Address, items: tuple[Seen, ...]) -> Session | None:
        """The session that this one says it is a copy of."""
        for item in items:
            if isinstance(item, SessionSeen) and item.forked_from:
                entry = await self._sessions.get(Address(address.project, item.forked_from))
                await self._sessions.reload(entry)
                return entry.state
        return None

    async def _identify(self, address: Address, told: Told) -> None:
        for item in told.inbound.items:
            if isinstance(item, SessionSeen) and item.directory:
                await self._projects.identify(address.project, item.directory, told.harness, told.at)


def _address(subject: str) -> Address:
    return parse_inbound(subject)[1]


def _decide(session: Session, told: Told) -> Outcome:
    return Done(decide(session, told))


def _has_long_body(part: PartSeen) -> bool:
    if part.text_ref or part.input_ref or part.output_ref:
        return True
    return max(len(part.text), len(part.input), len(part.output)) * LONGEST_CHARACTER > MAX_BODY_BYTES


def _masked(items: tuple[Seen, ...]) -> tuple[Seen, ...]:
    return tuple(_masked_item(item) for item in items)


def _masked_item(item: Seen) -> Seen:
    match item:
        case MessageSeen(parts=parts):
            return msgspec.structs.replace(item, parts=tuple(_masked_part(part) for part in parts))
        case PartSeen():
            return _masked_part(item)
        case SessionSeen(title=title, directory=directory):
            return msgspec.structs.replace(item, title=mask(title), directory=mask(directory))
        case SessionEnded(reason=reason):
            return msgspec.structs.replace(item, reason=mask(reason))
        case ErrorSeen(text=text):
            return msgspec.structs.replace(item, text=mask(text))
        case _:
            return item


def _masked_part(part: PartSeen) -> PartSeen:
    return msgspec.structs.replace(part, text=mask(part.text), input=mask(part.input), output=mask(part.output))
