"""A connection to the broker that comes back by itself, with the streams made where they are missing."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Self

from msgspec import to_builtins
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import (
    ConnectionClosedError,
    ConnectionReconnectingError,
    MaxPayloadError,
    NoRespondersError,
    StaleConnectionError,
)
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext, api
from nats.js.errors import NotFoundError, ServerError, ServiceUnavailableError

from schemas.codec import derived_id
from schemas.subjects import dead
from services.domain.secrets import mask
from services.kit.bus import layout
from services.kit.bus.asker import INBOXES, client_of, current_client, may_answer
from services.kit.bus.client import BusClient
from services.kit.bus.marks import marks
from services.kit.bus.permission import refused_subject, sentence
from services.kit.logs import logger
from services.kit.retry import retrying
from services.kit.same_log import Difference, Trail, compare_marks
from services.kit.surroundings import explained_by
from services.kit.within import within

RECONNECT_WAIT = 0.2
RESTART = 5.0
"""Seconds in which a request of a person's command is sent again: a room, or the broker, is back within 0.3 to 3."""
GRACE = 5.0
"""Seconds for the answers in hand when the connection is closed."""
REMEDY = "start one with `annals up`, or set ANNALS_NATS__URL and ANNALS_NATS__PASSWORD"
PING = 10.0
"""Seconds between two signs of life that are asked of the broker. Two that do not come break the connection."""
STORE_FULL = 10023
"""The broker's code for a message that it has no room for."""
FULL = "the broker has no room for more: make room on its disk (`annals doctor` says more)"
STATE_OF_CONSUMER = 10012
"""The broker's code for a consumer whose position on disk is not what it has written."""
MAX_REASON = 500
"""Characters of a dead letter's reason."""


class Unreachable(ConnectionError):
    """The broker, or whoever should answer, is not there; says what to try."""


class NoResponder(Unreachable):
    """Nobody serves a subject at this moment, though the broker is there: that room is not open yet, or has ended."""


class BrokenConnection(Unreachable):
    """The connection broke before the answer came: whoever was asked may have done it, or not."""


class NotAdmitted(Unreachable):
    """The broker asks for another user or password; says which setting to look at."""


class NotAllowed(Unreachable, NatsError):
    """The broker does not let this user do that; says who may. Whoever waits for an answer of the broker gets it."""


class TooLarge(ValueError):
    """A message above the broker's limit; says what to do with it."""


class Lag(NamedTuple):
    """The lag of a consumer: messages it was not given yet, and those it has not acknowledged."""

    waiting: int
    in_hand: int


Handler = Callable[[str, bytes], Awaitable[bytes]]
BrokerError = NatsError


