"""Readers of nouns: the facts of a few kinds, folded, and read on from where they were."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

from schemas.codec import decode_event
from schemas.events import SettingsApplied
from schemas.subjects import Address
from services.domain.aliases import GLOBAL, NOUN, Aliases, evolve
from services.domain.newest import NewestMap
from services.domain.project_settings import settings_of
from services.domain.record import Record
from services.kit.bus import BrokerError, LogReader, Unreachable
from services.kit.room import Kit

AT_ONCE = 100
"""Facts that are folded before others have a turn."""


class NounReader:
    """Reads the facts of some nouns as if an address had no others."""

    def __init__(self, reader: LogReader, nouns: Sequence[str], *, catches_up: bool = False, until: int = 0) -> None:
        """`catches_up`: who has read an address goes on with all of its facts, which are few behind the head.

        `until`: the last position that is read; 0: the head of the log.
        """
        self._reader = reader
        self._nouns = nouns
        self._catches_up = catches_up
        self._until = until
        self._heads: dict[str, int] = {}
        """Address -> the position up to which its nouns were read."""

    async def after(self, seq: int, subject_filter: str) -> AsyncGenerator[Record, None]:
        """The records of the log behind `seq`, to its head as it is now, in order; `subject_filter` ends with `>`.

        One noun is read after another: of what comes meanwhile, a part would be missed.
        """
        known = self._heads.get(subject_filter) if seq and self._catches_up else None
        if known is not None:
            async for record in self._reader.after(max(seq, known), subject_filter):
                yield record
            return
        head = self._until or await self._reader.head()
        found: list[Record] = []
        for noun in self._nouns:
            async with aclosing(self._reader.after(seq, f"{subject_filter.removesuffix('>')}{noun}.*")) as read:
                async for record in read:
                    if record.envelope.seq > head:
                        break
                    found.append(record)
        for number, record in enumerate(sorted(found, key=lambda one: one.envelope.seq), 1):
            yield record
            if not number % AT_ONCE:
                await asyncio.sleep(0)
        self._heads[subject_filter] = head


OLD = 1.0
"""Seconds from which on what is known is read again."""


class AliasReader:
    """The names as the log has them, at most a moment ago."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._aliases = Aliases()
        self._read_at = 0.0
        self._reading: asyncio.Task[None] | None = None
        kit.stack.callback(self._close)

    async def now(self) -> Aliases:
        """The projects' names. Only the first question waits until they are read."""
        if self._reading is None and time.monotonic() - self._read_at > OLD:
            self._reading = asyncio.create_task(self._read())
        if not self._read_at and self._reading is not None:
            await asyncio.shield(self._reading)
        return self._aliases

    async def _read(self) -> None:
        try:
            async for record in self._kit.reader.after(self._aliases.seq, GLOBAL.log(f"{NOUN}.*")):
                if record.event is not None:
                    self._aliases = evolve(self._aliases, record.event, record.envelope)
            self._read_at = time.monotonic()
        except (BrokerError, Unreachable) as error:
            self._kit.log.warning("where names of projects lead was not read", reason=str(error))
        finally:
            self._reading = None

    def _close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()


MOST_PROJECTS = 1_000


class SettingsReader:
    """The settings of projects as the log has them, at most a moment ago; under whichever name a project goes by."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._aliases = AliasReader(kit)
        self._known = NewestMap[str, tuple[float, Mapping[str, object]]](MOST_PROJECTS)
        """Project -> when it was read, and what was found."""

    async def of(self, project: str) -> Mapping[str, object]:
        """The newest settings of the project that a name leads to. Where the log does not answer, those known last."""
        name = (await self._aliases.now()).project(project)
        read_at, settings = self._known.get(name, (0.0, {}))
        if not read_at or time.monotonic() - read_at > OLD:
            try:
                settings = await self._read(name)
            except (BrokerError, Unreachable) as error:
                self._kit.log.warning("what a project has set was not read", reason=str(error))
            self._known[name] = time.monotonic(), settings
        return settings

    def forget(self, project: str) -> None:
        """Read the project's settings anew the next time: they have just been changed."""
        self._known.pop(project, None)

    async def _read(self, project: str) -> Mapping[str, object]:
        envelope = await self._kit.reader.last(Address(project).log(SettingsApplied.TYPE))
        event = decode_event(envelope) if envelope is not None else None
        return settings_of(event) if isinstance(event, SettingsApplied) else {}
