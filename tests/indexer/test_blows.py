"""What may befall an index: redelivery, kills at any moment, a full disk, a broken embedder, another model, damage."""

import asyncio
import random
import resource
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import structlog

from schemas.asks import EmbedAsk, Embedded, EmbeddedText
from schemas.codec import encode
from schemas.events import CommitSeen, NoteWritten
from schemas.search_asks import Hits, SearchAsk
from schemas.streams import LOG
from schemas.subjects import Address, ask
from services.domain.search.rows import row_id
from services.edges.launcher.broker import Broker
from services.indexer import filler
from services.indexer.core.changes import Changes, RowChanges, key
from services.indexer.index import Index
from services.indexer.upkeep import Upkeep
from services.indexer.worker import Indexer
from services.kit import projector
from services.kit.bus import Bus, LogReader
from services.kit.index_place import Current, folder_of, read_current, read_position, set_name, write_position
from services.kit.logs import logger
from services.searcher.worker import Searcher
from services.settings import Embed, Settings
from services.settings import IndexSettings as Limits
from tests.helpers.accounts import Accounts
from tests.helpers.broker_world import connected, opened
from tests.helpers.indexed_sessions import BEGAN, LogWriter, answered, listed, message, removed, rows_of
from tests.helpers.search_rows import row
from tests.helpers.surroundings import surroundings
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

WORDS_ONLY = Embed(provider="off")
ROWS = ("text", "before", "after", "ordinal", "seq", "hash")


def settings_of(folder: Path, **changes: Any) -> Settings:  # noqa: ANN401 - settings of several types
    return Settings(data=folder, **({"embed": WORDS_ONLY} | changes))


async def a_session(bus: Bus, chance: random.Random, length: int, name: str = "m") -> None:
    """Messages that come, with outputs of tools, are given places, are written anew and are removed."""
    append = LogWriter(bus).append
    for number in range(length):
        text = " ".join(f"w{chance.randint(0, 99)}" for _ in range(chance.randint(1, 120)))
        await append(*message(f"{name}{number}", text, chance.choice(["user", "assistant"])))
        if chance.random() < 0.3:
            await append(*answered(f"{name}{number}", f"{text} E{chance.randint(10, 99)}"))
        if chance.random() < 0.5:
            await append(listed(number + 1, f"{name}{number}"))
        if chance.random() < 0.15:
            await append(removed(f"{name}{chance.randint(0, number)}"))


async def rebuilt(bus: Bus, folder: Path) -> Sequence[Mapping[str, Any]]:
    """What an index holds that is made in one go."""
    indexer = Indexer()
    async with opened(indexer, bus, settings_of(folder)):
        await until(indexer.idle)
    return await all_rows(folder)


async def all_rows(folder: Path) -> Sequence[Mapping[str, Any]]:
    """The messages of people and agents, and the names in outputs of tools."""
    texts, answers = [await rows_of(folder, kind, columns=ROWS) for kind in ("message", "output")]
    assert texts
    assert answers
    return [*texts, *answers]


async def test_what_is_delivered_again_is_one_row(bus: Bus, tmp_path: Path) -> None:
    chance = random.Random(1)
    indexer = Indexer()
    async with opened(indexer, bus, settings_of(tmp_path / "grown")):
        await a_session(bus, chance, 15)
        await until(indexer.idle)
        await bus.rewind(LOG.name, "indexer", 1)
        await a_session(bus, chance, 15, "n")
        await until(indexer.idle)
    assert await rebuilt(bus, tmp_path / "rebuilt") == await all_rows(tmp_path / "grown")


async def test_a_position_that_was_not_written_down_brings_no_row_twice(bus: Bus, tmp_path: Path) -> None:
    settings, indexer = settings_of(tmp_path / "grown"), Indexer()
    position = tmp_path / "grown" / "index" / set_name() / "position.json"
    async with opened(indexer, bus, settings):
        await a_session(bus, random.Random(2), 10)
        await until(indexer.idle)
    older = position.read_bytes()
    async with opened(indexer := Indexer(), bus, settings):
        await a_session(bus, random.Random(3), 10, "n")
        await until(indexer.idle)
    position.write_bytes(older)
    async with opened(indexer := Indexer(), bus, settings):
        await until(indexer.idle)
    assert await rebuilt(bus, tmp_path / "rebuilt") == await all_rows(tmp_path / "grown")


PROGRAM = """
import sys
from pathlib import Path
from services.kit.run import run
from services.indexer.worker import Indexer
sys.exit(run(Indexer, []))
"""


