"""Appends to the log: each with the position that its decision was made at, and whole or not at all."""

import asyncio
import uuid
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from nats.errors import Error as NatsError
from nats.js import api

from schemas.codec import encode
from schemas.envelope import Envelope
from schemas.events import Event
from schemas.streams import MAX_BATCH
from schemas.subjects import Address
from services.domain.guards import Expectation, placed, placed_behind
from services.kit.bus.connection import FULL, STORE_FULL, Bus, TooLarge, Unreachable
from services.kit.bus.holes import REMEDY, newest_unreadable, spoken
from services.kit.bus.log import LogReader

WRONG_LAST_SEQUENCE = frozenset({10071, 10164})
DUPLICATE_IN_BATCH = 10201
WRONG_PREDECESSOR = 10070
PREDECESSOR = "Nats-Expected-Last-Msg-Id"
EXPECTED_FILTER = "Nats-Expected-Last-Subject-Sequence-Subject"
HEADER_BYTES = 2048
"""More than the headers of any append."""
FEW = 8
"""Up to so many events are published one by one, each a synced write. An atomic batch costs the broker 4 of these
and about 35 other operations on files, whatever its size: 2 ms of a processor."""
AT_ONCE = 16
"""The most decisions that go out next to each other, each alone: the broker has room for 50 batches of one stream."""
APPEND_TIMEOUT = 10.0
BATCH_BYTES = 8 * 1024 * 1024
UNCONFIRMED = "the broker has not confirmed it, or the connection broke"


class Conflict(Exception):
    """The log moved since the decision was made, or already holds it."""


class ForeignEvent(TypeError):
    """A room would append an event that is not among its `WRITES`: no decision of its own declares it."""


class Unconfirmed(Unreachable):
    """The broker does not say whether it has written what it was given: deciding again is right, and soon."""


class _Interrupted(Exception):
    """A message in the log does not follow directly on the one that it should follow."""


class _Ack(msgspec.Struct):
    """The broker's reply to a publish."""

    seq: int = 0
    duplicate: bool = False
    error: dict[str, object] | None = None


_acks = msgspec.json.Decoder(_Ack)


class _Message(NamedTuple):
    """One event as it is published, with what it expects of the log."""

    subject: str
    id: str
    data: bytes
    expected: Expectation | None = None

    def headers(self, more: Mapping[str, str]) -> dict[str, str]:
        headers = {api.Header.MSG_ID.value: self.id, **more}
        if self.expected is not None:
            headers[api.Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value] = str(self.expected.seq)
            if self.expected.filter != self.subject:
                headers[EXPECTED_FILTER] = self.expected.filter
        return headers


class _Decision:
    """Events of one address that stand or fall together."""

    def __init__(self, address: Address, messages: Sequence[_Message], expected: Mapping[str, int]) -> None:
        self.address = address
        self.done: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self.expected = expected
        self._subjects = [message.subject for message in messages]
        self.messages = _with(messages, placed(self._subjects, expected))

    def after(self, seqs: Sequence[int]) -> Sequence[_Message]:
        """The messages behind the events at these positions, each with the condition under which it may follow them."""
        condition = placed_behind(self._subjects, self.expected, seqs, self.address)
        return _with(self.messages[len(seqs) :], condition)

    def succeed(self, seqs: list[int]) -> None:
        if not self.done.done():
            self.done.set_result(seqs)

    def fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)


def _with(messages: Sequence[_Message], expected: Sequence[Expectation | None]) -> list[_Message]:
    return [message._replace(expected=one) for message, one in zip(messages, expected, strict=True)]


