"""The outbox: what is published leaves in order; what the broker cannot take now waits on disk."""

import asyncio
import base64
import os
from collections import deque
from itertools import islice
from pathlib import Path

import msgspec

from services.kit.bus import Bus, TooLarge, Unreachable
from services.kit.files import open_own, write_whole
from services.kit.logs import logger
from services.kit.within import cut_off

WINDOW = 64
"""Messages under way at once."""
RETRY = 0.2


class Outgoing(msgspec.Struct, frozen=True):
    """A message that is to be published, with the id that makes a second copy harmless."""

    subject: str
    id: str
    data: bytes


class Outbox:
    """Publishes messages in order. `spool` keeps those that wait while the broker is away, over a restart, too."""

    def __init__(self, bus: Bus, spool: Path | None = None) -> None:
        self._bus = bus
        self._spool = spool
        self._waiting: deque[Outgoing] = deque(_read(spool))
        self._empty = asyncio.Event()
        self._more = asyncio.Event()
        self._under_way: deque[asyncio.Task[int]] = deque()
        """One for each of the oldest that wait, in their order."""
        self._is_resting = False
        self._on_disk = len(self._waiting)
        """The number of waiting messages that are on disk, the oldest first; -1: the file has others, too."""
        self._settle()
        self._task = asyncio.create_task(self._send_for_ever())

    def put(self, message: Outgoing) -> None:
        """Take a message; it never waits for the broker. Raises `TooLarge` for one that no broker of ours takes."""
        if self._bus.too_large(message.data, message.id):
            raise TooLarge(
                f"{message.id} has {len(message.data)} bytes, the broker takes {self._bus.max_payload} with all headers"
            )
        self._waiting.append(message)
        self._settle()
        if not self._bus.connected:
            self._keep(message)
        self._send()

    async def flushed(self) -> None:
        """Wait until everything is with the broker."""
        await self._empty.wait()

    async def close(self) -> None:
        """Stop; what still waits is on disk."""
        await cut_off(self._task)
        self._write()

    async def _send_for_ever(self) -> None:
        try:
            while True:
                await self._more.wait()
                self._send()
                if self._under_way and await self._is_settled(self._waiting[0], self._under_way[0]):
                    self._forget_oldest()
                else:
                    await self._rest()
        finally:
            await self._end_sending()

    def _send(self) -> None:
        """Have as many under way as may be at once, the oldest first; none after a failure, until all is tried again.

        What is sent while the broker is away would arrive with its return, before what was lost on the way.
        """
        if self._bus.connected and not self._is_resting:
            for message in islice(self._waiting, len(self._under_way), WINDOW):
                self._under_way.append(asyncio.create_task(self._published(message)))

    async def _published(self, message: Outgoing) -> int:
        """The position of a message. The connection may have broken since it was to be sent."""
        if not self._bus.connected:
            raise Unreachable(f"the connection broke before {message.id} was sent")
        return await self._bus.publish(message.subject, message.data, message.id)

    async def _is_settled(self, message: Outgoing, publishing: asyncio.Task[int]) -> bool:
        """Whether this message need not be sent again."""
        (answer,) = await asyncio.gather(publishing, return_exceptions=True)
        if isinstance(answer, TooLarge):  # spooled while a broker with a higher limit was away
            logger().error("a message is left out", id=message.id, reason=str(answer))
        return isinstance(answer, int | TooLarge)

    def _forget_oldest(self) -> None:
        self._waiting.popleft()
        self._under_way.popleft()
        if self._on_disk:
            self._on_disk = -1
        self._settle()
        if not self._waiting and self._on_disk:
            self._write()

    async def _rest(self) -> None:
        """After a failure: what was under way behind it is sent again, too; its ids make a second copy harmless."""
        self._is_resting = True
        await asyncio.gather(*self._under_way, return_exceptions=True)
        self._under_way.clear()
        self._write()
        await asyncio.sleep(RETRY)
        self._is_resting = False

    async def _end_sending(self) -> None:
        self._is_resting = True
        for publishing in self._under_way:
            publishing.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def _settle(self) -> None:
        if self._waiting:
            self._more.set()
            self._empty.clear()
        else:
            self._more.clear()
            self._empty.set()

    def _keep(self, message: Outgoing) -> None:
        """Have the newest message on disk; behind those that are, where the file holds just them."""
        if self._spool is None or self._on_disk != len(self._waiting) - 1 or not self._spool.exists():
            self._write()
            return
        with os.fdopen(open_own(self._spool), "ab") as file:
            file.write(_line(message))
        self._on_disk += 1

    def _write(self) -> None:
        """Make the file hold exactly what waits."""
        if self._spool is None:
            return
        write_whole(self._spool, b"".join(_line(message) for message in self._waiting), mode=0o600)
        self._on_disk = len(self._waiting)


def _line(message: Outgoing) -> bytes:
    data = base64.b64encode(message.data).decode()
    return msgspec.json.encode({"subject": message.subject, "id": message.id, "data": data}) + b"\n"


def _read(spool: Path | None) -> list[Outgoing]:
    """The messages of a spool file; a last line that was not written to its end counts for nothing."""
    if spool is None or not spool.exists():
        return []
    messages = []
    for line in spool.read_bytes().split(b"\n")[:-1]:
        fields = msgspec.json.decode(line, type=dict[str, str])
        messages.append(Outgoing(fields["subject"], fields["id"], base64.b64decode(fields["data"])))
    return messages
