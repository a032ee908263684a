"""The log as it is read: by subject, to its head."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing

from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from schemas.envelope import Envelope
from schemas.streams import LOG
from services.domain.record import Record, read_record
from services.kit.bus.connection import Bus, Unreachable
from services.kit.bus.marks import AT_ONCE, SEQUENCE, SUBJECT, WAIT, marks, stored_at
from services.kit.same_log import Mark

READ_BATCH = 512
SLICE = 0.001
"""Seconds that a reader of the log, with what it makes of it, keeps the loop before others have a turn."""


def into(arrived: "asyncio.Queue[Msg]") -> Callable[[Msg], Awaitable[None]]:
    async def put(message: Msg) -> None:
        arrived.put_nowait(message)

    return put


async def arrived_next(arrived: "asyncio.Queue[Msg]") -> Msg:
    """The next message; most are there already, so that nobody has to be woken for each."""
    if not arrived.empty():
        return arrived.get_nowait()
    async with asyncio.timeout(WAIT):
        return await arrived.get()


class LogReader:
    """Reads stretches of the log by subject filter."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def head(self) -> int:
        """The newest position of the whole log."""
        info = await self._bus.js.stream_info(LOG.name)
        return int(info.state.last_seq)

    async def subjects(self, subject_filter: str) -> list[str]:
        """The subjects of the log that match, in their order."""
        info = await self._bus.js.stream_info(LOG.name, subjects_filter=subject_filter)
        return sorted(info.state.subjects or {})

    async def after(self, seq: int, subject_filter: str) -> AsyncGenerator[Record, None]:
        """The records of the log behind `seq` on these subjects, to its head, in order. Close it where you end earlier.

        A record that cannot be read comes without an event, so that its position counts as read.
        However long it is, whoever else waits for the loop has a turn between two slices of it.
        """
        began = time.monotonic()
        while True:
            pending = 0
            async with aclosing(self._page(seq + 1, subject_filter)) as page:
                async for record, pending in page:  # noqa: B007 - read after the loop
                    seq = record.envelope.seq
                    yield record
                    if time.monotonic() - began > SLICE:
                        await asyncio.sleep(0)
                        began = time.monotonic()
            if not pending:
                return

    async def _page(self, start: int, subject_filter: str) -> AsyncGenerator[tuple[Record, int], None]:
        client = self._bus.client
        inbox = client.new_inbox()
        arrived: asyncio.Queue[Msg] = asyncio.Queue()
        sub = await client.subscribe(inbox, cb=into(arrived), pending_msgs_limit=-1, pending_bytes_limit=-1)
        request = json.dumps({"seq": start, "batch": READ_BATCH, "next_by_subj": subject_filter}).encode()
        try:
            await client.publish(f"$JS.API.DIRECT.GET.{LOG.name}", request, reply=inbox)
            while True:
                message = await arrived_next(arrived)
                headers = message.headers or {}
                if SEQUENCE not in headers:  # the end; a status alone says nothing: what is stored may have one
                    return
                record = read_record(headers[SUBJECT], message.data, int(headers[SEQUENCE]))
                pending = int(headers["Nats-Num-Pending"])
                self._bus.trail.note(record.envelope.seq, record.envelope.id, 0 if pending else stored_at(headers))
                yield record, pending
        except (NatsError, TimeoutError) as error:
            raise Unreachable(f"the log could not be read: {str(error) or type(error).__name__}") from error
        finally:
            await sub.unsubscribe()

    async def at(self, seq: int) -> Envelope | None:
        """The fact at this position; none where there is nothing, or nothing that can be read."""
        record = await self._one(seq=seq)
        return record.envelope if record is not None and not record.problem else None

    async def last(self, subject: str) -> Envelope | None:
        """The newest fact on this subject that can be read."""
        record = await self._one(subject=subject)
        if record is None or not record.problem:
            return record and record.envelope
        found = None
        async for one in self.after(0, subject):
            found = found if one.problem else one.envelope
        return found

    async def _one(self, seq: int | None = None, subject: str | None = None) -> Record | None:
        request = {"seq": seq} if subject is None else {"last_by_subj": subject}
        try:
            message = await self._bus.client.request(
                f"$JS.API.DIRECT.GET.{LOG.name}", json.dumps(request).encode(), timeout=WAIT
            )
        except NatsError as error:
            raise Unreachable(f"the log could not be read: {str(error) or type(error).__name__}") from error
        headers = message.headers or {}
        if SEQUENCE not in headers:
            return None
        record = read_record(headers[SUBJECT], message.data, int(headers[SEQUENCE]))
        self._bus.trail.note(record.envelope.seq, record.envelope.id, stored_at(headers))
        return record

    async def next_after(self, seq: int, filters: Iterable[str]) -> int:
        """The position of the first record behind `seq` on any of these subjects; 0: there is none. It reads no body.

        Raises `Unreachable`.
        """
        found = await asyncio.gather(*(self._next_on(seq + 1, one) for one in filters))
        return min((one for one in found if one), default=0)

    async def _next_on(self, start: int, subject_filter: str) -> int:
        request = json.dumps({"seq": start, "next_by_subj": subject_filter}).encode()
        try:
            message = await self._bus.client.request(f"$JS.API.DIRECT.GET.{LOG.name}", request, timeout=WAIT)
        except NatsError as error:
            raise Unreachable(f"the log could not be read: {str(error) or type(error).__name__}") from error
        return int((message.headers or {}).get(SEQUENCE, 0))

    async def at_each(self, seqs: Iterable[int]) -> dict[int, Envelope]:
        """The facts at these positions, several asked for at once; without those that are not there."""
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(seq: int) -> Envelope | None:
            async with turns:
                return await self.at(seq)

        wanted = sorted(set(seqs))
        found = await asyncio.gather(*map(one, wanted))
        return {seq: envelope for seq, envelope in zip(wanted, found, strict=True) if envelope is not None}

    async def marks(self, seqs: Iterable[int]) -> dict[int, Mark]:
        """Marks that distinguish the records at these positions from others; without those that are not there."""
        try:
            return await marks(self._bus.client, seqs)
        except NatsError as error:
            raise Unreachable(f"the log could not be read: {str(error) or type(error).__name__}") from error
