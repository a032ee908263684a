"""An erasure, stage by stage: each can be cut off, and all of them be begun again."""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from pathlib import Path

import msgspec

from schemas.codec import encode
from schemas.envelope import Actor
from schemas.events import ErasureOrdered, Event, MemoryArchived, PromptMasked
from schemas.streams import BODIES, BUCKETS, DEAD, IN, INBOUND_BODIES, LOG, STREAMS, Bucket
from schemas.subjects import Address
from services.domain.aliases import GLOBAL
from services.domain.envelopes import envelope
from services.domain.erasure.facts import Addresses, Structural, refuse_word_of_language
from services.domain.erasure.orders import orders
from services.domain.erasure.scope import ErasureScope, MaskedPrompts, Rewriting, place_of
from services.domain.erasure.secret import Masks, masked, masked_subject
from services.domain.erasure.survey import REASON
from services.domain.erasure.traces import References, Samples
from services.edges.erase import files
from services.kit.bus import Bus, Unreachable, erasure_lock
from services.kit.bus.layout import COPY
from services.kit.bus.rewriting import (
    POSITIONS,
    RewrittenBodies,
    StoredMessage,
    copy_log,
    delete_log,
    end_of,
    end_what_was_begun,
    refill,
    refuse_too_long,
    remove,
    stored_messages,
)
from services.kit.rooms import ROOMS

WRITES: tuple[type[Event], ...] = (PromptMasked, ErasureOrdered)
"""The facts that only an erasure writes, while no room runs. `memory.archived` is the desk's, for which it writes."""
NAMES = (*(one.name for one in STREAMS), *(one.name for one in BUCKETS), COPY, POSITIONS, erasure_lock.NAME)
"""The names of streams and buckets."""
Stage = Callable[[], Awaitable[None]]


class Occurrences(msgspec.Struct):
    """The number of things to be erased in each store."""

    facts: dict[str, int] = {}
    """Facts of the log, by the noun of their type."""
    sessions: int = 0
    prompts: int = 0
    """Sessions of which a prompt shows it now."""
    unread: tuple[Address, ...] = ()
    """Sessions of which a plan that showed it cannot be read."""
    streams: dict[str, int] = {}
    """Messages of the other streams, by their names."""
    bodies: dict[str, int] = {}
    """Long bodies, by their buckets."""
    views: int = 0
    index: int = 0
    mirrors: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        counts = (self.facts, self.streams, self.bodies)
        return not (any(sum(one.values()) for one in counts) or self.views or self.index or self.mirrors or self.files)


