"""The outbox: what is published leaves in order; what the broker cannot take now waits on disk."""

import asyncio
import base64
import os
from collections import deque
from pathlib import Path

import msgspec

from services.kit.bus import Bus, TooLarge
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
        self._kept = len(self._waiting)
        """How many of those that wait are on disk, the oldest first; -1: the file holds others, too."""
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

    async def flushed(self) -> None:
        """Wait until everything is with the broker."""
        await self._empty.wait()

    async def close(self) -> None:
        """Stop; what still waits is on disk."""
        await cut_off(self._task)
        self._write()

    async def _send_for_ever(self) -> None:
        while True:
            await self._more.wait()
            messages = list(self._waiting)[:WINDOW]
            settled = await self._send(messages)
            for _ in range(settled):
                self._waiting.popleft()
            if settled and self._kept:
                self._kept = -1
            self._settle()
            if settled < len(messages):
                self._write()
                await asyncio.sleep(RETRY)
            elif not self._waiting and self._kept:
                self._write()

    async def _send(self, messages: list[Outgoing]) -> int:
        """Publish them in order; how many were settled before the first that must be sent again."""
        sent = [asyncio.create_task(self._bus.publish(one.subject, one.data, one.id)) for one in messages]
        answers = await asyncio.gather(*sent, return_exceptions=True)
        for index, (message, answer) in enumerate(zip(messages, answers, strict=True)):
            if isinstance(answer, TooLarge):  # spooled while a broker with a higher limit was away
                logger().error("a message is left out", id=message.id, reason=str(answer))
            elif isinstance(answer, BaseException):
                return index
        return len(messages)

    def _settle(self) -> None:
        if self._waiting:
            self._more.set()
            self._empty.clear()
        else:
            self._more.clear()
            self._empty.set()

    def _keep(self, message: Outgoing) -> None:
        """Have the newest message on disk; behind those that are, where the file holds just them."""
        if self._spool is None or self._kept != len(self._waiting) - 1 or not self._spool.exists():
            self._write()
            return
        with os.fdopen(open_own(self._spool), "ab") as file:
            file.write(_line(message))
        self._kept += 1

    def _write(self) -> None:
        """Make the file hold exactly what waits."""
        if self._spool is None:
            return
        write_whole(self._spool, b"".join(_line(message) for message in self._waiting), mode=0o600)
        self._kept = len(self._waiting)


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
