"""A log of which the disk has lost facts is erased from all the same: what is left stays at its positions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.events import SessionRenamed
from services.edges.launcher.broker import Broker
from services.edges.launcher.leftover import end_leftover
from services.kit.bus import Appender, LogReader
from services.kit.bus.holes import given_up
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.broker_world import connected, titles, wrapped
from tests.helpers.erasing import erase

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

SECRET = "kestrels77"  # noqa: S105 - of this test
MANY = 28
"""Facts of three blocks of the broker."""


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "data"
    yield place
    end_leftover(place)


async def planted(data: Path) -> None:
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    bus = await connected(server)
    await bus.ensure()
    long = "crane " * 130_000
    for number in range(MANY):
        await Appender(bus).append(wrapped([SessionRenamed(title=f"{number} {long}")]), {})
    await Appender(bus).append(wrapped([SessionRenamed(title=f"the word {SECRET}")]), {})
    await bus.close()
    server.stop()


async def facts_of(data: Path) -> tuple[dict[int, str], tuple[int, ...]]:
    """The ids of what can be read as a fact, by their positions, and the positions that are given up."""
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    bus = await connected(server)
    await bus.ensure()
    found = {one.envelope.seq: one.envelope.id async for one in LogReader(bus).after(0, "log.>") if not one.problem}
    lost = await given_up(bus)
    await Appender(bus).append(wrapped(titles(1)), {})
    await bus.close()
    server.stop()
    return found, lost


@pytest.mark.parametrize("block", [0, 1])
async def test_what_is_left_stays_at_its_positions_and_the_secret_goes(data: Path, block: int) -> None:
    await planted(data)
    blocks = sorted(data.rglob("streams/LOG/msgs/*.blk"), key=lambda path: int(path.stem))  # noqa: ASYNC240
    assert len(blocks) >= 3
    blocks[block].unlink()
    before, lost = await facts_of(data)
    assert lost
    done = erase(data, "secret", "--yes", word=SECRET)
    assert 0 == done.returncode, done.stdout + done.stderr
    after, _ = await facts_of(data)
    assert before == {seq: name for seq, name in after.items() if seq in before}
    assert not after.keys() & {*lost}
