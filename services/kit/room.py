"""The interface of a room, and what it is given when it opens."""

import asyncio
from contextlib import AsyncExitStack
from typing import ClassVar, Protocol

import msgspec

from schemas.events import Event
from services.kit.bus import Appender, Bus, LogReader
from services.kit.logs import Logger
from services.settings import Settings


class Kit(msgspec.Struct, frozen=True):
    """The resources of a room: its connection, the log, its settings, and the stack that closes what it opens."""

    room: str
    bus: Bus
    reader: LogReader
    appender: Appender
    settings: Settings
    stack: AsyncExitStack
    log: Logger
    failed: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    """Set when a part of the room has failed that nothing restores: the room ends, and is started anew."""


class Room(Protocol):
    """A worker. `READS` and `WRITES` are all the event types it touches; each type has one writer.

    `WRITES` is derived: `events_made_in` reads it from the functions that decide.

    One with `GIVES_WAY = True` does nothing that a model call waits for: it runs at a lower priority. One with
    `WATCHES_STREAMS = True` reports what the streams next to the log have lost.
    """

    NAME: ClassVar[str]
    READS: ClassVar[tuple[type[Event], ...]]
    WRITES: ClassVar[tuple[type[Event], ...]]

    async def open(self, kit: Kit) -> None:
        """Begin to work; what must be closed goes on the stack."""

    async def idle(self) -> bool:
        """Whether nothing waits and nothing is in hand."""

    def health(self) -> dict[str, object]:
        """The room's health for an operator; `ok`: the room can do its work.

        Two more names mean the same in every room: `failures` lists in words what it cannot do now, and
        `committed_through` is the position of the log up to which it has written what it makes of the log.
        """
