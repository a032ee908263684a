"""Fixtures that need the world: a real broker, and a whole house."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from services.kit.bus import Bus
from services.kit.settings import Logs, Settings
from services.launcher.broker import Broker
from services.launcher.supervisor import House

MAX_PAYLOAD = 1024 * 1024
HouseFactory = Callable[..., AbstractAsyncContextManager[House]]


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[Broker]:
    """A nats-server of the test's own, with our streams."""
    server = Broker(tmp_path, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    bus = await connect(server)
    await bus.ensure()
    await bus.close()
    yield server
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


@asynccontextmanager
async def running_house(data: Path, **changes: object) -> AsyncIterator[House]:
    """Run a house in a directory, with some settings changed."""
    settings = Settings(data=data, logs=Logs(level="warning")).model_copy(update=changes)
    async with House(settings).running() as house:
        yield house


@pytest.fixture
def house() -> HouseFactory:
    """A broker and all rooms as processes, as `annals up` starts them, in a directory."""
    return running_house