class Erasure:
    """An erasure of what one scope names, from the broker and the files of one data directory.

    Files are read in a thread, so that the lock on a team's broker is renewed meanwhile.
    """

    def __init__(self, bus: Bus, data: Path, scope: ErasureScope, now: datetime) -> None:
        """`now`: the moment of the facts that say so."""
        self._bus = bus
        self._data = data
        self._scope = scope
        self._now = now
        self._masks = scope.masks
        self._renamed: dict[bytes, bytes] = {}
        self._rewriting = Rewriting(scope, self._renamed)
        self._samples = Samples()
        self.unread: Sequence[Address] = ()
        """Sessions whose prompts it does not reach, once the log is copied: their plans cannot be read."""

    @property
    def needles(self) -> Masks:
        """The texts that no file may contain afterwards, and samples of the sessions' texts."""
        return {**self._masks, **dict.fromkeys(self._samples.found, b"")}

    async def look(self) -> Occurrences:
        """Look for it in each store through its own reader. Nothing is changed."""
        facts, sessions, prompts, unread = await self._facts()
        named = {**self._masks, **{name.encode(): b"" for name in self._scope.names}}
        return Occurrences(
            facts=facts,
            sessions=sessions,
            prompts=prompts,
            unread=unread,
            streams={name: len(await self._positions(name)) for name in (IN.name, DEAD.name)},
            bodies={bucket.name: len(await self._bodies_with(bucket.name)) for bucket in BUCKETS},
            views=await asyncio.to_thread(files.rows_of_views, self._data, named),
            index=await files.rows_of_index(self._data, named),
            mirrors=tuple(path.name for path in await self._mirrors()),
            files=await asyncio.to_thread(self._files),
        )

    def _files(self) -> tuple[str, ...]:
        return tuple(str(path) for path in files.plain_files(self._data) if self._is_in_file(path))

    def _is_in_file(self, path: Path) -> bool:
        return files.holds(path, self._masks) or files.has_lines_of(path, self._scope.covers_message)

    async def _facts(self) -> tuple[dict[str, int], int, int, tuple[Address, ...]]:
        nouns, addresses, changed = Counter[str](), set[Address](), MaskedPrompts()
        async with aclosing(stored_messages(self._bus, LOG.name)) as log:
            async for message in log:
                if self._is_in(message):
                    place = place_of(message.subject)
                    nouns[place.noun if place else "record"] += 1
                    addresses.add(place.address if place else Address(""))
                    changed.add(message.subject, message.data, self._rewritten(message))
                else:
                    changed.add(message.subject, message.data, message.data)
        prompts = [address for address in changed.targets if not self._scope.covers(address)]
        return dict(sorted(nouns.items())), len(addresses), len(prompts), self._that_stay(changed.unread)

    def _that_stay(self, addresses: Sequence[Address]) -> tuple[Address, ...]:
        return tuple(one for one in addresses if not self._scope.covers(one))

    def _rewritten(self, message: StoredMessage) -> bytes:
        try:
            return self._rewriting(message.subject, message.data)[1]
        except Structural:
            return message.data

    def _is_in(self, message: StoredMessage) -> bool:
        """Whether a record of the log holds it."""
        whole = message.data + message.headers
        if masked(whole, self._masks) != whole or masked_subject(message.subject, self._masks) != message.subject:
            return True
        return self._rewriting.changes(message.subject, message.data)

    def _is_sent(self, message: StoredMessage) -> bool:
        """Whether a message of another stream holds it, or is one of a session that goes."""
        whole = message.data + message.headers
        if masked(whole, self._masks) != whole or masked_subject(message.subject, self._masks) != message.subject:
            return True
        sent_on = msgspec.json.decode(message.headers, type=dict[str, str]).get("Annals-Subject", message.subject)
        return self._scope.covers_message(sent_on)

    async def _positions(self, stream: str) -> Sequence[int]:
        return [message.seq async for message in stored_messages(self._bus, stream) if self._is_sent(message)]

    async def _named(self, bucket: str) -> Mapping[str, bytes]:
        """The bodies that hold a text of it, by their names, as they are once it is masked."""
        found = {}
        if self._masks:
            async with aclosing(RewrittenBodies(self._bus, _bucket(bucket)).each()) as bodies:
                async for name, body in bodies:
                    clean = masked(body, self._masks)
                    if clean != body:
                        found[name] = clean
        return found

    async def _bodies_with(self, bucket: str) -> Sequence[str]:
        """Names of bodies that hold a text of it, or that nothing but what goes refers to."""
        return sorted({*await self._named(bucket), *await self._orphans(bucket)})

    async def _orphans(self, bucket: str) -> Sequence[str]:
        """Names of bodies to which nothing refers that stays; what harnesses sent may still be waited for."""
        if not (self._scope.sessions or self._scope.projects):
            return []
        references = References()
        stream = LOG.name if bucket == BODIES.name else IN.name
        async with aclosing(stored_messages(self._bus, stream)) as messages:
            async for message in messages:
                place = place_of(message.subject)
                goes = self._scope.covers(place.address) if place else self._scope.covers_message(message.subject)
                references.add(message.data, goes=goes)
        names = await RewrittenBodies(self._bus, _bucket(bucket)).names()
        goes_with = references.are_missing if bucket == BODIES.name else references.are_erased
        return [name for name in names if goes_with(name)]

    async def _mirrors(self) -> Sequence[Path]:
        found = await files.mirrors_with(self._data, self._masks) if self._masks else []
        return [*found, *files.mirrors_of(self._data, self._scope.projects)]

    async def refuse_unworked(self) -> None:
        """Raise `Unreachable` where a message of a harness holds a text of it and was not worked yet: it would be lost.

        What a session that goes has sent is deleted in any case.
        """
        worked = await self._bus.settled_by_all(IN.name)
        waiting = [
            one.seq
            async for one in stored_messages(self._bus, IN.name)
            if one.seq > worked and self._is_sent(one) and not self._scope.covers_message(one.subject)
        ]
        if waiting:
            raise Unreachable(
                f"{len(waiting)} messages of harnesses hold it that no room has worked yet; run `annals up`, wait "
                "until `annals status` shows that nothing waits, then `annals down` and this again"
            )

    async def refuse_structural(self) -> None:
        """Raise `Structural` where what is no text would have to be masked, before anything is changed.

        Raises `Unreachable` where a fact would be too long for the broker.
        """
        for masks in (self._masks, self._scope.derived, self._scope.in_notices, *self._scope.in_prompts.values()):
            refuse_word_of_language(masks, (*ROOMS, *NAMES))
        addresses = Addresses()
        async with aclosing(stored_messages(self._bus, LOG.name)) as log:
            async for message in log:
                subject, data = self._rewriting(message.subject, message.data)
                refuse_too_long(self._bus, data)
                addresses.add(message.subject, subject)

    async def take_samples(self) -> None:
        """Remember pieces of what goes as a whole, to look for them at the end."""
        if not (self._scope.sessions or self._scope.projects):
            return
        for is_taken in (True, False):
            async with aclosing(stored_messages(self._bus, LOG.name)) as log:
                async for message in log:
                    place = place_of(message.subject)
                    goes = place is not None and self._scope.covers(place.address)
                    if is_taken and goes:
                        self._samples.take(message.data)
                    elif not is_taken and not goes:
                        self._samples.leave_out(message.data)

    @property
    def stages(self) -> Sequence[tuple[str, Stage]]:
        """All that is to be done, in order; each may be done again."""
        return (
            ("an erasure that was cut off has ended", self._end_earlier),
            ("views and index are deleted, rooms make them anew", self._drop_made_of_log),
            ("plain files, spools and mirrors are clean", self._clean_files),
            ("what harnesses sent and dead letters are clean", self._remove_messages),
            ("long bodies are stored masked", self._mask_bodies),
            ("the log is copied without it", self._copy),
            ("the old log is deleted", self._delete),
            ("the log is filled from its copy", self._refill),
            ("long bodies with it are deleted", self._remove_bodies),
        )

    async def _end_earlier(self) -> None:
        await end_what_was_begun(self._bus)

    async def _drop_made_of_log(self) -> None:
        await asyncio.to_thread(files.drop_made_of_log, self._data)

    async def _clean_files(self) -> None:
        await asyncio.to_thread(self._clean_plain_files)
        for mirror in await self._mirrors():
            await asyncio.to_thread(files.drop_mirror, mirror)

    def _clean_plain_files(self) -> None:
        for path in [*files.plain_files(self._data)]:
            files.drop_lines_of(path, self._scope.covers_message)
            files.mask_file(path, self._masks)

    async def _remove_messages(self) -> None:
        """Before the log, which names the sessions whose messages they are, and the memories whose texts they hold."""
        await self._remove(INBOUND_BODIES.name)
        for stream in (IN.name, DEAD.name):
            await remove(self._bus, stream, await self._positions(stream))

    async def _mask_bodies(self) -> None:
        """Bodies are named by their content, so that the facts must name the masked ones."""
        bucket = RewrittenBodies(self._bus, BODIES)
        for name, clean in (await self._named(BODIES.name)).items():
            self._renamed[name.encode()] = (await bucket.put(clean)).encode()

    async def _copy(self) -> None:
        changed = MaskedPrompts()

        def rewrite(message: StoredMessage) -> tuple[str, bytes]:
            subject, data = self._rewriting(message.subject, message.data)
            if subject == message.subject:
                changed.add(subject, message.data, data)
            return subject, data

        end = await end_of(self._bus, LOG.name)
        await copy_log(self._bus, rewrite, lambda: self._closing(changed, end))
        self.unread = self._that_stay(changed.unread)

    def _closing(self, changed: MaskedPrompts, end: int) -> Iterator[tuple[str, bytes]]:
        """The facts that end the log: whose prompts have masks now, which memories are archived, what plugins do."""
        for address, targets in sorted(changed.targets.items(), key=lambda one: (one[0].project, one[0].session)):
            if not self._scope.covers(address):
                yield self._fact(PromptMasked(targets=[*targets]), address, end)
        for project, name in sorted(self._scope.to_archive):
            yield self._fact(MemoryArchived(memory=name, reason=REASON), Address(project), end)
        for order in orders(self._scope, self._now, os.urandom):
            yield self._fact(order, GLOBAL, end)

    def _fact(self, event: Event, address: Address, end: int) -> tuple[str, bytes]:
        subject = address.log(event.TYPE)
        made = envelope(event, address, {subject: end}, at=self._now, actor=Actor("person"), cause="", number=0)
        return subject, encode(msgspec.structs.replace(made, last=True))

    async def _delete(self) -> None:
        await delete_log(self._bus)

    async def _refill(self) -> None:
        await refill(self._bus)

    async def _remove_bodies(self) -> None:
        for place in BUCKETS:
            await self._remove(place.name)

    async def _remove(self, bucket: str) -> None:
        bodies = RewrittenBodies(self._bus, _bucket(bucket))
        await bodies.remove(await self._bodies_with(bucket))
        await remove(self._bus, f"OBJ_{bucket}", await bodies.pieces_with(self._is_piece))

    def _is_piece(self, message: StoredMessage) -> bool:
        whole = message.data + message.headers
        return masked(whole, self._masks) != whole


def _bucket(name: str) -> Bucket:
    return next(one for one in BUCKETS if one.name == name)
