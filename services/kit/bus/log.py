"""The log: read to its head, append to it with the position that the decision was made at."""

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import NamedTuple

import msgspec
from nats.errors import Error as NatsError
from nats.js import api
from nats.js.errors import APIError

from schemas.codec import decode_envelope, encode
from schemas.envelope import Envelope
from schemas.streams import LOG, MAX_BATCH
from schemas.subjects import Address
from services.kit.bus.connection import Bus, TooLarge, Unreachable

WRONG_LAST_SEQUENCE = frozenset({10071, 10164})
DUPLICATE_IN_BATCH = 10201
WRONG_PREDECESSOR = 10070
PREDECESSOR = "Nats-Expected-Last-Msg-Id"
HEADER_BYTES = 512
"""More than the headers of any append."""
READ_BATCH = 512
FEW = 8
"""Up to so many events are published one by one: an atomic batch costs the broker about 4 ms, whatever its size."""
APPEND_TIMEOUT = 10.0
BATCH_BYTES = 8 * 1024 * 1024


class Conflict(Exception):
    """The log moved since the decision was made, or already holds it."""


class _Interrupted(Exception):
    """What should come directly before a message in the log does not."""


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

    async def after(self, seq: int, subject_filter: str) -> AsyncGenerator[Recorded, None]:
        """What the log holds behind `seq` on these subjects, to its head, in order. Close it where you end earlier."""
        while True:
            pending = 0
            async with aclosing(self._page(seq + 1, subject_filter)) as page:
                async for recorded, pending in page:  # noqa: B007 - read after the loop
                    seq = recorded.envelope.seq
                    yield recorded
            if not pending:
                return

    async def _page(self, start: int, subject_filter: str) -> AsyncGenerator[tuple[Recorded, int], None]:
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
            raise Unreachable(f"the log could not be read: {str(error) or type(error).__name__}") from error
        finally:
            await sub.unsubscribe()

    async def at(self, seq: int) -> Envelope | None:
        """The fact at this position."""
        try:
            message = await self._bus.js.get_msg(LOG.name, seq=seq, direct=True)
        except APIError:
            return None
        return msgspec.structs.replace(decode_envelope(message.data or b""), seq=seq)


class _Letter(NamedTuple):
    """One event as it is published. The first of a decision on its subject says where that subject must still be."""

    subject: str
    id: str
    data: bytes
    expected: int | None

    def headers(self, more: Mapping[str, str]) -> dict[str, str]:
        headers = {api.Header.MSG_ID.value: self.id, **more}
        if self.expected is not None:
            headers[api.Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value] = str(self.expected)
        return headers


class _Decision(NamedTuple):
    """Events that stand or fall together."""

    letters: Sequence[_Letter]
    done: asyncio.Future[list[int]]

    def succeed(self, seqs: list[int]) -> None:
        if not self.done.done():
            self.done.set_result(seqs)

    def fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)


