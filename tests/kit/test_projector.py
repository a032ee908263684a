"""One projector for every sink: what is rebuilt, grown in any batches, read twice or killed ends in the same rows."""

import asyncio
import json
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events import Event
from schemas.streams import LOG
from schemas.subjects import Address
from services.domain.record import RecordSkipped
from services.edges.launcher.broker import Broker
from services.kit import metrics, projector
from services.kit.bus import Appender, Bus
from services.kit.projector import QUIET, SHARE, CommitPace, Fact, Follow, Projector, Sink, pause
from services.kit.same_log import Mark
from services.responder.views.store import Store
from tests.helpers.broker_world import HARBOUR, kit_of, quick_settings, titles, wrapped
from tests.helpers.poison import UNFOLDABLE, UNREADABLE, Make, together
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

SMALL = CommitPace(batch=8, linger=0.0, idle=60.0)


class MemorySink:
    """A sink that is a list in memory."""

    def __init__(self) -> None:
        self.committed = 0
        self.facts: list[tuple[int, Event]] = []
        self.commits = 0
        self.tidied = 0
        self.refuses = 0
        """How many commits to come are refused."""

    async def commit(self, facts: Sequence[Fact], through: int, mark: Mark) -> None:
        assert (through, True) == (mark.seq, mark.stored > 0)
        if self.refuses:
            self.refuses -= 1
            raise OSError("the disk is full")
        self.facts += [(envelope.seq, event) for envelope, event in facts if envelope.seq > self.committed]
        self.committed = max(self.committed, through)
        self.commits += 1

    async def idle(self) -> None:
        self.tidied += 1


@asynccontextmanager
async def projecting(
    bus: Bus,
    sink: Sink,
    pace: CommitPace = SMALL,
    durable: str = "sink",
    follow: Follow | None = None,
    clock: Callable[[], float] = time.monotonic,
    filters: Sequence[str] = (),
) -> AsyncIterator[Projector]:
    async with kit_of("responder", bus, quick_settings()) as kit:
        made = Projector(kit, sink, durable, pace, follow, clock=clock, filters=filters)
        await made.open()
        yield made


async def append(bus: Bus, count: int, start: int = 0) -> int:
    """Append so many facts; the position of the last one."""
    expected = {HARBOUR.log("session.renamed"): start}
    seqs = await Appender(bus).append(wrapped(titles(count, start), expected), expected)
    return seqs[-1]


async def rebuilt(bus: Bus, head: int) -> MemorySink:
    """A sink that was filled in one go."""
    sink = MemorySink()
    async with projecting(bus, sink, CommitPace(1000, 0.01, 60.0), "rebuilt") as made:
        assert await made.committed(head, PATIENCE)
    return sink


@pytest.mark.parametrize("seed", range(4))
async def test_what_grew_in_any_batches_is_what_is_rebuilt(bus: Bus, seed: int) -> None:
    chance = random.Random(seed)
    grown, head = MemorySink(), 0
    while head < 120:
        pace = CommitPace(chance.randint(1, 40), chance.choice((0.0, 0.001)), 60.0)
        async with projecting(bus, grown, pace) as made:
            for _ in range(chance.randint(1, 3)):
                head = await append(bus, chance.randint(1, 30), head)
            if chance.choice((True, False)):
                assert await made.committed(head, PATIENCE)
    async with projecting(bus, grown) as made:
        assert await made.committed(head, PATIENCE)
    assert grown.commits > 2
    assert grown.facts == (await rebuilt(bus, head)).facts
    assert [seq for seq, _ in grown.facts] == list(range(1, head + 1))