@asynccontextmanager
async def a_process(broker: Broker, folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    endpoint = broker.endpoint
    variables = surroundings(folder / "home") | {
        "ANNALS_DATA": str(folder),
        "ANNALS_NATS__URL": endpoint.url,
        "ANNALS_NATS__PASSWORD": str(endpoint.password),
        "ANNALS_EMBED__PROVIDER": "off",
        "ANNALS_INDEX__BATCH": "7",
        "ANNALS_INDEX__LINGER": "0.01",
        "ANNALS_LOGS__LEVEL": "error",
    }
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, env=variables)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.soak
@pytest.mark.own_broker
@pytest.mark.slow
async def test_kills_at_any_moment_lose_and_double_nothing(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    """The indexer is killed while it works, and once so is the broker."""
    chance, folder = random.Random(4), tmp_path / "grown"
    await a_session(bus, chance, 60)
    for number in range(5):
        before = _through(folder)
        moment = chance.randint(before + 1, await LogReader(bus).head())
        async with a_process(broker, folder) as process:
            if number == 2:
                await until(lambda: _through(folder) > before)  # noqa: B023 - it is waited for in this round
                broker.stop()
                await broker.start()
            await until(lambda: _through(folder) >= moment)  # noqa: B023 - so is this
            process.send_signal(signal.SIGKILL)
        await until(lambda: bus.connected)
        await a_session(bus, chance, 5, f"n{number}.")
    made = await rebuilt(bus, tmp_path / "rebuilt")
    indexer = Indexer()
    async with opened(indexer, bus, settings_of(folder)):
        await until(indexer.idle)
    assert made == await all_rows(folder)


def _through(folder: Path) -> int:
    return read_position(folder_of(folder) / set_name()).through


async def test_a_full_disk_is_reported_and_heals(bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projector, "RETRY_PAUSE", 0.05)
    append, indexer = LogWriter(bus).append, Indexer()
    long = [random.Random(number).randbytes(30_000).hex() for number in range(3)]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with opened(indexer, bus, settings_of(tmp_path)), quiet():
        await append(*message("m1", "lighthouse"))
        await until(indexer.idle)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))  # no file may be longer: the disk is full
        try:
            for number, text in enumerate(long):
                await append(*message(f"n{number}", text))
            await until(lambda: indexer.health()["failure"])
            assert indexer.health()["ok"] is False
            (failure,) = cast("list[str]", indexer.health()["failures"])
            assert failure.startswith("the index cannot be written: ")
            nothing, lighthouse = await searched(bus, tmp_path, "hovercraft", "lighthouse")
            assert ((), True) == (nothing.hits, bool(nothing.index_failure))
            assert "Nothing was found. " not in nothing.text
            assert "the index cannot be written" in nothing.text
            assert ["m1"] == [hit.id for hit in lighthouse.hits]
            assert "the index cannot be written" in lighthouse.text
            assert ["lighthouse"] == [row["text"] for row in await rows_of(tmp_path)]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        await until(indexer.idle)
        await until(lambda: indexer.health()["ok"])
    assert ["lighthouse", *long] == [row["text"] for row in await rows_of(tmp_path)]


async def searched(bus: Bus, data: Path, *queries: str) -> list[Hits]:
    """What a person finds with each of these, who waits for all that the log has."""
    head, found = await LogReader(bus).head(), []
    async with opened(Searcher(), bus, settings_of(data)):
        for query in queries:
            question = encode(SearchAsk("harbour", query, min_seq=head))
            reply = await bus.request(ask(SearchAsk.NAME, "harbour"), question, PATIENCE)
            found.append(msgspec.json.decode(reply, type=Hits))
    return found


@asynccontextmanager
async def quiet() -> AsyncIterator[None]:
    """Without lines in the log: what is captured of them is in a file, too."""
    with structlog.testing.capture_logs():
        yield


LONG = " ".join(["one"] * 90)
"""So long that it is read alone."""


class FakeModel:
    """An embedder that answers as its test asks: each text's vector begins with its length."""

    def __init__(self, name: str = "a", dimensions: int = 4) -> None:
        self.name, self.dimensions, self.error = name, dimensions, ""
        self.asked: list[str] = []

    async def handle(self, _: str, data: bytes) -> bytes:
        ask = msgspec.json.decode(data, type=EmbedAsk)
        if self.error and ask.texts:
            return encode(Embedded(self.name, self.dimensions, error=self.error))
        self.asked += ask.texts
        vector = encode_vector(1.0, *[0.0] * (self.dimensions - 1))
        return encode(Embedded(self.name, self.dimensions, texts=tuple(EmbeddedText(vector) for _ in ask.texts)))


