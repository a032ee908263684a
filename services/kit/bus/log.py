"""The log: read to its head, append to it with the position that the decision was made at."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from nats.errors import Error as NatsError
from nats.js import api
from nats.js.errors import APIError

from schemas.codec import decode_envelope, encode
from schemas.envelope import Envelope
from schemas.streams import LOG, MAX_BATCH
from schemas.subjects import Address
from services.kit.bus.connection import Bus, Unreachable

WRONG_LAST_SEQUENCE = frozenset({10071, 10164})
DUPLICATE_IN_BATCH = 10201
READ_BATCH = 512
FEW = 8
"""Up to so many events are published one by one: an atomic batch costs the broker about 4 ms, whatever its size."""
APPEND_TIMEOUT = 10.0
BATCH_BYTES = 8 * 1024 * 1024


class Conflict(Exception):  # noqa: N818 - not an error: the log has moved on, decide again
    """The log moved since the decision was made, or already holds it."""


class Recorded(NamedTuple):
    """One envelope with the subject it was read from."""

    subject: str
    envelope: Envelope


class _Ack(msgspec.Struct):
    """The broker's reply to a publish."""

    seq: int = 0
    duplicate: bool = False
    error: dict[str, object] | None = None


_acks = msgspec.json.Decoder(_Ack)


class LogReader:
    """Reads stretches of the log by subject filter."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def head(self) -> int:
        """The newest position of the whole log."""
        info = await self._bus.js.stream_info(LOG.name)
        return int(info.state.last_seq)

    async def after(self, seq: int, subject_filter: str) -> AsyncIterator[Recorded]:
        """What the log holds behind `seq` on these subjects, to its head, in order."""
        while True:
            pending = 0
            async for recorded, pending in self._page(seq + 1, subject_filter):
                seq = recorded.envelope.seq
                yield recorded
            if not pending:
                return

    async def _page(self, start: int, subject_filter: str) -> AsyncIterator[tuple[Recorded, int]]:
        client = self._bus.client
        inbox = client.new_inbox()
        sub = await client.subscribe(inbox, pending_msgs_limit=2 * READ_BATCH, pending_bytes_limit=-1)
        request = json.dumps({"seq": start, "batch": READ_BATCH, "next_by_subj": subject_filter}).encode()
        try:
            await client.publish(f"$JS.API.DIRECT.GET.{LOG.name}", request, reply=inbox)
            while True:
                message = await sub.next_msg(timeout=5)
                headers = message.headers or {}
                if "Status" in headers:
                    return
                envelope = decode_envelope(message.data)
                envelope = msgspec.structs.replace(envelope, seq=int(headers["Nats-Sequence"]))
                yield Recorded(headers["Nats-Subject"], envelope), int(headers["Nats-Num-Pending"])
        except NatsError as error:
            raise Unreachable(f"the log could not be read: {error or type(error).__name__}") from error
        finally:
            await sub.unsubscribe()

    async def at(self, seq: int) -> Envelope | None:
        """The fact at this position."""
        try:
            message = await self._bus.js.get_msg(LOG.name, seq=seq, direct=True)
        except APIError:
            return None
        return msgspec.structs.replace(decode_envelope(message.data or b""), seq=seq)


class _Decision(NamedTuple):
    """Events that stand or fall together, and the positions their subjects were last seen at."""

    envelopes: Sequence[Envelope]
    expected: Mapping[str, int]
    done: asyncio.Future[list[int]]


class Appender:
    """Appends decisions. What waits while the broker is busy goes out together, as one atomic batch."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._waiting: list[_Decision] = []
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def append(self, envelopes: Sequence[Envelope], expected: Mapping[str, int]) -> list[int]:
        """Append all of a decision's events, or none and raise `Conflict`; their positions.

        `expected` maps a subject to the position of its newest event when the decision was made. Events over the
        size of one batch go out in several, in order: such a decision must be safe when it is cut in half.
        """
        if not envelopes:
            return []
        decision = _Decision(envelopes, expected, asyncio.get_running_loop().create_future())
        self._waiting.append(decision)
        self._wake.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._flush())
        return await decision.done

    async def _flush(self) -> None:
        while self._waiting:
            group = _take(self._waiting)
            try:
                await self._write(group)
            except Exception as error:  # noqa: BLE001 - whatever it is belongs to those who wait for it
                for decision in group:
                    if not decision.done.done():
                        decision.done.set_exception(error)

    async def _write(self, group: list[_Decision]) -> None:
        if len(group) > 1:
            try:
                seqs = iter(await self._batch([pair for one in group for pair in _with_expectations(one)]))
            except Conflict:
                for decision in group:
                    await self._settle(decision)
            else:
                for decision in group:
                    decision.done.set_result([next(seqs) for _ in decision.envelopes])
            return
        await self._settle(group[0])

    async def _settle(self, decision: _Decision) -> None:
        pairs = _with_expectations(decision)
        try:
            if len(pairs) <= FEW:
                seqs = await self._one_by_one(pairs)
            else:
                seqs = []
                for start in range(0, len(pairs), MAX_BATCH):
                    seqs += await self._batch(pairs[start : start + MAX_BATCH])
        except (Conflict, Unreachable) as error:
            decision.done.set_exception(error)
        else:
            decision.done.set_result(seqs)

    async def _one_by_one(self, pairs: list[tuple[Envelope, dict[str, str]]]) -> list[int]:
        """Publish in order without waiting between them. A cut in the middle is mended by deciding again."""
        requests = [
            asyncio.create_task(self._request(_subject(envelope), encode(envelope), headers))
            for envelope, headers in pairs
        ]
        replies = await asyncio.gather(*requests, return_exceptions=True)
        failures = [reply for reply in replies if isinstance(reply, BaseException)]
        if failures:
            raise failures[0]
        return [reply.seq for reply in replies if isinstance(reply, _Ack)]

    async def _request(self, subject: str, data: bytes, headers: dict[str, str]) -> _Ack:
        """Publish one message and wait for its confirmation; `Conflict` if the log has moved or holds it already."""
        try:
            reply = await self._bus.client.request(subject, data, timeout=APPEND_TIMEOUT, headers=headers)
        except NatsError as error:
            raise Unreachable(f"the broker did not confirm an append: {type(error).__name__}") from error
        ack = _acks.decode(reply.data)
        if ack.error is not None:
            _refused(ack.error.get("err_code"), ack.error.get("description"))
        if ack.duplicate:
            raise Conflict("already in the log")
        return ack

    async def _batch(self, pairs: list[tuple[Envelope, dict[str, str]]]) -> list[int]:
        batch_id = uuid.uuid4().hex
        for number, (envelope, headers) in enumerate(pairs, 1):
            headers |= {"Nats-Batch-Id": batch_id, "Nats-Batch-Sequence": str(number)}
            if number < len(pairs):
                await self._bus.client.publish(_subject(envelope), encode(envelope), headers=headers)
        envelope, headers = pairs[-1]
        headers["Nats-Batch-Commit"] = "1"
        ack = await self._request(_subject(envelope), encode(envelope), headers)
        return list(range(ack.seq - len(pairs) + 1, ack.seq + 1))


