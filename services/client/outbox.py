"""The outbox: what is said leaves in order; what the broker cannot take now waits on disk."""

import asyncio
import base64
from collections import deque
from pathlib import Path

import msgspec

from services.kit.bus import Bus, TooLarge
from services.kit.logs import logger

WINDOW = 64
"""Messages under way at once."""
RETRY = 0.2


class Letter(msgspec.Struct, frozen=True):
    """A message that is to be published, with the id that makes a second copy harmless."""

    subject: str
    id: str
    data: bytes


class Outbox:
    """Publishes letters in order. `spool` keeps those that wait while the broker is away, over a restart, too."""

    def __init__(self, bus: Bus, spool: Path | None = None) -> None:
        self._bus = bus
        self._spool = spool
        self._waiting: deque[Letter] = deque(_read(spool))
        self._empty = asyncio.Event()
        self._more = asyncio.Event()
        self._kept = len(self._waiting)
        """How many of those that wait are on disk, the oldest first; -1: the file holds others, too."""
        self._settle()
        self._task = asyncio.create_task(self._send_for_ever())

    def put(self, letter: Letter) -> None:
        """Take a letter; it never waits for the broker. Raises `TooLarge` for one that no broker of ours takes."""
        if self._bus.too_large(letter.data, letter.id):
            raise TooLarge(
                f"{letter.id} has {len(letter.data)} bytes, the broker takes {self._bus.max_payload} with all headers"
            )
        self._waiting.append(letter)
        self._settle()
        if not self._bus.connected:
            self._keep(letter)

    async def flushed(self) -> None:
        """Wait until everything is with the broker."""
        await self._empty.wait()

    async def close(self) -> None:
        """Stop; what still waits is on disk."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._write()

    async def _send_for_ever(self) -> None:
        while True:
            await self._more.wait()
            letters = list(self._waiting)[:WINDOW]
            settled = await self._send(letters)
            for _ in range(settled):
                self._waiting.popleft()
            if settled and self._kept:
                self._kept = -1
            self._settle()
            if settled < len(letters):
                self._write()
                await asyncio.sleep(RETRY)
            elif not self._waiting and self._kept:
                self._write()

    async def _send(self, letters: list[Letter]) -> int:
        """Publish them in order; how many were settled before the first that must be sent again."""
        sent = [asyncio.create_task(self._bus.publish(one.subject, one.data, one.id)) for one in letters]
        answers = await asyncio.gather(*sent, return_exceptions=True)
        for index, (letter, answer) in enumerate(zip(letters, answers, strict=True)):
            if isinstance(answer, TooLarge):  # spooled while a broker with a higher limit was away
                logger().error("a letter is left out", id=letter.id, reason=str(answer))
            elif isinstance(answer, BaseException):
                return index
        return len(letters)

    def _settle(self) -> None:
        if self._waiting:
            self._more.set()
            self._empty.clear()
        else:
            self._more.clear()
            self._empty.set()

    def _keep(self, letter: Letter) -> None:
        """Have the newest letter on disk; behind those that are, where the file holds just them."""
        if self._spool is None or self._kept != len(self._waiting) - 1 or not self._spool.exists():
            self._write()
            return
        with self._spool.open("ab") as file:
            file.write(_line(letter))
        self._kept += 1

    def _write(self) -> None:
        """Make the file hold exactly what waits."""
        if self._spool is None:
            return
        self._spool.parent.mkdir(parents=True, exist_ok=True)
        draft = self._spool.with_suffix(".draft")
        draft.touch(mode=0o600)
        draft.write_bytes(b"".join(_line(letter) for letter in self._waiting))
        draft.replace(self._spool)
        self._kept = len(self._waiting)


def _line(letter: Letter) -> bytes:
    data = base64.b64encode(letter.data).decode()
    return msgspec.json.encode({"subject": letter.subject, "id": letter.id, "data": data}) + b"\n"


def _read(spool: Path | None) -> list[Letter]:
    """The letters of a spool file; a last line that was not written to its end counts for nothing."""
    if spool is None or not spool.exists():
        return []
    letters = []
    for line in spool.read_bytes().split(b"\n")[:-1]:
        fields = msgspec.json.decode(line, type=dict[str, str])
        letters.append(Letter(fields["subject"], fields["id"], base64.b64decode(fields["data"])))
    return letters
