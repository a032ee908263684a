"""An endless pull from a durable consumer: requests overlap, and never more is under way than is wanted."""

import asyncio
import json
from collections.abc import Awaitable, Callable

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from services.kit.bus.connection import BrokerError, Bus
from services.kit.logs import logger

EXPIRES = 20.0
HEARTBEAT = 5.0
SILENCE = 3 * HEARTBEAT
NANOSECONDS = 1_000_000_000
CONTROL_HEARTBEAT = "100"
NO_RESPONDERS = "503"
PAUSE = 0.5
"""Seconds before pulling anew where the broker or the consumer went away."""
GONE = ("Consumer Deleted", "Consumer is push based", "Server Shutdown", "Leadership Change")

Delivery = Msg


class Pull:
    """Hands each message to `deliver`; the receiver says `finished` when it has room for more."""

    def __init__(
        self,
        bus: Bus,
        stream: str,
        durable: str,
        *,
        credit: int,
        deliver: Callable[[Msg], None],
        make: Callable[[], Awaitable[None]] | None = None,
        rewind: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`rewind` puts the consumer where its reader wants to go on, before each new beginning.

        `make` makes the consumer where someone has deleted it.
        """
        self._bus = bus
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{durable}"
        self._credit = credit
        self._deliver = deliver
        self._make = make
        self._rewind = rewind
        self._beginning = asyncio.Lock()
        self._requested = 0
        self._unfinished = 0
        self._inbox = ""
        self._subscription: Subscription | None = None
        self._stopped = False
        self._received_at = 0.0
        self._watch: asyncio.Task[None] | None = None
        self._repairing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._bus.on_reconnect.append(self._reconnected)
        self._watch = asyncio.create_task(self._guard())
        await self.restart()

    async def restart(self) -> None:
        """Begin with a new inbox: what older requests still deliver cannot reach us, the broker sends it again."""
        async with self._beginning:
            if self._stopped:
                return
            await self._disconnect()
            if self._rewind is not None:
                await self._rewind()
                self._unfinished = 0
            self._requested = 0
            self._received_at = asyncio.get_running_loop().time()
            self._inbox = self._bus.client.new_inbox()
            self._subscription = await self._bus.client.subscribe(
                self._inbox, cb=self._arrived, pending_msgs_limit=-1, pending_bytes_limit=-1
            )
            await self._ask()

    async def _disconnect(self) -> None:
        old, self._subscription = self._subscription, None
        if old is not None and self._bus.connected:
            await old.unsubscribe()

    async def stop(self) -> None:
        """Ask for nothing more. What is in hand stays with its receiver."""
        self._stopped = True
        for task in (self._watch, self._repairing):
            if task is not None:
                task.cancel()
        if self._reconnected in self._bus.on_reconnect:
            self._bus.on_reconnect.remove(self._reconnected)
        await self._disconnect()

    def finished(self, count: int) -> None:
        """The receiver is done with so many messages."""
        self._unfinished -= count
        if not self._stopped and self._room() >= self._credit // 2:
            task = asyncio.ensure_future(self._ask())
            task.add_done_callback(_report)

    def resumed(self, count: int) -> None:
        """The receiver goes on with so many messages that it had reported as finished for the time being."""
        self._unfinished += count

    def _room(self) -> int:
        return self._credit - self._requested - self._unfinished

    async def _ask(self) -> None:
        room = self._room()
        if room <= 0 or not self._bus.connected or self._subscription is None:
            return
        self._requested += room
        request = {
            "batch": room,
            "expires": int(EXPIRES * NANOSECONDS),
            "idle_heartbeat": int(HEARTBEAT * NANOSECONDS),
        }
        await self._bus.client.publish(self._subject, json.dumps(request).encode(), reply=self._inbox)

    async def _arrived(self, message: Msg) -> None:
        self._received_at = asyncio.get_running_loop().time()
        status = (message.headers or {}).get("Status") if not message.reply else None
        if status is None:
            self._requested = max(0, self._requested - 1)
            self._unfinished += 1
            self._deliver(message)
            return
        if status == CONTROL_HEARTBEAT:
            return
        headers = message.headers or {}
        description = headers.get("Description", "")
        if status == NO_RESPONDERS or any(reason in description for reason in GONE):
            logger().warning("pull interrupted", reason=description or "no such consumer")
            self._repair()
            return
        self._requested = max(0, self._requested - int(headers.get("Nats-Pending-Messages", self._requested)))
        await self._ask()

    async def _guard(self) -> None:
        """Begin anew when nothing was heard, not even a heartbeat."""
        while True:
            await asyncio.sleep(HEARTBEAT)
            silent = asyncio.get_running_loop().time() - self._received_at
            if self._bus.connected and self._requested > 0 and silent > SILENCE:
                logger().warning("no heartbeat, pulling anew", seconds=round(silent, 1))
                self._repair()

    async def _reconnected(self) -> None:
        try:
            await self.restart()
        except BrokerError as error:
            logger().warning("could not pull yet", reason=str(error) or type(error).__name__)
            self._repair()

    def _repair(self) -> None:
        """Pull anew after a while, and again until it works."""
        if not self._stopped and (self._repairing is None or self._repairing.done()):
            self._repairing = asyncio.create_task(self._repair_slowly())

    async def _repair_slowly(self) -> None:
        while True:
            await asyncio.sleep(PAUSE)
            if not self._bus.connected:
                return  # it begins anew when the connection is back
            if await self._bus.has_another_log():
                return  # what was deleted came back from a copy
            try:
                if self._make is not None:
                    await self._make()
                await self.restart()
            except BrokerError as error:
                logger().warning("could not pull yet", reason=str(error) or type(error).__name__)
            else:
                return


def _report(task: "asyncio.Future[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger().warning("a pull request failed", error=str(error))