class Appender:
    """Appends decisions. What waits while the broker is busy goes out together, as one atomic batch."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._waiting: list[_Decision] = []
        self._task: asyncio.Task[None] | None = None

    async def append(self, envelopes: Sequence[Envelope], expected: Mapping[str, int]) -> list[int]:
        """Append all of a decision's events, or raise `Conflict`; their positions.

        `expected` maps a subject to the position of its newest event when the decision was made. A stale decision
        writes nothing. One of more than a batch, or of so few that they go out one by one, can be cut short by a
        crash, or by someone who writes with the same pen meanwhile: then a beginning of it is written, and deciding
        again must yield the rest.
        """
        if not envelopes:
            return []
        decision = _Decision(self._letters(envelopes, expected), asyncio.get_running_loop().create_future())
        self._waiting.append(decision)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._flush())
        return await decision.done

    def _letters(self, envelopes: Sequence[Envelope], expected: Mapping[str, int]) -> list[_Letter]:
        letters = []
        named: set[str] = set()
        for envelope in envelopes:
            subject, data = _subject(envelope), encode(envelope)
            if len(data) + HEADER_BYTES > self._bus.max_payload:
                raise TooLarge(
                    f"a {envelope.type} of {len(data)} bytes: the broker takes {self._bus.max_payload} with all headers"
                )
            letters.append(_Letter(subject, envelope.id, data, None if subject in named else expected.get(subject, 0)))
            named.add(subject)
        return letters

    async def _flush(self) -> None:
        while self._waiting:
            group = _take(self._waiting)
            try:
                await self._write(group)
            except Exception as error:  # noqa: BLE001 - whatever it is belongs to those who wait for it
                for decision in group:
                    decision.fail(error)

    async def _write(self, group: list[_Decision]) -> None:
        if len(group) > 1:
            try:
                seqs = iter(await self._batch([letter for one in group for letter in one.letters]))
            except Conflict:
                for decision in group:
                    await self._settle(decision)
            else:
                for decision in group:
                    decision.succeed([next(seqs) for _ in decision.letters])
            return
        await self._settle(group[0])

    async def _settle(self, decision: _Decision) -> None:
        letters = decision.letters
        try:
            if len(letters) <= FEW:
                seqs = await self._one_by_one(letters)
            else:
                seqs = []
                for start in range(0, len(letters), MAX_BATCH):
                    seqs += await self._batch(letters[start : start + MAX_BATCH])
        except (Conflict, Unreachable) as error:
            decision.fail(error)
        else:
            decision.succeed(seqs)

    async def _one_by_one(self, letters: Sequence[_Letter]) -> list[int]:
        """Publish in order without waiting between them, each only directly behind the one before.

        So what is written is always a beginning of the decision, and deciding again mends a cut. Where others
        write in between, the rest goes out as a batch.
        """
        requests = []
        before = ""
        for letter in letters:
            headers = letter.headers({PREDECESSOR: before} if before else {})
            requests.append(asyncio.create_task(self._request(letter, headers)))
            before = letter.id
        seqs: list[int] = []
        for reply in await asyncio.gather(*requests, return_exceptions=True):
            if isinstance(reply, _Interrupted):
                return seqs + await self._batch(letters[len(seqs) :])
            if isinstance(reply, BaseException):
                raise reply
            seqs.append(reply.seq)
        return seqs

    async def _request(self, letter: _Letter, headers: dict[str, str]) -> _Ack:
        """Publish one message and wait for its confirmation; `Conflict` if the log has moved or holds it already."""
        try:
            reply = await self._bus.client.request(letter.subject, letter.data, timeout=APPEND_TIMEOUT, headers=headers)
        except NatsError as error:
            raise Unreachable(f"the broker did not confirm an append: {type(error).__name__}") from error
        ack = _acks.decode(reply.data)
        if ack.error is not None:
            _refused(ack.error.get("err_code"), ack.error.get("description"))
        if ack.duplicate:
            raise Conflict("already in the log")
        return ack

    async def _batch(self, letters: Sequence[_Letter]) -> list[int]:
        batch_id = uuid.uuid4().hex
        for number, letter in enumerate(letters[:-1], 1):
            headers = letter.headers({"Nats-Batch-Id": batch_id, "Nats-Batch-Sequence": str(number)})
            try:
                await self._bus.client.publish(letter.subject, letter.data, headers=headers)
            except NatsError as error:
                raise Unreachable(f"the broker did not take an append: {type(error).__name__}") from error
        commit = {"Nats-Batch-Id": batch_id, "Nats-Batch-Sequence": str(len(letters)), "Nats-Batch-Commit": "1"}
        ack = await self._request(letters[-1], letters[-1].headers(commit))
        return list(range(ack.seq - len(letters) + 1, ack.seq + 1))


def _take(waiting: list[_Decision]) -> list[_Decision]:
    """The decisions that go out together: as many as one batch holds, at least one."""
    group = [waiting.pop(0)]
    count, size = len(group[0].letters), _size(group[0])
    while waiting and count + len(waiting[0].letters) <= MAX_BATCH and size + _size(waiting[0]) <= BATCH_BYTES:
        count += len(waiting[0].letters)
        size += _size(waiting[0])
        group.append(waiting.pop(0))
    return group


def _size(decision: _Decision) -> int:
    return sum(len(letter.data) for letter in decision.letters)


def _subject(envelope: Envelope) -> str:
    return Address(envelope.project, envelope.session).log(envelope.type)


def _refused(code: object, description: object) -> None:
    if code in WRONG_LAST_SEQUENCE or code == DUPLICATE_IN_BATCH:
        raise Conflict(str(description))
    if code == WRONG_PREDECESSOR:
        raise _Interrupted
    raise Unreachable(f"the broker refused an append: {description} ({code})")
