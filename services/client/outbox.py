"""The outbox: what is said leaves in order; what the broker cannot take now waits on disk."""

import asyncio
import base64
from collections import deque
from pathlib import Path

import msgspec

from services.kit.bus import Bus, TooLarge

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
        self._spooled = bool(self._waiting)
        self._settle()
        self._task = asyncio.create_task(self._send_for_ever())

    def put(self, letter: Letter) -> None:
        """Take a letter; it never waits for the broker. Raises `TooLarge` for one that no broker of ours takes."""
        if len(letter.data) > self._bus.max_payload:
            raise TooLarge(f"{letter.id} has {len(letter.data)} bytes, the broker takes {self._bus.max_payload}")
        self._waiting.append(letter)
        self._settle()
        if not self._bus.connected:
            self._write()

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
            confirmed = await self._send(letters)
            for _ in range(confirmed):
                self._waiting.popleft()
            self._settle()
            if confirmed < len(letters):
                self._write()
                await asyncio.sleep(RETRY)
            elif not self._waiting and self._spooled:
                self._write()

    async def _send(self, letters: list[Letter]) -> int:
        """Publish them in order; how many were confirmed before the first that was not."""
        sent = [asyncio.create_task(self._bus.publish(one.subject, one.data, one.id)) for one in letters]
        answers = await asyncio.gather(*sent, return_exceptions=True)
        return next((index for index, answer in enumerate(answers) if isinstance(answer, BaseException)), len(answers))

    def _settle(self) -> None:
        if self._waiting:
            self._more.set()
            self._empty.clear()
        else:
            self._more.clear()
            self._empty.set()

    def _write(self) -> None:
        """Make the file hold exactly what waits."""
        if self._spool is None:
            return
        self._spool.parent.mkdir(parents=True, exist_ok=True)
        draft = self._spool.with_suffix(".draft")
        draft.write_bytes(b"\n".join(_line(letter) for letter in self._waiting))
        draft.replace(self._spool)
        self._spooled = bool(self._waiting)


def _line(letter: Letter) -> bytes:
    return msgspec.json.encode({"subject": letter.subject, "id": letter.id, "data": base64.b64encode(letter.data).decode()})


def _read(spool: Path | None) -> list[Letter]:
    if spool is None or not spool.exists():
        return []
    letters = []
    for line in spool.read_bytes().splitlines():
        fields = msgspec.json.decode(line, type=dict[str, str])
        letters.append(Letter(fields["subject"], fields["id"], base64.b64decode(fields["data"])))
    return letters