def encode_vector(*numbers: float) -> bytes:
    import struct  # noqa: PLC0415

    return struct.pack(f"<{len(numbers)}f", *numbers)


@pytest.fixture
async def model(bus: Bus) -> FakeModel:
    fake = FakeModel()
    await bus.serve("ask.embed.*", "embedder", fake.handle)
    return fake


async def filled(data: Path) -> list[bool]:
    return [row["vector"] is not None for row in await rows_of(data, columns=("vector",))]


async def test_without_an_embedder_rows_are_written_and_filled_when_it_is_there_again(
    bus: Bus, tmp_path: Path, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filler, "SHORTEST_PAUSE", 0.05)
    append, indexer = LogWriter(bus).append, Indexer()
    model.error = "the model is on holiday"
    async with opened(indexer, bus, settings_of(tmp_path, embed=Embed())):
        await append(*message("m1", "one"))
        await until(lambda: indexer.health().get("vectors_failure"))
        assert ("the model is on holiday", True) == (
            indexer.health()["vectors_failure"],
            indexer.health()["ok"],
        )
        assert [False] == await filled(tmp_path)
        model.error = ""
        await until(lambda: not indexer.health()["vectors_failure"])
        await until(indexer.idle)
        assert [True] == await filled(tmp_path)


async def test_another_model_has_an_index_of_its_own_next_to_the_old_one(
    bus: Bus, tmp_path: Path, model: FakeModel
) -> None:
    append, indexer = LogWriter(bus).append, Indexer()
    async with opened(indexer, bus, settings_of(tmp_path, embed=Embed())):
        await append(*message("m1", LONG))
        await until(indexer.idle)
        model.name, model.dimensions = "b", 8
        await append(*message("m2", "two"))
        await until(lambda: read_current(tmp_path) == Current(set_name("b"), "b", 8))
        await until(indexer.idle)
        assert [8, 8] == [len(row["vector"]) for row in await rows_of(tmp_path, columns=("vector",))]
        model.name, model.dimensions = "a", 4
        asked = len(model.asked)
        await append(*message("m3", "three"))
        await until(lambda: read_current(tmp_path) == Current(set_name("a"), "a", 4))
        await until(indexer.idle)
        assert [LONG, "two", "three"] == [row["text"] for row in await rows_of(tmp_path)]
        assert [True, True, True] == await filled(tmp_path)
        assert LONG not in model.asked[asked:]  # its vector is there still


async def test_vectors_that_come_late_are_dropped(tmp_path: Path) -> None:
    index = await Index.open(tmp_path, Current("a", "a", 4))
    rows = {"key": ["k"], "hash": ["older"], "vector": [[1.0, 0, 0, 0]], "vector_beside": [None]}
    assert 0 == await index.fill("message", rows)


@pytest.mark.parametrize("damage", ["table", "position", "older"])
async def test_an_index_that_is_damaged_is_made_anew(bus: Bus, tmp_path: Path, damage: str) -> None:
    settings, folder = settings_of(tmp_path), tmp_path / "index" / set_name()
    await LogWriter(bus).append(*message("m1", "one"))
    async with opened(indexer := Indexer(), bus, settings):
        await until(indexer.idle)
        shutil.copytree(folder, tmp_path / "copy")
        await LogWriter(bus).append(*message("m1", "one"), *message("m2", "two"))
        await until(indexer.idle)
    if damage == "table":
        shutil.rmtree(folder / "message.lance")
    elif damage == "position":
        (folder / "position.json").write_text("{")
    else:
        shutil.rmtree(folder / "message.lance")
        shutil.copytree(tmp_path / "copy" / "message.lance", folder / "message.lance")
    async with opened(indexer := Indexer(), bus, settings):
        await until(indexer.idle)
    assert ["one", "two"] == [row["text"] for row in await rows_of(tmp_path)]


async def test_what_is_wrong_with_an_index_is_logged_once(tmp_path: Path) -> None:
    async def warnings() -> list[str]:
        with structlog.testing.capture_logs() as lines:
            index = await Index.open(tmp_path, Current("words"))
            index.close()
        return [line["reason"] for line in lines if line["log_level"] == "warning"]

    assert [] == await warnings()
    assert [] == await warnings()
    shutil.rmtree(next((tmp_path / "index" / "words").glob("message*.lance")))
    assert ["tables are gone"] == [reason.partition(":")[0] for reason in await warnings()]
    assert [] == await warnings()