def _take(waiting: list[_Decision]) -> list[_Decision]:
    """The decisions that go out together: as many as one batch holds, at least one."""
    group = [waiting.pop(0)]
    count, size = len(group[0].envelopes), _size(group[0])
    while waiting and count + len(waiting[0].envelopes) <= MAX_BATCH and size + _size(waiting[0]) <= BATCH_BYTES:
        count += len(waiting[0].envelopes)
        size += _size(waiting[0])
        group.append(waiting.pop(0))
    return group


def _size(decision: _Decision) -> int:
    return sum(len(bytes(envelope.data)) for envelope in decision.envelopes)


def _subject(envelope: Envelope) -> str:
    return Address(envelope.project, envelope.session).log(envelope.type)


def _with_expectations(decision: _Decision) -> list[tuple[Envelope, dict[str, str]]]:
    """Each envelope with its headers; the first on a subject carries where that subject must still be."""
    pairs = []
    named: set[str] = set()
    for envelope in decision.envelopes:
        headers = {api.Header.MSG_ID.value: envelope.id}
        subject = _subject(envelope)
        if subject not in named:
            named.add(subject)
            expected = decision.expected.get(subject, 0)
            headers[api.Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value] = str(expected)
        pairs.append((envelope, headers))
    return pairs


def _refused(code: object, description: object) -> None:
    if code in WRONG_LAST_SEQUENCE or code == DUPLICATE_IN_BATCH:
        raise Conflict(str(description))
    raise Unreachable(f"the broker refused an append: {description} ({code})")