class Appender:
    """Appends decisions. What waits while the broker is busy goes out together: if it is much, as one atomic batch."""

    def __init__(self, bus: Bus, known: Path | None = None, *, writes: Collection[type[Event]] | None = None) -> None:
        """`known`: the file in which the rooms of a machine record that the newest block was found whole.

        `writes`: all events that may be appended, the `WRITES` of a room; None: whoever appends is no room.
        """
        self._bus = bus
        self._writes = None if writes is None else frozenset(event.TYPE for event in writes)
        self._known = known
        self._reader = LogReader(bus)
        self._waiting: list[_Decision] = []
        self._task: asyncio.Task[None] | None = None
        self.failure = ""
        """The reason why the newest append failed; empty: it did not, or the connection is a new one since."""
        bus.on_reconnect.append(self._reconnected)

    async def append(self, envelopes: Sequence[Envelope], expected: Mapping[str, int]) -> list[int]:
        """Append all of a decision's events, or raise `Conflict`; their positions.

        The events are of one address. `expected` maps filters to positions, no more of them than events: see
        `domain.guards`. A stale decision writes nothing. One of more than a batch, or of so few that they go out one
        by one, can be cut short by a crash, or by another writer of what it expects: then a beginning of it is
        written, and deciding again must yield the rest. Raises `ForeignEvent` for an event that another room writes.
        """
        if not envelopes:
            return []
        if self._writes is not None and (foreign := {one.type for one in envelopes} - self._writes):
            raise ForeignEvent(
                f"this room does not write {', '.join(sorted(foreign))}: name it in the result of what decides on it"
            )
        address = Address(envelopes[0].project, envelopes[0].session)
        decision = _Decision(address, [self._message(envelope) for envelope in envelopes], expected)
        try:
            await self.verify()
            self._waiting.append(decision)
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._flush())
            seqs = await decision.done
        except Unreachable as error:
            self.failure = str(error)
            raise
        self.failure = ""
        return seqs

    async def verify(self) -> None:
        """Raise `Unreachable` where the newest facts cannot be read back: what is written now would be lost with them.

        They are looked at once in the life of a connection, whoever asks.
        """
        bus = self._bus
        if bus.reading_back is None:
            bus.reading_back = asyncio.create_task(newest_unreadable(bus, self._known))
        reading = bus.reading_back
        try:
            found = await asyncio.shield(reading)
        except Unreachable as error:
            bus.reading_back = None if bus.reading_back is reading else bus.reading_back
            raise Unconfirmed(str(error)) from error
        if found:
            raise Unreachable(f"the log has newest facts that cannot be read ({spoken(found)}); {REMEDY}")

    async def _reconnected(self) -> None:
        """Forget the failure: the next decision shows whether the log can be written, and may be hours away."""
        self.failure = ""

    def _message(self, envelope: Envelope) -> _Message:
        data = encode(envelope)
        if len(data) + HEADER_BYTES > self._bus.max_payload:
            raise TooLarge(
                f"a {envelope.type} of {len(data)} bytes: the broker takes {self._bus.max_payload} with all headers"
            )
        return _Message(_subject(envelope), envelope.id, data)

    async def _flush(self) -> None:
        while self._waiting:
            group = _take(self._waiting)
            try:
                await self._write(group)
            except Exception as error:  # noqa: BLE001 - whatever it is belongs to those who wait for it
                for decision in group:
                    decision.fail(error)

    async def _write(self, group: list[_Decision]) -> None:
        if len(group) == 1:
            await self._settle(group[0])
            return
        alone = group if _count(group) <= FEW else await self._together(group)
        turns = asyncio.Semaphore(AT_ONCE)

        async def settle(decision: _Decision) -> None:
            async with turns:
                await self._settle(decision)

        settled = await asyncio.gather(*map(settle, alone), return_exceptions=True)
        for decision, failure in zip(alone, settled, strict=True):
            if isinstance(failure, Exception):
                decision.fail(failure)

    async def _together(self, group: list[_Decision]) -> list[_Decision]:
        """Append a group as one batch. Returned are those that are left: each of them goes out alone.

        The broker refuses a batch of which one decision is stale, and does not say which. That is read, which costs
        no write, so that the others go out together all the same: each alone would cost as much as the whole group.
        """
        with suppress(Conflict):
            await self._as_one(group)
            return []
        moved = await asyncio.gather(*map(self._moved_to, group))
        fresh = []
        for decision, seq in zip(group, moved, strict=True):
            if seq:
                decision.fail(Conflict(f"the log has moved on to position {seq}"))
            else:
                fresh.append(decision)
        if len(fresh) in (1, len(group)) or _count(fresh) <= FEW:
            return fresh
        with suppress(Conflict):
            await self._as_one(fresh)
            return []
        return fresh

    async def _as_one(self, group: Sequence[_Decision]) -> None:
        seqs = iter(await self._batch([message for one in group for message in one.messages]))
        for decision in group:
            self._succeed(decision, [next(seqs) for _ in decision.messages])

    async def _moved_to(self, decision: _Decision) -> int:
        """The position of a record that makes a decision stale; 0: there is none."""
        moved = [await self._reader.next_after(seq, [one]) for one, seq in decision.expected.items()]
        return max(moved, default=0)

    async def _settle(self, decision: _Decision) -> None:
        messages = decision.messages
        try:
            if len(messages) <= FEW:
                seqs = await self._one_by_one(decision)
            else:
                seqs = await self._batch(messages[:MAX_BATCH])
                while len(seqs) < len(messages):
                    seqs += await self._batch(decision.after(seqs)[:MAX_BATCH])
        except (Conflict, Unreachable) as error:
            decision.fail(error)
        else:
            self._succeed(decision, seqs)

    def _succeed(self, decision: _Decision, seqs: list[int]) -> None:
        for seq, message in zip(seqs, decision.messages, strict=True):
            self._bus.trail.note(seq, message.id)
        decision.succeed(seqs)

    async def _one_by_one(self, decision: _Decision) -> list[int]:
        """Publish in order without waiting between them, each only directly behind the one before.

        So what is written is always a beginning of the decision, and deciding again mends a cut. Where others
        write in between, the rest goes out as a batch.
        """
        requests = []
        before = ""
        for message in decision.messages:
            headers = message.headers({PREDECESSOR: before} if before else {})
            requests.append(asyncio.create_task(self._request(message, headers)))
            before = message.id
        seqs: list[int] = []
        for reply in await asyncio.gather(*requests, return_exceptions=True):
            if isinstance(reply, _Interrupted):
                return seqs + await self._batch(decision.after(seqs))
            if isinstance(reply, BaseException):
                raise reply
            seqs.append(reply.seq)
        return seqs

    async def _request(self, message: _Message, headers: dict[str, str]) -> _Ack:
        """Publish one message and wait for its confirmation; `Conflict` if the log has moved or holds it already."""
        try:
            reply = await self._bus.client.request(
                message.subject, message.data, timeout=APPEND_TIMEOUT, headers=headers
            )
        except NatsError as error:
            raise Unconfirmed(UNCONFIRMED) from error
        ack = _acks.decode(reply.data)
        if ack.error is not None:
            _refused(ack.error.get("err_code"), ack.error.get("description"))
        if ack.duplicate:
            raise Conflict("already in the log")
        return ack

    async def _batch(self, messages: Sequence[_Message]) -> list[int]:
        batch_id = uuid.uuid4().hex
        for number, message in enumerate(messages[:-1], 1):
            headers = message.headers({"Nats-Batch-Id": batch_id, "Nats-Batch-Sequence": str(number)})
            try:
                await self._bus.client.publish(message.subject, message.data, headers=headers)
            except NatsError as error:
                raise Unconfirmed(UNCONFIRMED) from error
        commit = {"Nats-Batch-Id": batch_id, "Nats-Batch-Sequence": str(len(messages)), "Nats-Batch-Commit": "1"}
        ack = await self._request(messages[-1], messages[-1].headers(commit))
        return list(range(ack.seq - len(messages) + 1, ack.seq + 1))


