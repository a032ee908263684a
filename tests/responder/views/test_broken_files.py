"""What may befall the file of views: it is mended or built anew, and what it says is what the log says."""

import asyncio
import contextlib
import resource
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec
import pytest

from schemas.events import DropRequested
from services.kit.duck import BadQuery, DuckError
from services.responder.views import files
from services.responder.views.files import ASIDE, Files
from services.responder.views.store import PREFIX, file_name
from tests.helpers.recorded_log import RecordedLog
from tests.helpers.view_facts import MEMORY, Fact, close, commit, fact, open_store

pytestmark = pytest.mark.slow

FACTS = [fact(seq, DropRequested(tags=[(seq * 50 + n) ** 5 % 2**61 for n in range(50)])) for seq in range(1, 2001)]
"""So many numbers that not all of them are in the parts of the file that are read when it is opened."""
END = FACTS[-1][0].seq
LOG = RecordedLog(FACTS)
OTHER = [(msgspec.structs.replace(envelope, id=f"other-{envelope.id}"), event) for envelope, event in FACTS]

Damage = Callable[[bytes], bytes]


def flipped(start: float, length: int = 4096) -> Damage:
    """Turn every bit of a stretch that begins at this share of the file."""

    def damage(data: bytes) -> bytes:
        at = int(start * len(data))
        return data[:at] + bytes(byte ^ 0xFF for byte in data[at : at + length]) + data[at + length :]

    return damage


def filled(folder: Path, facts: list[Fact] = FACTS, name: str | None = None) -> Path:
    """A file of views that holds these facts; closed."""
    path = folder / (name or file_name())
    store = open_store(path)
    for start in range(0, len(facts), 500):
        commit(store, facts[start : start + 500])
    close(store)
    return path


def spoiled(path: Path, sql: str) -> None:
    """Change something in a file that nobody has open."""
    store = open_store(path)
    asyncio.run(store.duck.write(lambda db: db.execute(sql) and None))
    close(store)


async def opened(path: Path, log: RecordedLog = LOG) -> Files:
    return await Files.open(path.parent, memory_limit=MEMORY, log=log)


async def count(found: Files) -> tuple[object, ...]:
    """How many different facts there are, and how many rows."""
    answer = await found.serving.duck.query(
        "select count(distinct id), count(*) from drop_requested", max_rows=1, timeout=60
    )
    return answer.rows[0]


async def catch_up(found: Files) -> None:
    """Do what the projector does: commit what the log holds behind the file's position."""
    await found.commit(FACTS[found.committed :], END)


async def assert_built_anew(path: Path, log: RecordedLog = LOG) -> None:
    found = await opened(path, log)
    try:
        assert 0 == found.committed
        assert path.with_name(path.name + ASIDE).exists()
        await catch_up(found)
        assert (END, END) == await count(found)
    finally:
        await found.close()


# Opening


