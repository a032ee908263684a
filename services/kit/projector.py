"""The projector: it reads the log in order and commits it, batch by batch, to one sink.

The sink owns the position. On start, after a break and at any irregularity the projector sets its consumer back to
the fact behind the position that the sink has committed; the consumer's own acknowledgements only show operators how
far it is. So a kill at any moment loses nothing and doubles nothing, whatever the sink is: a database file, a table
of vectors, or a dictionary in a test.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple, Protocol

from msgspec.structs import astuple

from schemas.envelope import Envelope
from schemas.events import Event
from schemas.streams import LOG
from services.domain.record import Record, RecordSkipped, read_record
from services.kit import metrics
from services.kit.background import begin, watched
from services.kit.bus import BrokerError, Delivery, Pull, Unreachable, delivered_at
from services.kit.room import Kit
from services.kit.same_log import Mark
from services.kit.surroundings import reason_of

ACK_WAIT = 300.0
MOST_WAITING_BATCHES = 2
"""The most batches that wait for a sink that refuses them. What comes beyond is read again when it takes them."""
CREDIT = 4
"""The most batches under way: read, and not committed yet."""
MOST_LOGGED = 20
"""Records that cannot be read of which a process says so at once: the sink has them all."""
RETRY_PAUSE = 1.0
"""Seconds until a commit that failed is tried again."""
SILENCE, SOON = 1.0, 0.05
"""Seconds between two looks whether the log has gone on without anything for the sink; the latter while somebody waits
for a position that was not read."""
QUIET = 0.3
"""Seconds without a new fact after which nothing is put off any longer."""
SHARE = 0.1
"""The share of the time that is spent on commits, where facts come faster than they are committed one by one."""

Fact = tuple[Envelope, Event]
"""An event of the log with its envelope, which has its position; or `RecordSkipped` in place of one."""
Follow = Callable[[Envelope, Event | None], None]
"""The function that gets each record as it is read, before it is committed. None: of an unknown type, or skipped."""


class Sink(Protocol):
    """A sink, into which the log is projected."""

    @property
    def committed(self) -> int:
        """The position up to which the log is in the sink; 0: nothing is. Who moves it back calls `begin_anew`."""

    async def commit(self, facts: Sequence[Fact], through: int, mark: Mark) -> None:
        """Add facts, in log order, and move the position to `through`, both or neither; skip what is in already.

        `mark`: the record there, by which this log is distinguished from another one later on.
        """

    async def idle(self) -> None:
        """Nothing has come for a while: this is the time to tidy up."""


class CommitPace(NamedTuple):
    """The pace of commits: how much at once, and when."""

    batch: int
    """Facts that are committed without waiting for more. Those that come meanwhile are committed together next."""
    linger: float
    """The most seconds from the first fact that is not committed to its commit; see `pause`."""
    idle: float
    """Seconds without a fact after which the sink may tidy up."""
    commits: int = 0
    """Commits after which the sink tidies up although more comes; 0: it waits for a pause."""
    shortest: float = 0.0
    """The fewest of these seconds, unless `linger` is less: whatever else the facts are for goes first."""


def pause(since: float, cost: float, shortest: float, longest: float) -> float:
    """Seconds to wait for more facts before those that are there are committed.

    A commit costs nearly the same for one fact as for a hundred, so commits take `SHARE` of the time and the facts of
    the rest of it are committed together: `since` is the seconds since the last commit began, and `cost` those that it
    took. After a quiet time that long ago nothing is left to wait for, and the answer is `shortest`. `longest` bounds
    it where a commit is so slow that the share cannot be met, and wins where it is less than `shortest`.
    """
    return min(max(cost / SHARE - since, shortest), longest)


class Projector:
    """One reader of the log for one sink, of the whole log or of what the sink has a use for."""

    def __init__(
        self,
        kit: Kit,
        sink: Sink,
        durable: str,
        pace: CommitPace,
        follow: Follow | None = None,
        *,
        filters: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`durable` names the consumer: each sink has one of its own. `clock`: seconds, of any origin.

        `filters`: subjects that the sink has a use for; none: all. The broker sends nothing else, and the position goes
        on over the rest.
        """
        self._kit = kit
        self._sink = sink
        self._durable = durable
        self._pace = pace
        self._follow = follow
        self._filters = tuple(filters)
        self._batch: list[tuple[Envelope, Event | None]] = []
        self._last: Delivery | None = None
        self._read = sink.committed
        self._expected = 0
        self._taken = sink.committed
        """The sink's position, as far as it was reported: one that has less was put back, and is read to again."""
        self._let_go = 0
        """Facts that were read and not stored."""
        self._failure = ""
        self._skipped = 0
        self._clock = clock
        self._arrived_at = clock()
        self._began = clock()
        """When the newest commit began, and how long it took: at first, one that cost nothing."""
        self._cost = 0.0
        self._awaited: list[int] = []
        """The positions that somebody waits for."""
        self._unread = asyncio.Event()
        """Set when somebody waits for a position that was not read."""
        self._arrived_more = asyncio.Event()
        self._enough = asyncio.Event()
        """Set when a commit is not to wait for more facts."""
        self._committing = asyncio.Lock()
        self._committed_more = asyncio.Condition()
        self._restarting: asyncio.Task[None] | None = None
        self._side_tasks: set[asyncio.Task[None]] = set()
        self._pull = Pull(
            kit.bus,
            LOG.name,
            durable,
            credit=CREDIT * pace.batch,
            deliver=self._arrived,
            rewind=self._rewind,
            make=self._make_consumer,
        )

    @property
    def read_through(self) -> int:
        """The position up to which the log was read."""
        return self._read

    @property
    def quiet(self) -> float:
        """Seconds since the newest fact arrived."""
        return self._clock() - self._arrived_at

    @property
    def failure(self) -> str:
        """The reason why the newest commit failed; empty: it did not."""
        return self._failure

    async def open(self) -> None:
        """Read the log behind the sink's position, and go on reading until the room closes."""
        await self._make_consumer()
        await self._pull.start()
        if self._filters:
            begin(self._kit, self._look_ahead_for_ever())
        committer = watched(self._kit, self._commit_for_ever())
        self._kit.stack.push_async_callback(self._close, committer)

    async def committed(self, seq: int, timeout: float) -> bool:  # noqa: ASYNC109 - a missed deadline is an answer
        """Wait until the sink has committed this position; whether it has. Its commit waits for no further facts."""
        self._awaited.append(seq)
        self._look()
        if seq > self._read:
            self._unread.set()
        try:
            async with asyncio.timeout(timeout), self._committed_more:
                await self._committed_more.wait_for(lambda: self._sink.committed >= seq)
        except TimeoutError:
            return False
        finally:
            self._awaited.remove(seq)
        return True

    def _look(self) -> None:
        """See whether what was read is to be committed without waiting for more."""
        is_whole = len(self._batch) >= self._pace.batch
        if is_whole or any(self._sink.committed < seq <= self._read for seq in self._awaited):
            self._enough.set()

    async def _make_consumer(self) -> None:
        await self._kit.bus.consumer(
            LOG.name,
            self._durable,
            ack_wait=ACK_WAIT,
            max_ack_pending=2 * CREDIT * self._pace.batch,
            ack_all=True,
            filters=self._filters,
        )

    async def _look_ahead_for_ever(self) -> None:
        while True:
            is_awaited = any(seq > self._read for seq in self._awaited)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SOON if is_awaited else SILENCE):
                    await self._unread.wait()
            self._unread.clear()
            try:
                await self._look_ahead()
            except (BrokerError, Unreachable, TimeoutError) as error:
                self._kit.log.debug("it cannot be seen how far the log is", reason=str(error) or type(error).__name__)

    async def _look_ahead(self) -> None:
        """Move the position to the head of the log where nothing up to there is for the sink.

        The head is read first, and then what is for the sink behind its position: where the broker has nothing of that
        up to this head, nothing can be on its way.
        """
        through = self._sink.committed
        if self._batch or self._let_go or through != self._taken:
            return
        head = await self._kit.reader.head()
        if head <= through or 0 < await self._kit.reader.next_after(through, self._filters) <= head:
            return
        mark = (await self._kit.reader.marks([head])).get(head)
        async with self._committing:
            is_as_before = through == self._sink.committed == self._taken and not self._let_go
            if mark is not None and is_as_before and (not self._batch or self._batch[0][0].seq > head):
                await self._move(head, mark)

    async def _move(self, head: int, mark: Mark) -> None:
        try:
            await self._sink.commit((), head, mark)
        except Exception as error:  # noqa: BLE001 - what comes next for the sink meets it again, and is tried again
            self._kit.log.debug("the position could not be moved", reason=f"{type(error).__name__}: {error}")
            return
        self._taken, self._read = head, max(self._read, head)
        async with self._committed_more:
            self._committed_more.notify_all()

    async def _close(self, committer: "asyncio.Task[None]") -> None:
        """Stop reading, and commit what was read. No commit is cut off."""
        await self._pull.stop()
        async with self._committing:
            committer.cancel()
            await self._commit()

    async def _rewind(self) -> None:
        """Set the consumer to the fact behind the sink's position."""
        async with self._committing:
            self._batch.clear()
            self._last = None
            self._taken, self._let_go = self._sink.committed, 0
            await self._kit.bus.rewind(LOG.name, self._durable, self._taken + 1)
            self._expected = 1
            metrics.RESETS.inc()

    def _arrived(self, delivery: Delivery) -> None:
        metadata = delivery.metadata
        if metadata.sequence.consumer != self._expected or metadata.num_delivered != 1:
            self.begin_anew()
            return
        self._expected += 1
        self._arrived_at = self._clock()
        (_, envelope, event, _), noted = self._read_record(delivery, metadata.sequence.stream)
        self._kit.bus.trail.note(envelope.seq, envelope.id)
        if envelope.seq > self._read:
            self._read = envelope.seq
            if self._follow is not None:
                self._follow(envelope, event)
        if self._let_go or (self._failure and len(self._batch) >= MOST_WAITING_BATCHES * self._pace.batch):
            self._pass_over(delivery)
            return
        self._batch.append((envelope, noted))
        self._last = delivery
        self._arrived_more.set()
        self._look()

    def _truncate(self, most: int) -> None:
        """Keep so many facts for the sink, and make room for reading more."""
        surplus = max(0, len(self._batch) - most)
        del self._batch[len(self._batch) - surplus :]
        self._let_go += surplus
        self._pull.finished(surplus)

    def _pass_over(self, delivery: Delivery) -> None:
        """Keep no more for a sink that refuses it: those who follow go on, and the sink reads it later."""
        self._let_go += 1
        self._pull.finished(1)
        if not self._failure:
            self.begin_anew()
        if not self._let_go % self._pace.batch:
            self._begin(self._acknowledge(delivery))

    def begin_anew(self) -> None:
        """Read on from the sink's position: something is missing, comes again, or the sink was put back."""
        if self._restarting is None or self._restarting.done():
            self._restarting = asyncio.create_task(self._restart())

    async def _restart(self) -> None:
        try:
            await self._pull.restart()
        except BrokerError as error:
            self._kit.log.warning("the projector could not go back", reason=str(error) or type(error).__name__)

    def _read_record(self, delivery: Delivery, seq: int) -> tuple[Record, Event | None]:
        """The record at this position, and what the sink gets of it. One that cannot be read is noted as skipped."""
        record = read_record(delivery.subject, delivery.data, seq, deep=True)
        if record.problem:
            metrics.POISON.inc()
            self._skipped += 1
            log = self._kit.log.error if self._skipped <= MOST_LOGGED else self._kit.log.debug
            log("a record cannot be read, it is skipped", subject=record.subject, seq=seq, reason=record.problem)
            return record, RecordSkipped(record.subject, record.problem, len(delivery.data))
        if record.event is None:
            metrics.UNKNOWN.labels(self._kit.room, record.envelope.type).inc()
        return record, record.event

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._side_tasks.add(task)
        task.add_done_callback(self._side_tasks.discard)

    async def _commit_for_ever(self) -> None:
        """Commit what has come, a while after its first fact; let the sink tidy up when nothing comes."""
        untidy = 0
        while True:
            try:
                async with asyncio.timeout(self._pace.idle if untidy else None):
                    await self._arrived_more.wait()
            except TimeoutError:
                await self._tidy()
                untidy = 0
                continue
            await self._linger()
            async with self._committing:
                self._arrived_more.clear()
                self._began = self._clock()
                is_committed = await self._commit()
                self._cost = self._clock() - self._began
            untidy += 1
            if not is_committed:
                await asyncio.sleep(RETRY_PAUSE)
                self._arrived_more.set()
            elif 0 < self._pace.commits <= untidy:
                await self._tidy()
                untidy = 0

    async def _linger(self) -> None:
        """Wait for more facts, for as long as `pause` says, or until nothing more is to be waited for.

        The shortest wait lets the answer that the facts are for go first: a commit and it would share one interpreter.
        """
        self._enough.clear()
        if len(self._batch) >= self._pace.batch:
            return
        shortest = min(self._pace.shortest, self._pace.linger)
        left = pause(self._clock() - self._began, self._cost, shortest, self._pace.linger) - shortest
        await asyncio.sleep(shortest)
        self._look()
        until = self._clock() + left
        while (left := min(until - self._clock(), QUIET - self.quiet)) > 0 and not self._enough.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._enough.wait()

    async def _tidy(self) -> None:
        try:
            await self._sink.idle()
        except Exception:
            self._kit.log.exception("the sink could not tidy up, it does so when something has come again")

    async def _commit(self) -> bool:
        """Commit all that was read. What the sink refuses stays in hand and is tried again; whether it was taken."""
        batch, last = tuple(self._batch), self._last
        if not batch or last is None:
            return True
        if self._sink.committed < self._taken:
            self.begin_anew()
            return False
        facts = [(envelope, event) for envelope, event in batch if event is not None]
        mark = Mark(batch[-1][0].seq, batch[-1][0].id, delivered_at(last.reply))
        self._kit.bus.trail.note(*astuple(mark))
        try:
            await self._sink.commit(facts, batch[-1][0].seq, mark)
        except Exception as error:
            failure = reason_of(error)
            if failure != self._failure:  # a disk may be full for hours, and the log of the room stand on it
                self._kit.log.exception("a batch could not be committed, it is tried again")
            self._failure = failure
            self._truncate(MOST_WAITING_BATCHES * self._pace.batch)
            return False
        self._failure = ""
        self._taken = batch[-1][0].seq
        del self._batch[: len(batch)]
        self._pull.finished(len(batch))
        if self._let_go:
            self.begin_anew()
        else:
            await self._acknowledge(last)
        async with self._committed_more:
            self._committed_more.notify_all()
        return True

    async def _acknowledge(self, last: Delivery) -> None:
        try:
            await last.ack()
        except BrokerError as error:
            self._kit.log.debug("could not acknowledge", reason=str(error))