@pytest.mark.parametrize(("commits", "tidied"), [(0, 0), (4, 3), (5, 2), (100, 0)])
async def test_a_sink_that_is_never_left_alone_tidies_up_after_some_commits(
    bus: Bus, commits: int, tidied: int
) -> None:
    """Else what was not tidied up grows for as long as there is no pause, and is to be done again after a kill."""
    sink = MemorySink()
    async with projecting(bus, sink, CommitPace(8, 0.0, 60.0, commits)) as made:
        for number in range(12):
            assert await made.committed(await append(bus, 1, number), PATIENCE)
        await until(lambda: sink.tidied == tidied)
    assert (12, tidied) == (sink.commits, sink.tidied)


async def test_the_same_projector_fills_tables_and_memory_alike(bus: Bus, tmp_path: Path) -> None:
    head = await append(bus, 50)
    store, memory = await Store.open(tmp_path / "views.duckdb", memory_limit="256MB"), MemorySink()
    for sink in (store, memory):
        async with projecting(bus, sink, durable=type(sink).__name__) as made:
            assert await made.committed(head, PATIENCE)
    rows = await store.duck.query("select seq, title from session_renamed order by seq", max_rows=99, timeout=60)
    await store.close()
    assert rows.rows == tuple((seq, getattr(event, "title", "")) for seq, event in memory.facts)


def resets() -> float:
    return metrics.REGISTRY.get_sample_value("annals_projector_resets_total") or 0.0


async def test_facts_that_are_delivered_again_are_committed_once(bus: Bus) -> None:
    sink = MemorySink()
    head = await append(bus, 40)
    async with projecting(bus, sink) as made:
        assert await made.committed(head, PATIENCE)
        before = resets()
        await bus.rewind(LOG.name, "sink", 1)
        await until(lambda: resets() > before)
        head = await append(bus, 40, head)
        assert await made.committed(head, PATIENCE)
    assert sink.facts == (await rebuilt(bus, head)).facts


@pytest.mark.own_broker
async def test_a_break_of_the_connection_loses_and_doubles_nothing(broker: Broker, bus: Bus) -> None:
    sink = MemorySink()
    head = await append(bus, 40)
    async with projecting(bus, sink) as made:
        assert await made.committed(20, PATIENCE)
        broker.stop()
        await until(lambda: not bus.connected)
        await broker.start()
        await until(lambda: bus.connected)
        head = await append(bus, 40, head)
        assert await made.committed(head, PATIENCE)
    assert sink.facts == (await rebuilt(bus, head)).facts


async def test_a_batch_that_the_sink_refuses_is_tried_again(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projector, "RETRY_PAUSE", 0.02)
    sink = MemorySink()
    sink.refuses = 3
    head = await append(bus, 20)
    async with projecting(bus, sink) as made:
        await until(lambda: made.failure)
        assert "OSError: the disk is full" == made.failure
        head = await append(bus, 20, head)
        assert await made.committed(head, PATIENCE)
        assert "" == made.failure
    assert sink.facts == (await rebuilt(bus, head)).facts


async def test_who_follows_goes_on_while_the_sink_refuses_however_long(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projector, "RETRY_PAUSE", 0.02)
    sink, followed = MemorySink(), list[int]()
    sink.refuses = sys.maxsize
    async with projecting(bus, sink, follow=lambda envelope, _: followed.append(envelope.seq)) as made:
        head = await append(bus, 20)
        await until(lambda: made.failure)
        for _ in range(10):
            head = await append(bus, 40, head)
        await until(lambda: made.read_through >= head)
        assert 0 == sink.committed
        sink.refuses = 0
        assert await made.committed(head, PATIENCE)
        head = await append(bus, 5, head)
        assert await made.committed(head, PATIENCE)
    assert list(range(1, head + 1)) == followed
    assert sink.facts == (await rebuilt(bus, head)).facts


async def test_a_sink_that_was_put_back_is_read_to_again(bus: Bus) -> None:
    sink, followed = MemorySink(), list[int]()
    head = await append(bus, 100)
    async with projecting(bus, sink, follow=lambda envelope, _: followed.append(envelope.seq)) as made:
        assert await made.committed(head, PATIENCE)
        sink.committed = 0
        sink.facts.clear()
        head = await append(bus, 30, head)
        assert await made.committed(head, PATIENCE)
        sink.committed = 0
        sink.facts.clear()
        made.begin_anew()
        assert await made.committed(head, PATIENCE)
    assert list(range(1, head + 1)) == followed
    assert sink.facts == (await rebuilt(bus, head)).facts


