"""An older copy of the log is put back: it is noticed, and nothing that was made of the lost part stays anywhere."""

import os
import shutil
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from schemas.codec import encode
from schemas.commands import MemoryWrite
from schemas.search_asks import Hits, SearchAsk
from schemas.status_asks import Status, StatusAsk
from schemas.subjects import ask
from services.edges.connect.installation import judge
from services.edges.connect.probe import look
from services.edges.launcher.supervisor import Installation
from services.indexer.worker import Indexer
from services.kit.bus import Bus, LogReader
from services.kit.rooms import ROOMS
from services.responder.views.store import file_name
from services.settings import Embed, Settings
from tests.conftest import InstallationFactory
from tests.helpers.broker_world import HARBOUR, opened
from tests.helpers.indexed_sessions import rows_of
from tests.helpers.installation import connect, facts, left_views, log_and_views, rebuilt, settle, until
from tests.helpers.memory_sessions import Harness, begun, done, heads
from tests.helpers.waiting import PATIENCE

pytestmark = [pytest.mark.house, pytest.mark.broker]

WORDS_ONLY = Embed(provider="off")
COPIED, LOST, NEW = "The quay has a red crane.", "The quay has a blue crane.", "The quay has a green crane."
KINDS = ("message", "memory")
KNOWING = ("tagger", "desk", "responder", "historian", "indexer")
"""The rooms that have read or written the lost part."""


async def worked(bus: Bus, session: str, memory: str, turns: int = 3) -> Harness:
    """A session that says something, is served each time, and leaves a memory behind."""
    harness = await begun(bus, "opencode", session)
    for turn in range(turns):
        await harness.step(())
        await harness.says(f"{session} says {turn}")
    await harness.step(())
    await done(bus, MemoryWrite(text=memory, category="CONSTRAINTS"))
    await settle(bus)
    return harness


async def begun_anew(running: Installation, before: Mapping[str, int]) -> None:
    async def all_began_anew() -> bool:
        return all(running.status[room].pid != before[room] for room in KNOWING)

    await until(all_began_anew, "each room that knew of the lost part has ended, and begun again")


async def goes_on(bus: Bus, session: Harness) -> None:
    """A session of which the log has lost the end is served: its plan is void, and fetched anew."""
    session.bus = bus
    await session.says("and on")
    plan = await session.asks(())
    assert ("ready", 0) == (plan.status, len(plan.revisions))
    assert 0 < plan.revision < session.revision
    session.revision = 0
    assert await session.step(())
    assert plan.revision <= session.revision


def put_back(copy: Path, data: Path) -> None:
    shutil.rmtree(data / "jetstream")
    shutil.copytree(copy, data / "jetstream")


async def status_of(bus: Bus) -> Status:
    return msgspec.json.decode(await bus.request(ask(StatusAsk.NAME), encode(StatusAsk()), PATIENCE), type=Status)


async def indexed(bus: Bus) -> None:
    """Wait until all of the log is in the index that is searched."""

    async def is_indexed() -> bool:
        question = SearchAsk(HARBOUR.project, "crane", min_seq=await LogReader(bus).head())
        reply = await bus.request(ask(SearchAsk.NAME, HARBOUR.project), encode(question), PATIENCE)
        return int(msgspec.json.decode(reply, type=dict).get("read_through", 0)) >= await LogReader(bus).head()

    await until(is_indexed, "the index holds all of the log")


async def found(bus: Bus, query: str) -> str:
    reply = await bus.request(ask(SearchAsk.NAME, HARBOUR.project), encode(SearchAsk(HARBOUR.project, query)), PATIENCE)
    return " ".join(hit.fragment for hit in msgspec.json.decode(reply, type=Hits).hits)


async def assert_the_index_is_of_this_log(installation: InstallationFactory, data: Path, elsewhere: Path) -> None:
    """Nobody else reads for an index meanwhile: two of them would take each other's facts."""
    there = [await rows_of(data, kind) for kind in KINDS]
    async with installation(data, (), embed=WORDS_ONLY) as running:
        endpoint = running.endpoint
        bus = await Bus.connect(endpoint.url, "test", user=endpoint.user, password=endpoint.password)
        indexer = Indexer()
        async with opened(indexer, bus, Settings(data=elsewhere, embed=WORDS_ONLY)):
            await until(indexer.idle, "all of the log is in the new index")
        await bus.close()
    assert [await rows_of(elsewhere, kind) for kind in KINDS] == there
    assert all(there)


async def assert_all_is_of_this_log(bus: Bus, elsewhere: Path) -> None:
    """Views and index are what a rebuild makes, and nothing of the lost part is served anywhere."""
    log, shown = await log_and_views(bus)
    assert "lost" not in {envelope.session for envelope, _ in log}
    assert await rebuilt(log, elsewhere / "views.duckdb") == shown
    await indexed(bus)
    assert "blue" not in await found(bus, "blue crane")
    assert "red" in await found(bus, "red crane")


async def assert_it_is_logged(bus: Bus, data: Path, known: int, head: int) -> None:
    (one,) = (await status_of(bus)).breaks
    assert known == one.known
    assert one.agreed <= head
    (finding,) = [
        one
        for one in judge(await look(Settings(data=data)))
        if "went back" in one.finding or "another one" in one.finding
    ]
    assert ("WARN", "log") == (finding.level, finding.what)


