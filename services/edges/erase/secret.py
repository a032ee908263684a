"""The erasure of a secret, stage by stage: each can be cut off, and all of them be begun again."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path

import msgspec

from schemas.streams import BODIES, BUCKETS, DEAD, IN, INBOUND_BODIES, LOG, STREAMS
from schemas.subjects import BadSubject, parse_log
from services.domain.erasure.facts import Addresses, refuse_word_of_language, rewritten
from services.domain.erasure.secret import Masks, masked, masked_subject, spellings
from services.edges.erase import files
from services.kit.bus import Bus, Unreachable
from services.kit.bus.layout import COPY
from services.kit.bus.rewriting import (
    POSITIONS,
    RewrittenBodies,
    StoredMessage,
    copy_log,
    delete_log,
    end_what_was_begun,
    refill,
    remove,
    stored,
)
from services.kit.rooms import ROOMS

NAMES = (*(one.name for one in STREAMS), *(one.name for one in BUCKETS), COPY, POSITIONS)
"""What streams and buckets are called."""
Stage = Callable[[], Awaitable[None]]


class Found(msgspec.Struct):
    """Where a secret stands: how much of each store."""

    facts: dict[str, int] = {}
    """Facts of the log, by the noun of their type."""
    sessions: int = 0
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


class SecretErasure:
    """One secret that is taken out of the broker and the files of one data directory."""

    def __init__(self, bus: Bus, data: Path, secret: str) -> None:
        """Raises `TooShort`."""
        self._bus = bus
        self._data = data
        self._masks = spellings(secret)
        self._renamed: dict[bytes, bytes] = {}

    @property
    def masks(self) -> Masks:
        return self._masks

    async def look(self) -> Found:
        """Look for it in each store through its own reader. Nothing is changed."""
        facts, sessions = await self._facts()
        return Found(
            facts=facts,
            sessions=sessions,
            streams={name: len(await self._positions(name)) for name in (IN.name, DEAD.name)},
            bodies={bucket.name: len(await self._named(bucket.name)) for bucket in BUCKETS},
            views=files.rows_of_views(self._data, self._masks),
            index=await files.rows_of_index(self._data, self._masks),
            mirrors=tuple(path.name for path in await files.mirrors_with(self._data, self._masks)),
            files=tuple(str(path) for path in files.plain_files(self._data) if files.holds(path, self._masks)),
        )

    async def _facts(self) -> tuple[dict[str, int], int]:
        nouns, addresses = Counter[str](), set[tuple[str, str]]()
        async with aclosing(stored(self._bus, LOG.name)) as log:
            async for message in log:
                if self._is_in(message):
                    noun, address = _whose(message)
                    nouns[noun] += 1
                    addresses.add(address)
        return dict(sorted(nouns.items())), len(addresses)

    def _is_in(self, message: StoredMessage) -> bool:
        whole = message.data + message.headers
        return masked(whole, self._masks) != whole or masked_subject(message.subject, self._masks) != message.subject

    async def _positions(self, stream: str) -> Sequence[int]:
        return [message.seq async for message in stored(self._bus, stream) if self._is_in(message)]

    async def _named(self, bucket: str) -> Mapping[str, bytes]:
        """The bodies that hold it, by their names, as they are once it is masked."""
        place = next(one for one in BUCKETS if one.name == bucket)
        found = {}
        async with aclosing(RewrittenBodies(self._bus, place).each()) as bodies:
            async for name, body in bodies:
                clean = masked(body, self._masks)
                if clean != body:
                    found[name] = clean
        return found

    async def refuse_unworked(self) -> None:
        """Raise `Unreachable` where a message of a harness holds it and was not worked yet: it would be lost."""
        worked = await self._bus.settled_by_all(IN.name)
        waiting = [seq for seq in await self._positions(IN.name) if seq > worked]
        if waiting:
            raise Unreachable(
                f"{len(waiting)} messages of harnesses hold it that no room has worked yet; run `annals up`, wait "
                "until `annals status` shows that nothing waits, then `annals down` and this again"
            )

    async def refuse_structural(self) -> None:
        """Raise `Structural` where what is no text would have to be masked, before anything is changed."""
        refuse_word_of_language(self._masks, (*ROOMS, *NAMES))
        addresses = Addresses()
        async with aclosing(stored(self._bus, LOG.name)) as log:
            async for message in log:
                subject, _ = rewritten(message.subject, message.data, self._masks, {})
                addresses.add(message.subject, subject)

    @property
    def stages(self) -> Sequence[tuple[str, Stage]]:
        """All that is to be done, in order; each may be done again."""
        return (
            ("an erasure that was cut off has ended", self._end_earlier),
            ("views and index are deleted, rooms make them anew", self._drop_made_of_log),
            ("plain files, spools and mirrors are clean", self._mask_files),
            ("long bodies are stored masked", self._mask_bodies),
            ("the log is copied, masked", self._copy),
            ("the old log is deleted", self._delete),
            ("the log is filled from its copy", self._refill),
            ("what harnesses sent and dead letters are clean", self._remove_messages),
            ("long bodies that held it are deleted", self._remove_bodies),
        )

    async def _end_earlier(self) -> None:
        await end_what_was_begun(self._bus)

    async def _drop_made_of_log(self) -> None:
        files.drop_made_of_log(self._data)

    async def _mask_files(self) -> None:
        for path in [*files.plain_files(self._data)]:
            files.mask_file(path, self._masks)
        for mirror in await files.mirrors_with(self._data, self._masks):
            files.drop_mirror(mirror)

    async def _mask_bodies(self) -> None:
        """Bodies are named by their content, so that the facts must name the masked ones."""
        bucket = RewrittenBodies(self._bus, BODIES)
        for name, clean in (await self._named(BODIES.name)).items():
            self._renamed[name.encode()] = (await bucket.put(clean)).encode()

    async def _copy(self) -> None:
        await copy_log(self._bus, self._rewritten)

    def _rewritten(self, message: StoredMessage) -> tuple[str, bytes]:
        return rewritten(message.subject, message.data, self._masks, self._renamed)

    async def _delete(self) -> None:
        await delete_log(self._bus)

    async def _refill(self) -> None:
        await refill(self._bus)

    async def _remove_messages(self) -> None:
        for stream in (IN.name, DEAD.name):
            await remove(self._bus, stream, await self._positions(stream))

    async def _remove_bodies(self) -> None:
        for place in (BODIES, INBOUND_BODIES):
            bucket = RewrittenBodies(self._bus, place)
            await bucket.remove([*await self._named(place.name)])
            await remove(self._bus, f"OBJ_{place.name}", await bucket.pieces_with(self._is_in))


def _whose(message: StoredMessage) -> tuple[str, tuple[str, str]]:
    """The noun of a fact and the address that it belongs to; a record that is no fact has neither."""
    try:
        address, event_type = parse_log(message.subject)
    except BadSubject:
        return "record", ("", "")
    return event_type.partition(".")[0], (address.project, address.session)
