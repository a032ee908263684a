"""An index that the erasure does not reach, of a room on another machine: it notices that the log is another one.

Positions and ids of facts stay as they are. The time at which the broker stored each fact distinguishes the two logs.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.streams import LOG
from services.edges.launcher.broker import Broker
from services.edges.launcher.leftover import end_leftover
from services.indexer.worker import Indexer
from services.kit.bus import LogReader
from services.kit.same_log import difference
from services.settings import Embed, Settings
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.broker_world import connected, opened, stored
from tests.helpers.erasing import erase, files_with
from tests.helpers.indexed_sessions import LogWriter, listed, message, rows_of
from tests.helpers.waiting import until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

SECRET = "kestrels77"  # noqa: S105 - of this test
TEXTS = ("Berths are numbered", f"the word is {SECRET}", "from north to south")


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "data"
    yield place
    end_leftover(place)


async def test_an_index_elsewhere_is_made_anew_from_the_log_that_was_erased_from(data: Path, tmp_path: Path) -> None:
    elsewhere = Settings(data=tmp_path / "elsewhere", embed=Embed(provider="off"))
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    ids, marks = [], []
    for is_erased in (False, True):
        if is_erased:
            done = erase(data, "secret", "--yes", word=SECRET)
            assert 0 == done.returncode, done.stdout + done.stderr
            assert files_with(elsewhere.data, SECRET)
        await server.start()
        try:
            bus = await connected(server)
            await bus.ensure()
            if not is_erased:
                for number, text in enumerate(TEXTS, 1):
                    await LogWriter(bus).append(*message(f"m{number}", text), listed(number, f"m{number}"))
            log = LogReader(bus)
            if marks:  # as rooms that ran before know it
                assert await difference(log, len(ids[0]), [*marks[0].values()]) is not None
            ids.append([(one.envelope.seq, one.envelope.id) async for one in log.after(0, "log.>")])
            marks.append(await log.marks(range(1, len(ids[0]) + 1)))
            async with opened(indexer := Indexer(), bus, elsewhere):
                await until(indexer.idle)
            rows = [row["text"] for row in await rows_of(elsewhere.data)]
            assert is_erased != any(SECRET in row for row in rows)
            assert len(TEXTS) == len(rows)
            await bus.close()
        finally:
            server.stop()
    assert ids[0] == ids[1][: len(ids[0])]
    assert [] == files_with(elsewhere.data, SECRET)


async def test_the_log_that_nothing_was_erased_from_is_the_same_one(data: Path) -> None:
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    marks = {}
    for _ in range(2):
        await server.start()
        try:
            bus = await connected(server)
            await bus.ensure()
            if not marks:
                await LogWriter(bus).append(*message("m1", TEXTS[0]), listed(1, "m1"))
                marks = dict(await LogReader(bus).marks(range(1, 1 + len(await stored(bus, LOG.name)))))
            assert None is await difference(LogReader(bus), len(marks), [*marks.values()])
            await bus.close()
        finally:
            server.stop()
