"""The traffic of an adapter and the service, read on the broker and recorded as lines that can be sent again."""

import asyncio
import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import api

from schemas.asks import Plan, TransformAsk
from services.kit.bus import Bus

INBOUND = "in."
WISHED = "do."
ASKED = f"ask.{TransformAsk.NAME}."
DELIVERED = "$JS.ACK."
"""What the broker hands on to a room awaits its acknowledgement there: it was published before."""
NOTHING = msgspec.Raw(b"null")


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of an adapter, in the order in which the broker got them."""

    subject: str
    payload: msgspec.Raw
    id: str = ""
    """Of a report: its `Nats-Msg-Id`."""
    reply: msgspec.Raw = NOTHING
    """Of a command and of a question: the answer, if there was one."""

    @property
    def is_inbound(self) -> bool:
        return self.subject.startswith(INBOUND)

    @property
    def is_asked(self) -> bool:
        return self.subject.startswith(ASKED)

    @property
    def is_answered(self) -> bool:
        return bytes(self.reply) != bytes(NOTHING)

    @property
    def status(self) -> str:
        """Of a question that was answered: how."""
        return msgspec.json.decode(self.reply, type=Plan).status if self.is_asked and self.is_answered else ""


class Tap:
    """Hears all of a broker for a while. What it heard is whole when it is closed."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._lines: list[Line] = []
        self._waiting: dict[str, int] = {}
        self._inbound: set[str] = set()
        self._subscription: Subscription | None = None
        self._last = bus.client.new_inbox()
        self._closing = asyncio.Event()

    @property
    def lines(self) -> Sequence[Line]:
        return tuple(self._lines)

    async def __aenter__(self) -> Self:
        # one subscription for all: between two the order would be lost
        self._subscription = await self._bus.client.subscribe(
            ">", cb=self._received, pending_msgs_limit=-1, pending_bytes_limit=-1
        )
        await self._bus.client.flush()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._subscription is not None and self._bus.connected:
            # the library's drain asks past what it has yet to send: a word of its own comes after all of that
            await self._bus.client.publish(self._last, b"")
            await self._closing.wait()
            await self._subscription.drain()  # type: ignore[no-untyped-call] # the library does not say its types

    async def _received(self, message: Msg) -> None:
        if message.subject == self._last:
            self._closing.set()
        elif message.subject in self._waiting:
            self._answered(self._waiting.pop(message.subject), message)
        elif message.reply.startswith(DELIVERED):
            return
        elif message.subject.startswith(INBOUND):
            self._keep_once(message)
        elif message.subject.startswith((WISHED, ASKED)):
            self._waiting[message.reply] = len(self._lines)
            self._lines.append(Line(message.subject, msgspec.Raw(message.data)))

    def _answered(self, index: int, message: Msg) -> None:
        if message.data:
            self._lines[index] = msgspec.structs.replace(self._lines[index], reply=msgspec.Raw(message.data))

    def _keep_once(self, message: Msg) -> None:
        """Record a report; an adapter sends it again where it got no confirmation."""
        name = (message.headers or {}).get(api.Header.MSG_ID.value, "")
        if name not in self._inbound:
            self._inbound.add(name)
            self._lines.append(Line(message.subject, msgspec.Raw(message.data), name))


def encoded(lines: Iterable[Line]) -> bytes:
    """Lines as JSON Lines."""
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def load(path: Path) -> list[Line]:
    """The lines of a recording."""
    return [msgspec.json.decode(line, type=Line) for line in gzip.decompress(path.read_bytes()).splitlines()]