@pytest.mark.parametrize("has_another", [False, True], ids=["one row", "rows of each kind"])
async def test_rows_that_a_disk_has_changed_are_made_anew_and_counted(
    bus: Bus, tmp_path: Path, model: FakeModel, *, has_another: bool
) -> None:
    """The row says something else than what its hash was made of; the others, with their vectors, stay as they are."""
    settings = settings_of(tmp_path, embed=Embed())
    append = LogWriter(bus).append
    await append(*message("m1", LONG), *message("m2", "two"), listed(1, "m1", "m2"))
    await append(NoteWritten(note="n1", text="Ask Ada."), address=PROJECT)
    commit = CommitSeen(sha="c1" * 20, committed=BEGAN, authored=BEGAN, subject="Paint the crane", author="ada")
    await append(commit, address=PROJECT)
    changed = {"message": "m2", "note": "n1", "commit": "c1" * 20} if has_another else {"message": "m2"}
    async with opened(indexer := Indexer(), bus, settings):
        await until(indexer.idle)
        before = {kind: await rows_of(tmp_path, kind) for kind in changed}
        assert indexer.work is not None
        for kind, ref in changed.items():
            await change_text(indexer.work.index, kind, ref)
    asked = len(model.asked)
    async with opened(indexer := Indexer(), bus, settings):
        await until(lambda: indexer.health().get("rows_made_anew"))
        await until(indexer.idle)
        assert len(changed) == indexer.health()["rows_made_anew"]
        assert before == {kind: await rows_of(tmp_path, kind) for kind in changed}
        assert all(await filled(tmp_path))
        assert LONG not in model.asked[asked:]


PROJECT = Address("harbour")


async def change_text(index: Index, kind: str, ref: str) -> None:
    """Another text in a row than was written there, as of a bit that has flipped on the disk."""
    ((name, texts),) = [
        (row["key"], row["hash"]) for row in await index.table(kind).rows(["key", "hash"], f"ref = '{ref}'")
    ]
    changed = {"key": [name], "hash": [texts], "text": ["something else"]}
    assert 1 == await index.table(kind).fill(changed, unless_changed="hash")
    await index.settle()


@pytest.mark.parametrize("length", [1, 5], ids=["shorter", "longer"])
async def test_an_index_of_another_log_is_made_anew(bus: Bus, accounts: Accounts, tmp_path: Path, length: int) -> None:
    await LogWriter(bus).append(*message("m1", "one"), *message("m2", "two"))
    async with opened(indexer := Indexer(), bus, settings_of(tmp_path)):
        await until(indexer.idle)
    other = await connected(await accounts.take())
    await other.ensure()
    for number in range(length):
        await LogWriter(other).append(*message(f"other{number}", f"other {number}"))
    async with opened(indexer := Indexer(), other, settings_of(tmp_path)):
        await until(indexer.idle)
    await other.close()
    assert [f"other {number}" for number in range(length)] == [row["text"] for row in await rows_of(tmp_path)]


def holding(folder: Path, needle: bytes) -> list[str]:
    """The files that hold these bytes. Where one vanishes meanwhile there is something left to wait for."""
    try:
        return sorted(path.name for path in folder.rglob("*") if path.is_file() and needle in path.read_bytes())
    except FileNotFoundError:
        return ["vanishing"]


async def test_at_rest_nothing_that_was_removed_is_left_on_the_disk(bus: Bus, tmp_path: Path) -> None:
    append, indexer = LogWriter(bus).append, Indexer()
    gone, answer = "the-code-of-the-safe", "the-key-of-the-lighthouse"
    limits = Limits(rest=0.2, linger=0.0)
    async with opened(indexer, bus, settings_of(tmp_path, index=limits)):
        await append(*message("m1", "one"), *message("m2", gone), *message("m3", "three " * 90))
        await append(*answered("m2", f"{gone} {answer}"), *answered("m3", "E4711"))
        await until(indexer.idle)
        assert holding(tmp_path, gone.encode())
        assert holding(tmp_path, answer.encode())
        await append(removed("m2"))
        await until(indexer.idle)
        await until(lambda: not holding(tmp_path, gone.encode()) and not holding(tmp_path, answer.encode()))
        await append(*message("m4", "four"))
        await until(indexer.idle)
    assert {"one", "four", ("three " * 90).strip()} == {row["text"] for row in await rows_of(tmp_path)}
    position = read_position(folder_of(tmp_path) / set_name())
    assert ({}, "message-1", "output-1") == (position.removed, position.tables["message"], position.tables["output"])
    assert ["E4711"] == [row["text"] for row in await rows_of(tmp_path, "output")]
    assert not (tmp_path / "index" / set_name() / "message.lance").exists()


