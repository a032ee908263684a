"""Fixtures that need the world: a real broker, a whole installation, recordings of other projects."""

import asyncio
import gc
import os
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
import structlog
from msgspec.structs import replace

from services.edges.launcher.broker import HOST, Broker
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Bus, connection
from services.kit.rooms import ROOMS
from services.settings import Http, Logs, Settings, Views
from tests.helpers import recordings
from tests.helpers.accounts import MAX_PAYLOAD, Accounts
from tests.helpers.examples import use_profile
from tests.helpers.shared_rooms import Shared, loaded
from tests.helpers.surroundings import SETTINGS

WITHOUT_SEARCH = tuple(room for room in ROOMS if room not in {"commit_indexer", "embedder", "indexer", "searcher"})
"""Search loads libraries for seconds; most tests are not on it."""

InstallationFactory = Callable[..., AbstractAsyncContextManager[Installation]]


def pytest_configure(config: pytest.Config) -> None:
    """What a developer has set is none of a test's business: what no test sets is as it is by default."""
    recordings.rename_variable()
    for name in {name for name in os.environ if name.startswith(SETTINGS)}:
        del os.environ[name]
    use_profile()
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", default=None):
        gc.disable()  # while thousands of tests are collected: to look through them again and again took half the time


def pytest_collection_finish() -> None:
    """What was collected is never looked through again; the garbage of tests is collected as ever."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """At its end a process may take apart all that it had."""
    gc.unfreeze()
    gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: a test that waits for other processes leaves one free."""
    return (os.cpu_count() or 1) + 1


COSTS = {"harness": 4.0, "house": 4.0, "broker": 0.4, "slow": 0.4}
"""Seconds that a test with a marker takes, roughly; of several the first counts."""
COST = 0.03


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs foreign recordings, before pytest selects by marker; the longest files begin first.

    A long one that began late would end alone, while other processes have nothing to do.
    """
    seconds: Counter[Path] = Counter()
    for item in items:
        if foreign.__name__ in getattr(item, "fixturenames", ()):
            item.add_marker("recorded")
        seconds[item.path] += _cost(item)
    items.sort(key=lambda item: -seconds[item.path])


def _cost(item: pytest.Item) -> float:
    marked = {mark.name for mark in item.iter_markers()}
    return next((cost for marker, cost in COSTS.items() if marker in marked), COST)


@pytest.fixture
def foreign() -> Path:
    """The folder of recordings of other projects."""
    folder = recordings.foreign()
    if folder is None:
        pytest.skip(f"needs recordings of other projects: name their folder in {recordings.FOREIGN}")
    return folder


@pytest.fixture(scope="session")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Accounts]:
    """The accounts of a nats-server that the tests of one process share."""
    unused = Accounts(tmp_path_factory.mktemp("brokers"))
    yield unused
    unused.close()


@pytest.fixture
async def broker(request: pytest.FixtureRequest, accounts: Accounts, tmp_path: Path) -> AsyncIterator[Broker]:
    """A broker with our streams: an account that nobody had before or, marked `own_broker`, a server of its own."""
    is_own = request.node.get_closest_marker("own_broker") is not None
    server = Broker(tmp_path, port=0, max_payload=MAX_PAYLOAD) if is_own else await accounts.take()
    if is_own:
        await server.start()
    bus = await connect(server)
    await bus.ensure()
    await bus.close()
    yield server
    if is_own:
        server.stop()


async def connect(server: Broker, user: str = "room") -> Bus:
    endpoint = server.endpoint if user == "room" else server.endpoint_of(user)
    return await Bus.connect(endpoint.url, "test", user=endpoint.user, password=endpoint.password)


@pytest.fixture
async def bus(broker: Broker) -> AsyncIterator[Bus]:
    """A room's connection to it."""
    connection = await connect(broker)
    yield connection
    await connection.close()


@pytest.fixture
def nowhere() -> Iterator[str]:
    """An address at which no broker listens, and nobody else either as long as the test lasts: its port is taken."""
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        yield f"nats://{HOST}:{taken.getsockname()[1]}"


@asynccontextmanager
async def running_installation(
    data: Path, rooms: Sequence[str] = WITHOUT_SEARCH, **changes: object
) -> AsyncIterator[Installation]:
    """Run an installation in a directory, with some settings changed; with search where that is what a test is on."""
    views = Views(copy_every=0, sql_timeout=60)  # who asks in SQL always sees what is there
    http = Http(unanswered_after=0)  # rooms that a test stops stay so, and one on a busy machine is not ended
    settings = replace(Settings(data=data, logs=Logs(level="warning"), views=views, http=http), **changes)
    begun_by = None
    if sys.platform == "linux":
        await asyncio.to_thread(loaded)  # which takes seconds, and a connection to the broker would not wait that long
        begun_by = Shared()
    async with Installation(settings, rooms, begun_by=begun_by).running() as installation:
        yield installation


@pytest.fixture
def installation() -> InstallationFactory:
    """A broker and all rooms as processes, as `annals up` starts them, in a directory."""
    return running_installation


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """What is set around each test. No fixture: thousands of tests would ask for it that need nothing of it.

    A broker of a test's own is back in no time, so nobody waits long before trying again. Where rooms work on a real
    broker, log lines are as in production, without the values of local variables. What one test sets for logs ends
    with it: the next one would write to a stream that is closed.
    """
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("broker"):
            patch.setattr(connection, "RECONNECT_WAIT", 0.02)
            patch.setattr(connection, "RESTART", 0.2)  # a test that has nobody who answers need not wait for one
            renderers = [structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()]
            structlog.configure(processors=renderers)
        try:
            return (yield)
        finally:
            structlog.reset_defaults()