async def test_a_sink_that_cannot_tidy_up_is_filled_all_the_same(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    sink, tried = MemorySink(), asyncio.Event()

    async def idle() -> None:
        tried.set()
        raise OSError("the disk is full")

    monkeypatch.setattr(sink, "idle", idle)
    async with projecting(bus, sink, CommitPace(8, 0.0, 0.02)) as made:
        head = await append(bus, 3)
        await tried.wait()
        head = await append(bus, 3, head)
        assert await made.committed(head, PATIENCE)


@pytest.mark.parametrize("kinds", together(UNREADABLE | UNFOLDABLE))
async def test_a_record_that_cannot_be_read_is_noted_and_its_position_counts(bus: Bus, kinds: Sequence[Make]) -> None:
    sink, followed = MemorySink(), list[tuple[int, Event | None]]()
    poisons = [make(HARBOUR) for make in kinds]
    await append(bus, 3)
    for poison in poisons:
        await bus.client.publish(poison.subject, poison.data, headers=dict(poison.headers or {}))
    await bus.client.flush()
    head = await append(bus, 2, 3)
    assert len(poisons) + 5 == head
    async with projecting(bus, sink, follow=lambda envelope, event: followed.append((envelope.seq, event))) as made:
        assert await made.committed(head, PATIENCE)
    skipped = [event for _, event in sink.facts if isinstance(event, RecordSkipped)]
    assert all(one.reason for one in skipped)
    assert [(one.subject, len(one.data)) for one in poisons] == [(one.subject, one.bytes) for one in skipped]
    assert [*range(1, head + 1)] == [seq for seq, _ in sink.facts]
    assert [(seq, None) for seq in range(4, head - 1)] == [one for one in followed if one[1] is None]


async def test_the_sink_may_tidy_up_when_nothing_comes_and_something_came(bus: Bus) -> None:
    sink = MemorySink()
    async with projecting(bus, sink, CommitPace(8, 0.0, 0.02)) as made:
        assert 0 == sink.tidied
        head = await append(bus, 3)
        assert await made.committed(head, PATIENCE)
        await until(lambda: sink.tidied)
    assert 1 == sink.tidied


PROGRAM = """
import asyncio, json, os, signal, sys
from pathlib import Path
from services.kit.bus import Bus
from services.kit.projector import CommitPace, Projector
from tests.helpers.broker_world import kit_of, quick_settings

url, password, file, moment, at = sys.argv[1:]

class FileSink:
    def __init__(self):
        self.path = Path(file)
        self.state = json.loads(self.path.read_text()) if self.path.exists() else {"through": 0, "seqs": []}

    @property
    def committed(self):
        return self.state["through"]

    async def commit(self, facts, through, mark):
        self.state["seqs"] += [envelope.seq for envelope, _ in facts if envelope.seq > self.committed]
        self.state["through"] = through
        self.die("before", through)
        draft = self.path.with_suffix(".new")
        draft.write_text(json.dumps(self.state))
        draft.replace(self.path)
        self.die("after", through)

    def die(self, when, through):
        if when == moment and through >= int(at):
            os.kill(os.getpid(), signal.SIGKILL)

    async def idle(self):
        pass

async def main():
    bus = await Bus.connect(url, "killed", user="room", password=password)
    async with kit_of("responder", bus, quick_settings()) as kit:
        projector = Projector(kit, FileSink(), "sink", CommitPace(7, 0.0, 60.0))
        await projector.open()
        await projector.committed(int(at), 20)
    await bus.close()

asyncio.run(main())
"""


@pytest.mark.own_broker
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_kill_around_a_commit_loses_and_doubles_nothing(
    broker: Broker, bus: Bus, tmp_path: Path, moment: str
) -> None:
    """`after` is between the commit and its acknowledgement."""
    file = tmp_path / "sink.json"
    head = await append(bus, 100)
    for at in (10, 60):
        assert -signal.SIGKILL == await project(broker, file, moment, at)
    assert 0 == await project(broker, file, "never", head)
    assert {"through": head, "seqs": list(range(1, head + 1))} == json.loads(file.read_text())


async def project(broker: Broker, file: Path, moment: str, at: int) -> int | None:
    """Run a projector in a process of its own until it has that position, or is killed there."""
    endpoint = broker.endpoint
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, endpoint.url, str(endpoint.password), str(file), moment, str(at)
    )
    return await process.wait()