def _take(waiting: list[_Decision]) -> list[_Decision]:
    """The decisions that go out together: as many as one batch holds, at least one.

    No two of one address: the broker does not count what a batch writes itself, and would let both pass.
    """
    group = [waiting.pop(0)]
    addresses, count, size = {group[0].address}, len(group[0].messages), _size(group[0])
    while waiting and waiting[0].address not in addresses:
        count += len(waiting[0].messages)
        size += _size(waiting[0])
        if count > MAX_BATCH or size > BATCH_BYTES:
            break
        addresses.add(waiting[0].address)
        group.append(waiting.pop(0))
    return group


def _count(group: Sequence[_Decision]) -> int:
    return sum(len(decision.messages) for decision in group)


def _size(decision: _Decision) -> int:
    return sum(len(message.data) for message in decision.messages)


def _subject(envelope: Envelope) -> str:
    return Address(envelope.project, envelope.session).log(envelope.type)


def _refused(code: object, description: object) -> None:
    if code in WRONG_LAST_SEQUENCE or code == DUPLICATE_IN_BATCH:
        raise Conflict(str(description))
    if code == WRONG_PREDECESSOR:
        raise _Interrupted
    if code == STORE_FULL:
        raise Unreachable(FULL)
    raise Unreachable(f"the broker refused an append: {description} ({code})")