class Bus:
    """One process's connection."""

    def __init__(self, client: BusClient) -> None:
        self.client = client
        self.js: JetStreamContext = client.jetstream(timeout=5, publish_async_max_pending=256)
        self.on_reconnect: list[Callable[[], Awaitable[None]]] = []
        self.reading_back: asyncio.Task[tuple[int, ...]] | None = None
        """The task that finds unreadable positions of the newest block, before anything is appended behind them."""
        self.forbidden = asyncio.Event()
        self.lost = asyncio.Event()
        """Set when the connection is over for good: nothing restores it, or another log is in its place."""
        self.trail = Trail()
        """The positions of the log that this process has read and written."""
        self.patience = 0.0
        """Seconds in which a request is sent again where nobody is there to answer it; 0: it is sent once."""
        self.user = ""
        """The user as whom it is connected; empty for one without a password."""
        self._created: datetime | None = None
        self._served: list[tuple[Subscription, set[asyncio.Task[None]]]] = []
        self._entering = True

    @classmethod
    async def connect(
        cls,
        url: str,
        name: str,
        *,
        user: str = "",
        password: str = "",
        wait: float = 10.0,
        is_patient: bool = False,
    ) -> Self:
        """Connect within `wait` seconds. Afterwards the connection is restored for as long as the process lives.

        `is_patient`: for a person's command, which waits for a room or a broker that is started again. Whatever it
        sends must mean the same when it comes twice: a question, or a command under its own id.
        """
        client = BusClient()
        bus = cls(client)
        bus.patience = RESTART if is_patient else 0.0
        bus.user = user if password else ""
        admission: dict[str, Any] = {"user": user, "password": password} if password else {}
        try:
            connecting = client.connect(
                url,
                name=name,
                reconnect_time_wait=RECONNECT_WAIT,  # type: ignore[arg-type] # a part of a second will do
                max_reconnect_attempts=-1,
                ping_interval=PING,  # type: ignore[arg-type] # a part of a second will do
                max_outstanding_pings=2,
                pending_size=64 * 1024 * 1024,
                allow_reconnect=True,
                error_cb=bus._error,
                disconnected_cb=bus._disconnected,
                reconnected_cb=bus._reconnected,
                closed_cb=bus._closed,
                **admission,
            )
            await within(wait, connecting)
        except NotAdmitted as error:
            await client.close()
            who = f"user {user!r} with this password" if password else "a connection without a password"
            raise NotAdmitted(
                f"the broker at {without_password(url)} refuses {who}; set ANNALS_NATS__PASSWORD to what it expects"
            ) from error
        except (TimeoutError, NatsError, OSError) as error:
            where = f"{without_password(url)} ({_why(error, wait)})"
            raise Unreachable(f"no broker answers at {where}; {REMEDY}") from error
        bus._entering = False
        return bus

    async def _error(self, error: Exception) -> None:
        """A permission is refused only here: whoever waits for the answer gets the refusal, else it is logged."""
        if "permissions violation" in str(error).lower():
            self.forbidden.set()
            subject = refused_subject(str(error))
            if not self.client.refuse(subject, NotAllowed(sentence(self.user, subject))):
                remedy = "check the user's permissions in nats.conf"
                logger().error("the broker refuses", error=str(error), remedy=remedy)
        elif self._entering and "authorization violation" in str(error).lower():
            raise NotAdmitted from error  # trying again would not help: it ends the attempt to connect
        elif not isinstance(error, ConnectionError | OSError):
            logger().warning("broker", error=str(error) or type(error).__name__)

    async def _disconnected(self) -> None:
        self.trail.is_closed = True
        await self.client.drop_requests()

    async def _reconnected(self) -> None:
        logger().info("reconnected")
        if await self.has_another_log() or not self.connected:
            return
        self.trail.is_closed = False
        for callback in self.on_reconnect:
            await callback()

    async def has_another_log(self) -> bool:
        """Whether the broker has not the log that this process knows, as far as it can be seen: then all is over."""
        while self._created is not None and self.connected:
            try:
                found = await self._difference(self._created)
            except (NatsError, TimeoutError) as error:
                reason = _away(error) or "the broker did not answer in time"
                logger().warning("it cannot be seen yet which log the broker has", reason=reason)
                await asyncio.sleep(RECONNECT_WAIT)
                continue
            if found is not None:
                logger().error(f"the broker has another log than before: {found.reason}", **to_builtins(found))
                self.lost.set()
            break
        return self.lost.is_set()

    async def _difference(self, created: datetime) -> Difference | None:
        known, through = self.trail.marks, self.trail.through  # what comes while the log is looked at is not in its end
        now = await layout.log(self.js)
        if now.created != created:
            return Difference(through, 0, now.end)
        return compare_marks(known, through, now.end, await marks(self.client, (mark.seq for mark in known)))

    async def _closed(self) -> None:
        self.lost.set()

    @property
    def connected(self) -> bool:
        return bool(self.client.is_connected)

    @property
    def max_payload(self) -> int:
        return int(self.client.max_payload)

    async def close(self) -> None:
        """Finish the answers in hand, send what is buffered, then disconnect. Where the broker is gone, just end."""
        try:
            if self.client.is_connected:
                await self._finish_answers()
                await self.client.drain()
            else:
                await self.client.close()
        except (NatsError, OSError, RuntimeError) as error:  # the last: the loop's, of a connection that is closed
            logger().info("the broker was gone before the connection was closed", reason=_reason(error))

    async def _finish_answers(self) -> None:
        for subscription, running in self._served:
            await subscription.drain()  # type: ignore[no-untyped-call]
            if running:
                await asyncio.wait(running, timeout=GRACE)

    async def ensure(self) -> None:
        """Make the streams and buckets that are missing; those that exist stay as they are.

        Raises `Unreachable` where an erasure was cut off.
        """
        try:
            await layout.ensure(self.js)
        except layout.HalfErased as error:
            raise Unreachable(str(error)) from error
        log = await layout.log(self.js)
        for mark in (await marks(self.client, (log.end,))).values():
            self.trail.note(mark.seq, mark.id, mark.stored)
        self._created = log.created

    async def make_log(self) -> None:
        """Make the log where it is missing, for an erasure that fills it."""
        await layout.ensure_log(self.js)

    async def consumer(
        self,
        stream: str,
        durable: str,
        *,
        ack_wait: float,
        max_ack_pending: int,
        ack_all: bool = False,
        filters: Sequence[str] = (),
        newest: bool = False,
    ) -> None:
        """Make a durable consumer, or find it as it is: of these subjects, or of a whole stream.

        `ack_all`: one acknowledgement counts for all before. `newest`: of what is there already it gets the last
        message of each subject only. `max_ack_pending`: -1 is without limit.
        """
        config = api.ConsumerConfig(
            durable_name=durable,
            deliver_policy=api.DeliverPolicy.LAST_PER_SUBJECT if newest else api.DeliverPolicy.ALL,
            ack_policy=api.AckPolicy.ALL if ack_all else api.AckPolicy.EXPLICIT,
            ack_wait=ack_wait,
            max_ack_pending=max_ack_pending,
            filter_subjects=list(filters) or None,
        )
        try:
            await self.js.add_consumer(stream, config)
        except ServerError as error:
            if error.err_code != STATE_OF_CONSUMER or "store" not in str(error.description):
                raise
            raise Unreachable(
                f"the broker cannot read how far its reader {durable!r} is in the stream {stream}, and makes it anew "
                f"once its files are gone: run `annals down`, delete the folder streams/{stream}/obs/{durable} below "
                "`jetstream` of the data directory, then run `annals up`; nothing is decided twice"
            ) from error

    async def rewind(self, stream: str, durable: str, seq: int | None = None) -> None:
        """Let a consumer go on at this position; without one, at the first message that is not acknowledged."""
        await self.js.reset_consumer(stream, durable, seq=seq)

    async def lag(self, stream: str, durable: str) -> Lag | None:
        """The distance of a consumer from the end of its stream; None where there is no such consumer."""
        try:
            info = await self.js.consumer_info(stream, durable)
            newest = await self.newest(stream, info.config.filter_subjects or ())
        except NotFoundError:
            return None
        waiting = int(info.num_pending or 0)
        if info.delivered is not None and info.delivered.stream_seq < newest:
            waiting = max(waiting, 1)  # a consumer counts a message a moment after it was confirmed
        return Lag(waiting, int(info.num_ack_pending or 0))

    async def settled(self, stream: str, durable: str) -> int:
        """The position up to which a consumer has acknowledged all that it was given; 0 where there is none."""
        try:
            floor = (await self.js.consumer_info(stream, durable)).ack_floor
        except NotFoundError:
            return 0
        return int(floor.stream_seq or 0) if floor is not None else 0

    async def settled_by_all(self, stream: str) -> int:
        """The position up to which all consumers of a stream have acknowledged everything; 0 where it has none."""
        try:
            consumers = await self.js.consumers_info(stream)
        except NotFoundError:
            return 0
        return min((int(one.ack_floor.stream_seq or 0) if one.ack_floor else 0 for one in consumers), default=0)

    async def newest(self, stream: str, filters: Sequence[str] = ()) -> int:
        """The position of the newest message on these subjects, or of all; 0: there is none."""
        if not filters:
            state = (await self.js.stream_info(stream)).state
            return int(state.last_seq) if state.messages else 0
        found = [0]
        for subject in filters:
            with contextlib.suppress(NotFoundError):
                found.append(int((await self.js.get_last_msg(stream, subject)).seq or 0))
        return max(found)

    async def messages(self, stream: str) -> int:
        """The number of messages in a stream; 0 where there is none."""
        try:
            return int((await self.js.stream_info(stream)).state.messages)
        except NotFoundError:
            return 0

    async def dead_letter(self, room: str, stream: str, message: Msg, reason: str) -> None:
        """Keep a message that cannot be delivered, once and without secrets, with where it came from and why.

        Of a body that leaves no room for these headers the beginning is copied; its stream still has all of it.
        """
        position = message.metadata.sequence.stream
        headers = {
            api.Header.MSG_ID.value: derived_id("dead", room, stream, str(position)),
            "Annals-Reason": " ".join(mask(reason).split())[:MAX_REASON],
            "Annals-Subject": message.subject,
            "Annals-Sequence": str(position),
        }
        data = mask(message.data.decode(errors="surrogateescape")).encode(errors="surrogateescape")
        if len(data) + _header_bytes(headers) > self.max_payload:
            headers["Annals-Bytes"] = str(len(data))
            data = data[: self.max_payload - _header_bytes(headers)]
        await self.js.publish(dead(room), data, headers=headers)

    def too_large(self, data: bytes, message_id: str) -> bool:
        """Whether the broker would disconnect its sender; it counts the headers, too."""
        return len(data) + _header_bytes({api.Header.MSG_ID.value: message_id}) > self.max_payload

    async def publish(self, subject: str, data: bytes, message_id: str) -> int:
        """Publish to a stream and wait until it is on disk; the sequence. The same id again gives the same sequence."""
        if self.too_large(data, message_id):
            raise TooLarge(
                f"{len(data)} bytes for {subject}: the broker takes {self.max_payload} with all headers; "
                "send long bodies through the bucket of inbound bodies, or in pieces",
            )
        try:
            ack = await self.js.publish(subject, data, headers={api.Header.MSG_ID.value: message_id})
        except NotAllowed:
            raise
        except (NatsTimeoutError, ServiceUnavailableError, NatsError) as error:
            raise Unreachable(f"the broker did not take {subject}: {why_not_stored(error)}") from error
        return int(ack.seq)

    async def request(self, subject: str, data: bytes, timeout: float) -> bytes:  # noqa: ASYNC109 - it is sent along
        """Ask one of those who serve this subject. Raises `Unreachable`, or `TooLarge`."""
        if not self.patience:
            return await self._requested(subject, data, timeout)
        broken: BrokenConnection | None = None
        async for attempt in retrying(NoResponder, BrokenConnection, seconds=self.patience):
            with attempt:
                try:
                    return await self._requested(subject, data, timeout)
                except BrokenConnection as error:
                    broken = error
                    raise
                except NoResponder as error:
                    if broken is None:
                        raise
                    raise broken from error  # an earlier attempt may have been heard
        raise AssertionError("the last attempt raises its error")

    async def _requested(self, subject: str, data: bytes, timeout: float) -> bytes:  # noqa: ASYNC109 - as above
        try:
            reply = await self.client.request(subject, data, timeout=timeout)
        except NoRespondersError as error:
            raise NoResponder(f"nobody serves {subject}; `annals status` lists which rooms run") from error
        except MaxPayloadError as error:
            raise TooLarge(
                f"what was given makes a message of {len(data):,} bytes, and the broker takes {self.max_payload:,}: "
                "give less of it"
            ) from error
        except NotAllowed:
            raise
        except (ConnectionReconnectingError, ConnectionClosedError, StaleConnectionError) as error:
            raise BrokenConnection(f"the connection broke before {subject} was answered; try again") from error
        except (NatsTimeoutError, NatsError) as error:
            why = "the connection broke" if not isinstance(error, NatsTimeoutError) else f"for {timeout:g} s"
            raise Unreachable(f"no answer on {subject} ({why}); `annals status` lists which rooms run") from error
        return bytes(reply.data)

    async def follow(self, subject: str, heard: Callable[[str], None]) -> None:
        """Call `heard` with the subject of each message that is published from now on, as soon as the broker has it.

        It is reported once at most, and not while the connection is away.
        """

        async def arrived(message: Msg) -> None:
            heard(message.subject)

        await self.client.subscribe(subject, cb=arrived)

    async def serve(self, subject: str, queue: str, handler: Handler) -> None:
        """Answer requests, many at once; of several processes with one queue name each request reaches one.

        A request whose reply subject is no inbox is passed over, see `may_answer`.
        """
        running: set[asyncio.Task[None]] = set()

        async def answer(message: Msg) -> None:
            if not may_answer(message.reply):
                remedy = f"let the client use an inbox that begins with {INBOXES[0]}"
                logger().warning("not answered", subject=message.subject, reply=message.reply[:200], remedy=remedy)
                return
            current_client.set(client_of(message.reply))
            reply = await handler(message.subject, message.data)
            try:
                await message.respond(reply)
            except NatsError as error:  # whoever asked has no answer, and asks again
                logger().info("an answer could not be sent", subject=message.subject, reason=_reason(error))

        async def arrived(message: Msg) -> None:
            task = asyncio.create_task(answer(message))
            running.add(task)
            task.add_done_callback(running.discard)

        self._served.append((await self.client.subscribe(subject, queue=queue, cb=arrived), running))
        await self.client.flush()  # from here on requests reach us


@explained_by
def _away(error: BaseException) -> str:
    """Whether the broker has not answered, or whoever should answer through it."""
    if isinstance(error, Unreachable):
        return str(error)
    if isinstance(error, NatsError):
        return f"the broker did not answer, as while it is started again: {_reason(error)}"
    return ""


def why_not_stored(error: Exception) -> str:
    """The reason why the broker has not stored what it was given, with a remedy where one is known."""
    return FULL if getattr(error, "err_code", None) == STORE_FULL else _reason(error)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _header_bytes(headers: Mapping[str, str]) -> int:
    """The size of headers on the wire: a first line, `name: value` lines, an empty line."""
    return len(b"NATS/1.0\r\n\r\n") + sum(len(f"{name}: {value}\r\n".encode()) for name, value in headers.items())


def _why(error: Exception, wait: float) -> str:
    """The reason why an attempt to connect failed, in words: without the system's number, or the client's prefix."""
    if isinstance(error, TimeoutError):
        return f"for {wait:g} s"
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return words.removeprefix("nats: ") or "it gives no reason"


def without_password(url: str) -> str:
    """The address of a broker without the user and the password in it."""
    scheme, separator, rest = url.partition("://") if "://" in url else ("", "", url)
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"
