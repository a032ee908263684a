"""A cache of projects' names, for rooms that look one up at every question: read again in the background."""

import asyncio
import time

from services.domain.aliases import GLOBAL, NOUN, Aliases, evolve
from services.kit.bus import BrokerError, Unreachable
from services.kit.room import Kit

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