async def test_what_is_removed_is_taken_off_the_sets_of_other_models_too(
    bus: Bus, tmp_path: Path, model: FakeModel
) -> None:
    append, indexer = LogWriter(bus).append, Indexer()
    gone = b"the-code-of-the-safe"
    settings = settings_of(tmp_path, embed=Embed(), index=Limits(rest=0.5, linger=0.0))
    async with opened(indexer, bus, settings):
        await append(*message("m1", "one"), *message("m2", gone.decode()))
        await until(indexer.idle)
        model.name, model.dimensions = "b", 8
        await append(*message("m3", "three"))
        await until(lambda: read_current(tmp_path) == Current(set_name("b"), "b", 8))
        await until(indexer.idle)
        assert holding(tmp_path / "index" / set_name("a"), gone)
        await append(removed("m2"))
        await until(lambda: not holding(tmp_path, gone))
        model.name, model.dimensions = "a", 4
        await append(*message("m4", "four"))
        await until(lambda: read_current(tmp_path) == Current(set_name("a"), "a", 4))
        await until(indexer.idle)
        assert ["one", "three", "four"] == [row["text"] for row in await rows_of(tmp_path)]
        assert [True, True, True] == await filled(tmp_path)


async def test_a_set_of_before_that_lacks_a_kind_keeps_nothing_from_being_erased(tmp_path: Path) -> None:
    older = await Index.open(tmp_path, Current("older"))
    fewer = {kind: name for kind, name in older.position.tables.items() if kind != "output"}
    write_position(older.folder, msgspec.structs.replace(older.position, tables=fewer))
    older.close()
    index = await Index.open(tmp_path, Current("newer"))
    collected = RowChanges()
    collected.add(Changes(rows=(row("output", "m1", "the-code-of-the-safe", session="s1"),)))
    await index.commit(collected, 1)
    collected.add(Changes(gone=(("output", key("harbour", row_id("output", "m1", "s1"))),)))
    await index.commit(collected, 2)
    assert {"output": 1} == index.position.removed
    await Upkeep(tmp_path, index, Limits(), logger()).erase(0.0, at_once=True)
    assert {} == index.position.removed
    assert not holding(tmp_path, b"the-code-of-the-safe")
    index.close()


async def test_a_row_that_is_there_twice_is_noticed_and_the_index_made_anew(bus: Bus, tmp_path: Path) -> None:
    append, indexer = LogWriter(bus).append, Indexer()
    async with opened(indexer, bus, settings_of(tmp_path, index=Limits(rest=0.3, linger=0.0))):
        await append(*message("m1", "one"))
        await until(indexer.idle)
        assert indexer.work is not None
        damaged = indexer.work.index
        table = damaged.table("message")
        async with damaged.writing:
            await table.add(await table.arrow(await table.columns()))
        damaged.changed += 1
        await until(lambda: indexer.work is not None and indexer.work.index is not damaged)
        await until(indexer.idle)
    assert ["one"] == [row["text"] for row in await rows_of(tmp_path)]


@pytest.mark.soak
@pytest.mark.usefixtures("model")
async def test_a_large_table_is_given_its_indexes_by_a_process_of_its_own(bus: Bus, tmp_path: Path) -> None:
    append, indexer = LogWriter(bus).append, Indexer()
    limits = Limits(rest=0.3, linger=0.0, index_rows=256)
    async with opened(indexer, bus, settings_of(tmp_path, embed=Embed(), index=limits)):
        for number in range(300):
            await append(*message(f"m{number}", f"text {number} {LONG}"))
        await until(indexer.idle)
        assert indexer.work is not None
        table = indexer.work.index.table("message")

        async def has_indexes() -> bool:
            return {"key", "vector"} <= set(await table.indexes())

        await until(has_indexes)
        await append(*message("late", "late"), removed("m7"))
        await until(indexer.idle)
        assert 300 == len(await rows_of(tmp_path))
        assert [True] * 300 == await filled(tmp_path)