SECONDS = st.floats(0, 10_000)


@given(SECONDS, SECONDS, SECONDS, SECONDS)
def test_a_pause_is_never_longer_than_it_may_be_nor_shorter(
    since: float, cost: float, shortest: float, longest: float
) -> None:
    assert min(shortest, longest) <= pause(since, cost, shortest, longest) <= longest


@given(st.floats(0, 100), st.floats(0, 1), st.floats(0, 1))
def test_after_a_quiet_time_nothing_is_waited_for(cost: float, quiet: float, shortest: float) -> None:
    assert shortest == pause(cost / SHARE + quiet, cost, shortest, 10_000)


@given(st.lists(st.floats(0.001, 0.5), min_size=1))
def test_where_facts_never_cease_commits_take_their_share_of_the_time(costs: Sequence[float]) -> None:
    """A commit begins as soon as the pause behind the one before allows it. The first one has nothing before it."""
    began = now = 0.0
    for cost in costs:
        began, now = now, now + cost
        now += pause(now - began, cost, 0.0, 1 / SHARE)
    assert sum(costs) <= SHARE * now * (1 + 1e-9)
    assert now <= sum(costs) / SHARE * (1 + 1e-9)


class SlowSink(MemorySink):
    """A sink whose every commit takes so many seconds of a clock that stands still otherwise."""

    def __init__(self, cost: float) -> None:
        super().__init__()
        self._cost = cost
        self.now = 1_000.0

    async def commit(self, facts: Sequence[Fact], through: int, mark: Mark) -> None:
        self.now += self._cost
        await super().commit(facts, through, mark)


EAGER = CommitPace(batch=2_000, linger=3_600.0, idle=60.0)


async def test_a_thousand_facts_are_few_commits_where_one_costs_a_lot(bus: Bus) -> None:
    sink = SlowSink(600.0)
    async with projecting(bus, sink, EAGER, clock=lambda: sink.now) as made:
        head = await append(bus, 1)
        await until(lambda: sink.committed == 1)  # nothing was committed before: at once
        for _ in range(100):
            head = await append(bus, 10, head)
        await until(lambda: made.read_through == head)
        assert (1, 1) == (sink.committed, sink.commits)
        assert await made.committed(head, PATIENCE)  # who waits for a position ends the pause
    assert (head, 2) == (sink.committed, sink.commits)


async def test_what_has_come_is_committed_where_nothing_more_comes(bus: Bus) -> None:
    sink = SlowSink(600.0)
    async with projecting(bus, sink, EAGER, clock=lambda: sink.now) as made:
        head = await append(bus, 1)
        await until(lambda: sink.committed == 1)
        head = await append(bus, 10, head)
        await until(lambda: made.read_through == head)
        assert 1 == sink.committed
        sink.now += 2 * QUIET
        await until(lambda: sink.committed == head)


async def test_a_lone_fact_is_committed_at_once(bus: Bus) -> None:
    sink = SlowSink(60.0)
    async with projecting(bus, sink, EAGER, clock=lambda: sink.now):
        for number in range(3):
            sink.now += 60.0 / SHARE
            await append(bus, 1, number)
            await until(lambda: sink.committed == number + 1)  # noqa: B023 - it is waited for in this round
    assert 3 == sink.commits