@pytest.mark.parametrize(
    "damage",
    [lambda _: b"", lambda data: data[: len(data) // 2], lambda _: b"no database" * 9000, flipped(0.0), flipped(0.02)],
    ids=["empty", "cut", "something else", "first header", "second header"],
)
def test_a_file_that_cannot_be_opened_is_put_aside_and_built_anew(tmp_path: Path, damage: Damage) -> None:
    path = filled(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    asyncio.run(assert_built_anew(path))
    assert damage(whole) == path.with_name(path.name + ASIDE).read_bytes()


@pytest.mark.parametrize(
    "sql",
    ["delete from checkpoint_row", "update checkpoint_row set seq = 100", f"update checkpoint_row set seq = {END + 1}"],
    ids=["no position", "too low", "beyond the log"],
)
def test_a_file_whose_position_is_not_that_of_its_facts_is_built_anew(tmp_path: Path, sql: str) -> None:
    path = filled(tmp_path)
    spoiled(path, sql)
    asyncio.run(assert_built_anew(path))


def test_a_file_of_another_log_is_built_anew(tmp_path: Path) -> None:
    asyncio.run(assert_built_anew(filled(tmp_path, OTHER)))


def test_a_file_of_a_log_that_was_longer_is_built_anew(tmp_path: Path) -> None:
    path, restored = filled(tmp_path), FACTS[:1000]

    async def restoring() -> None:
        found = await opened(path, RecordedLog(restored))
        assert 0 == found.committed
        await found.commit(restored, 1000)
        assert (1000, 1000) == await count(found)
        await found.close()

    asyncio.run(restoring())


def test_a_file_that_is_whole_goes_on(tmp_path: Path) -> None:
    path = filled(tmp_path, FACTS[:1000])

    async def going_on() -> None:
        found = await opened(path)
        assert 1000 == found.committed
        await catch_up(found)
        assert (END, END) == await count(found)
        await found.close()

    asyncio.run(going_on())
    assert [path.name] == [one.name for one in tmp_path.iterdir()]


def test_an_older_file_of_another_log_answers_nothing(tmp_path: Path) -> None:
    filled(tmp_path, OTHER, f"{PREFIX}000000000000.duckdb")

    async def answering() -> None:
        found = await opened(tmp_path / file_name())
        assert not found.is_building
        assert (0, 0) == await count(found)
        await found.close()

    asyncio.run(answering())


HOLDING = "import sys, duckdb; opened = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"


def test_a_file_that_another_process_has_is_left_to_it(tmp_path: Path) -> None:
    path = filled(tmp_path, FACTS[:500])

    async def opening() -> None:
        other = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLDING, str(path), stdin=PIPE, stdout=PIPE)
        assert other.stdout is not None
        await other.stdout.readline()
        with pytest.raises(DuckError, match="lock"):
            await opened(path)
        await other.communicate(b"")
        found = await opened(path)
        assert 500 == found.committed
        await found.close()

    asyncio.run(opening())


# While it is used


@asynccontextmanager
async def mended(path: Path, log: RecordedLog = LOG) -> AsyncIterator[tuple[Files, asyncio.Event]]:
    """The files, and what is set when the projector is to read anew."""
    found, rebuilt = await opened(path, log), asyncio.Event()
    mending = asyncio.create_task(found.mend(rebuilt.set))
    try:
        yield found, rebuilt
    finally:
        mending.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await mending
        await found.close()


@contextmanager
def full_disk(longest: int) -> Iterator[None]:
    """No file may be longer than so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (longest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "RETRY_PAUSE", 0.02)


async def shows_late(path: Path) -> bool:
    """Whether the file can be opened, and not be read."""
    found = await opened(path)
    try:
        return found.committed == END and not await reads_all(found)
    finally:
        await found.close()


async def reads_all(found: Files) -> bool:
    try:
        await found.serving.duck.query("select * from drop_requested", max_rows=END, timeout=60)
    except BadQuery:
        return False
    return True


def test_damage_that_shows_when_it_is_read_is_mended_without_a_restart(tmp_path: Path) -> None:
    path = filled(tmp_path)
    whole = path.read_bytes()

    async def reading() -> None:
        shares = iter(part / 20 for part in range(6, 18))
        path.write_bytes(flipped(next(shares))(whole))
        while not await shows_late(path):
            path.write_bytes(flipped(next(shares))(whole))
        async with mended(path) as (found, rebuilt):
            assert not await reads_all(found)
            await rebuilt.wait()
            assert 0 == found.committed
            await catch_up(found)
            assert (END, END) == await count(found)

    asyncio.run(reading())


@pytest.mark.parametrize("words", ["Corrupt database file: computed checksum 1", "not a valid DuckDB database"])
def test_a_query_that_says_the_words_of_damage_breaks_nothing(tmp_path: Path, words: str) -> None:
    path = filled(tmp_path, FACTS[:10])

    async def asking() -> None:
        async with mended(path) as (found, _):
            for sql in (f"select error('{words}')", f"select '{words}'::integer", f'select "{words}"'):
                with pytest.raises(BadQuery, match=words):
                    await found.serving.duck.query(sql, max_rows=1, timeout=60)
            assert not found.building.duck.broken.is_set()

    asyncio.run(asking())


def test_a_broker_that_is_away_meanwhile_only_delays_the_mending(tmp_path: Path) -> None:
    class Away(RecordedLog):
        refuses = 0

        async def head(self) -> int:
            self.refuses -= 1
            if self.refuses >= 0:
                raise ConnectionError("the log could not be read")
            return await super().head()

    path, log = filled(tmp_path, FACTS[:1000]), Away(FACTS)

    async def waiting() -> None:
        async with mended(path, log) as (found, rebuilt):
            log.refuses = 3
            found.building.duck.broken.set()
            await rebuilt.wait()
            assert (1000, 1000) == (found.committed, (await count(found))[0])
            assert log.refuses < 0

    asyncio.run(waiting())


def test_a_query_while_the_file_is_opened_again_gets_that_reason_and_is_answered_afterwards(tmp_path: Path) -> None:
    path = filled(tmp_path, FACTS[:1000])

    async def asking() -> None:
        async with mended(path) as (found, rebuilt):
            broken = found.building.duck
            broken.broken.set()
            with pytest.raises(BadQuery, match="ask again"):
                await count(found)
            await rebuilt.wait()
            with pytest.raises(BadQuery, match="ask again"):
                await broken.query("select 1", max_rows=1, timeout=60)
            assert (1000, 1000) == await count(found)

    asyncio.run(asking())


def test_a_full_disk_loses_nothing_and_all_goes_on_when_there_is_room(tmp_path: Path) -> None:
    path = filled(tmp_path, FACTS[:1000])

    async def writing() -> None:
        async with mended(path) as (found, rebuilt):
            await found.commit(FACTS[1000:1500], 1500)
            log = path.with_name(f"{path.name}.wal")
            with full_disk(log.stat().st_size // 2):
                with pytest.raises(DuckError, match="Could not write"):
                    await found.building.duck.write(
                        lambda db: db.execute("insert into drop_requested from drop_requested") and None
                    )
                with pytest.raises(DuckError, match="Could not write"):
                    await found.idle()
                await asyncio.sleep(0)
            await rebuilt.wait()
            assert 1500 == found.committed
            await catch_up(found)
            assert (END, END) == await count(found)

    asyncio.run(writing())
    assert not path.with_name(path.name + ASIDE).exists()