@asynccontextmanager
async def copied(
    installation: InstallationFactory, data: Path, copy: Path
) -> AsyncIterator[tuple[Installation, Bus, Harness]]:
    """An installation that goes on behind a copy of its log, made as the manual says; a session goes on with it."""
    async with installation(data, ROOMS, embed=WORDS_ONLY) as running:
        bus = await connect(running)
        session = await worked(bus, "copied", COPIED)
        await bus.close()
    shutil.copytree(data / "jetstream", copy)
    async with installation(data, ROOMS, embed=WORDS_ONLY) as running:
        bus = await connect(running)
        await worked(bus, "lost", LOST)
        session.bus = bus
        for turn in range(3):
            await session.says(f"copied says {turn} again")
            await session.step(())
        await indexed(bus)
        yield running, bus, session


async def test_a_copy_that_is_put_back_under_running_rooms_ends_each_and_is_served_at_once(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    data, copy, elsewhere = (tmp_path / name for name in ("data", "copy", "elsewhere"))
    async with copied(installation, data, copy) as (running, bus, session):
        known = await LogReader(bus).head()
        await bus.close()
        before = {room: status.pid for room, status in running.status.items()}
        assert running.broker is not None
        assert running.broker.process is not None
        os.kill(running.broker.process.pid, signal.SIGSTOP)  # or it writes while its files are taken away
        put_back(copy, data)
        os.kill(running.broker.process.pid, signal.SIGKILL)
        await begun_anew(running, before)
        again = await connect(running)
        head = await LogReader(again).head()
        assert head < known
        other = await worked(again, "new", NEW)
        assert "blue" not in "".join(heads(await other.step(())))
        await goes_on(again, session)
        await assert_all_is_of_this_log(again, elsewhere)
        await assert_it_is_logged(again, data, known, head)
        await again.close()
    await assert_the_index_is_of_this_log(installation, data, elsewhere)


@pytest.mark.soak
@pytest.mark.parametrize("grows", [False, True], ids=["as the manual says", "grown beyond its old end"])
async def test_a_copy_that_is_put_back_while_all_is_down_is_noticed_at_the_start(
    installation: InstallationFactory, tmp_path: Path, *, grows: bool
) -> None:
    data, copy, elsewhere = (tmp_path / name for name in ("data", "copy", "elsewhere"))
    async with copied(installation, data, copy) as (_, bus, session):
        known = await LogReader(bus).head()
        await bus.close()
    put_back(copy, data)
    if grows:  # by a room that keeps nothing, before those look that do
        async with installation(data, ("tagger",), embed=WORDS_ONLY) as running:
            endpoint = running.endpoint
            bus = await Bus.connect(endpoint.url, "test", user=endpoint.user, password=endpoint.password)

            async def is_longer() -> bool:
                harness = await begun(bus, "opencode", f"grown {await LogReader(bus).head()}")
                await harness.says("the quay has a yellow crane")
                return await LogReader(bus).head() > known + 20

            await until(is_longer, "the log is longer than it was")
            await bus.close()
    async with installation(data, ROOMS, embed=WORDS_ONLY) as running:
        bus = await connect(running)
        head = await LogReader(bus).head()
        assert grows == (head > known)
        if not grows:
            await goes_on(bus, session)
        await worked(bus, "new", NEW)
        await assert_all_is_of_this_log(bus, elsewhere)
        await assert_it_is_logged(bus, data, known, head)
        await bus.close()
    await assert_the_index_is_of_this_log(installation, data, elsewhere)


async def write_index(bus: Bus, data: Path) -> list[object]:
    """Have an indexer in this process write all of the log to the index there, and read it.

    A process of its own gives way to all others: on a busy machine it gets no time.
    """
    indexer = Indexer()
    async with opened(indexer, bus, Settings(data=data, embed=WORDS_ONLY)):
        await until(indexer.idle, "all of the log is in the index")
    return [await rows_of(data, kind) for kind in KINDS]


@pytest.mark.soak
async def test_a_copy_that_is_put_back_while_all_rooms_are_killed_is_served_soon(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    """Whatever rooms and broker had in hand: nothing is closed in order. What they leave is read from their files."""
    data, copy, elsewhere = (tmp_path / name for name in ("data", "copy", "elsewhere"))
    async with installation(data, KNOWING[:-1], embed=WORDS_ONLY) as running:
        bus = await connect(running)
        session = await worked(bus, "copied", COPIED, turns=1)
        broker = running.broker and running.broker.process
        assert broker
        os.kill(broker.pid, signal.SIGSTOP)  # or it writes while its files are copied
        shutil.copytree(data / "jetstream", copy)
        os.kill(broker.pid, signal.SIGCONT)
        await worked(bus, "lost", LOST, turns=1)
        assert "blue" in str(await write_index(bus, data))
        known = await LogReader(bus).head()
        os.kill(broker.pid, signal.SIGSTOP)
        for status in running.status.values():
            os.kill(status.pid, signal.SIGKILL)
        put_back(copy, data)
        os.kill(broker.pid, signal.SIGKILL)
        await bus.close()
        again = await connect(running)
        assert await LogReader(again).head() < known
        session.bus = again
        await session.says("and on")
        assert "ready" == (await session.asks(())).status
        other = await worked(again, "new", NEW, turns=1)
        assert "blue" not in "".join(heads(await other.step(())))
        await settle(again)
        assert [known] == [one.known for one in (await status_of(again)).breaks]
        head, log = await LogReader(again).head(), await facts(again)
        indexed_here = await write_index(again, data)
        assert "blue" not in str(indexed_here)
        assert await write_index(again, elsewhere) == indexed_here
        await again.close()
    assert {"copied", "new"} == {envelope.session for envelope, _ in log} - {""}
    position, left = await left_views(data / "views" / file_name())
    assert head <= position
    assert left == await rebuilt([fact for fact in log if fact[0].seq <= position], elsewhere / "views.duckdb")