async def test_a_whole_batch_is_committed_without_waiting_for_more(bus: Bus) -> None:
    sink = SlowSink(600.0)
    async with projecting(bus, sink, EAGER._replace(batch=20), clock=lambda: sink.now):
        head = await append(bus, 1)
        await until(lambda: sink.committed == 1)
        head = await append(bus, 10, head)
        head = await append(bus, 10, head)
        await until(lambda: sink.committed == head)
    assert 2 == sink.commits


@pytest.mark.parametrize("position", [2, 10_000])
async def test_only_who_waits_for_what_was_read_ends_a_pause(bus: Bus, position: int) -> None:
    """A position that nothing has yet has nobody commit what is there piece by piece."""
    sink = SlowSink(600.0)
    async with projecting(bus, sink, EAGER, clock=lambda: sink.now) as made:
        head = await append(bus, 1)
        await until(lambda: sink.committed == 1)
        waiting = asyncio.create_task(made.committed(position, PATIENCE))
        for _ in range(5):
            head = await append(bus, 1, head)
        await until(lambda: made.read_through == head)
        if position <= head:
            assert await waiting
        assert (position <= head) == (sink.commits > 1)
        waiting.cancel()


TITLES, NOTHING = "log.*.*.*.session.renamed", "log.*.*.*.session.closed"


@pytest.mark.parametrize("batch", [1, 8])
async def test_what_a_sink_has_no_use_for_is_not_sent_and_its_position_goes_on(bus: Bus, batch: int) -> None:
    sink, followed = MemorySink(), list[int]()
    pace = SMALL._replace(batch=batch)
    async with projecting(bus, sink, pace, follow=lambda one, _: followed.append(one.seq), filters=[NOTHING]) as made:
        for start in (0, 20):
            head = await append(bus, 20, start)
            assert await made.committed(head, PATIENCE)
            assert head == made.read_through
    assert [] == followed == sink.facts


async def test_a_sink_of_some_facts_has_all_of_them_in_any_order_of_looks(bus: Bus) -> None:
    """Facts for it and others alternate, and the position is asked for after each."""
    sink = MemorySink()
    addresses = (HARBOUR, Address("harbour", "s2"))
    async with projecting(bus, sink, filters=[f"{HARBOUR.log_prefix}.>"]) as made:
        for seq in range(1, 21):
            address = addresses[(seq - 1) % 2]
            expected = {address.log("session.renamed"): max(0, seq - 2)}
            assert [seq] == await Appender(bus).append(wrapped(titles(1, seq), expected, address), expected)
            assert await made.committed(seq, PATIENCE)
    assert list(range(1, 20, 2)) == [seq for seq, _ in sink.facts]
    assert 20 == sink.committed


async def test_a_sink_of_some_facts_that_was_put_back_is_read_to_again(bus: Bus) -> None:
    sink = MemorySink()
    head = await append(bus, 40)
    async with projecting(bus, sink, filters=[TITLES]) as made:
        assert await made.committed(head, PATIENCE)
        sink.committed = 0
        sink.facts.clear()
        made.begin_anew()
        head = await append(bus, 5, head)
        assert await made.committed(head, PATIENCE)
    assert list(range(1, head + 1)) == [seq for seq, _ in sink.facts]


async def test_a_consumer_of_the_whole_log_becomes_one_of_some_subjects(bus: Bus) -> None:
    """An installation of before has a consumer without filters."""
    sink = MemorySink()
    head = await append(bus, 5)
    async with projecting(bus, sink) as made:
        assert await made.committed(head, PATIENCE)
    followed = list[int]()
    async with projecting(bus, sink, follow=lambda one, _: followed.append(one.seq), filters=[NOTHING]) as made:
        head = await append(bus, 5, head)
        assert await made.committed(head, PATIENCE)
    assert [] == followed
