"""The indexer as a room: what is recorded in the log can be found, and what was removed cannot."""

from pathlib import Path

import msgspec
import pytest

from schemas.codec import encode
from schemas.events import (
    CommitsAdvanced,
    CommitSeen,
    MemoryArchived,
    MemoryMoved,
    MemoryProposed,
    MemoryRevised,
    MemoryWritten,
    NoteDismissed,
    NoteWritten,
    PartRemoved,
    SessionClosed,
    SessionRenamed,
)
from schemas.search_asks import Hits, IndexPosition, IndexPositionAsk, SearchAsk
from schemas.streams import BODIES
from schemas.subjects import Address, ask
from services.domain.record import Record, read_record
from services.edges.launcher.broker import Broker
from services.embedder.worker import Embedder
from services.indexer import filler
from services.indexer.work import IndexWork
from services.indexer.worker import Indexer
from services.kit import projector
from services.kit.bus import Bodies, BrokerError, Bus, Unreachable
from services.searcher.worker import Searcher
from services.settings import Embed, IndexSettings, Settings
from tests.helpers.broker_world import connected, kit_of, opened
from tests.helpers.indexed_sessions import BEGAN, HARBOUR, LogWriter, answered, listed, message, removed, rows_of
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

WORDS_ONLY = Embed(provider="off")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, embed=WORDS_ONLY)


async def texts(settings: Settings, kind: str = "message") -> list[str]:
    return [row["text"] for row in await rows_of(settings.data, kind)]


async def test_the_tables_of_an_index_are_closed_when_its_work_ends_and_where_it_cannot_begin(
    broker: Broker, bus: Bus, settings: Settings
) -> None:
    away = await connected(broker)
    await away.close()
    async with kit_of(Indexer.NAME, bus, settings) as kit, kit_of(Indexer.NAME, away, settings) as cut_off:
        ended, failed = IndexWork(kit, Indexer.READS), IndexWork(cut_off, Indexer.READS)
        await ended.open(0.0)
        with pytest.raises((Unreachable, BrokerError)):
            await failed.open(0.0)
        for work in (ended, failed):
            await work.close()
            assert not work.index._folder_tables._connection.is_open()  # noqa: SLF001 - nobody else asks


async def test_what_people_and_agents_wrote_can_be_found_and_nothing_else(bus: Bus, settings: Settings) -> None:
    append = LogWriter(bus).append
    await append(*message("m1", "Where is the crane?"), *message("m2", "By the quay.", "assistant"))
    await append(*message("m3", "ignored", ignored=True), *message("m4", "synthetic", synthetic=True))
    await append(*message("m5", "output", "assistant", kind="tool"), *message("m6", "thought", kind="reasoning"))
    indexer = Indexer()
    async with opened(indexer, bus, settings):
        await until(indexer.idle)
        rows = await rows_of(settings.data)
    assert [("Where is the crane?", "user", "By the quay."), ("By the quay.", "assistant", "")] == [
        (row["text"], row["role"], row["after"]) for row in rows
    ]


async def test_a_message_is_found_as_soon_as_it_was_recorded_and_then_has_its_place(
    bus: Bus, settings: Settings
) -> None:
    append, indexer = LogWriter(bus).append, Indexer()
    async with opened(indexer, bus, settings):
        await append(*message("m1", "the crane"))
        await until(indexer.idle)
        before = await rows_of(settings.data)
        await append(listed(1, "m1"))
        await until(indexer.idle)
        assert ([0], [1]) == (
            [row["ordinal"] for row in before],
            [row["ordinal"] for row in await rows_of(settings.data)],
        )


async def test_what_is_removed_is_found_no_more(bus: Bus, settings: Settings) -> None:
    append, indexer = LogWriter(bus).append, Indexer()
    async with opened(indexer, bus, settings):
        for number in range(5):
            await append(*message(f"m{number}", f"text {number}"))
        await append(*message("m9", "elsewhere"), address=Address("harbour", "s2"))
        await until(indexer.idle)
        await append(listed(1, "m0", "m1", "m2"), removed("m0"), removed("m1", reason="unlisted"))
        await append(PartRemoved(message="m3", part="m3.0"))
        await append(SessionClosed(reason="deleted"), address=Address("harbour", "s2"))
        await until(indexer.idle)
        assert ["text 1", "text 2", "text 4"] == await texts(settings)
        await append(SessionClosed(reason="archived"))
        await until(indexer.idle)
        assert ["text 1", "text 2", "text 4"] == await texts(settings)


async def test_notes_can_be_found_until_they_are_done_with(bus: Bus, settings: Settings) -> None:
    append, indexer = LogWriter(bus).append, Indexer()
    project = Address(HARBOUR.project)
    async with opened(indexer, bus, settings):
        await append(NoteWritten(note="n1", text="grease it"), NoteWritten(note="n2", text="paint it"), address=project)
        await until(indexer.idle)
        assert ["grease it", "paint it"] == await texts(settings, "note")
        await append(NoteDismissed(note="n1"), address=project)
        await until(indexer.idle)
        assert ["paint it"] == await texts(settings, "note")


async def test_memories_can_be_found_while_they_hold(bus: Bus, settings: Settings) -> None:
    append, indexer = LogWriter(bus).append, Indexer()
    project = Address(HARBOUR.project)
    async with opened(indexer, bus, settings):
        await append(MemoryWritten(memory="a", category="NAMING", text="Cranes are called by numbers"), address=project)
        await append(MemoryWritten(memory="b", category="NAMING", text="Quays by letters"), address=project)
        await append(MemoryProposed(memory="c", category="NAMING", text="Ships by names"), address=project)
        await until(indexer.idle)
        assert ["Cranes are called by numbers", "Quays by letters"] == await texts(settings, "memory")
        await append(MemoryRevised(memory="a", category="NAMING", text="Cranes have numbers"), address=project)
        await append(MemoryArchived(memory="b"), address=project)
        await until(indexer.idle)
        assert ["Cranes have numbers"] == await texts(settings, "memory")
        await append(MemoryMoved(name="port"), address=project)
        await until(indexer.idle)
        assert [] == await texts(settings, "memory")


async def test_commits_can_be_found_as_long_as_they_count(bus: Bus, settings: Settings) -> None:
    append, indexer = LogWriter(bus).append, Indexer()
    project = Address(HARBOUR.project)
    seen = CommitSeen(
        sha="a" * 40, committed=BEGAN, authored=BEGAN, subject="Grease", body="It squeaks", files=["a.py"]
    )
    async with opened(indexer, bus, settings):
        await append(seen, msgspec.structs.replace(seen, sha="b" * 64, subject="Paint", body=""), address=project)
        await until(indexer.idle)
        rows = await rows_of(settings.data, "commit")
        await append(CommitsAdvanced(source="s", head="b" * 64, count=1, removed=["a" * 40]), address=project)
        await until(indexer.idle)
        assert ["Paint"] == await texts(settings, "commit")
    assert [("Grease\n\nIt squeaks", ["a.py"]), ("Paint", ["a.py"])] == [(row["text"], row["files"]) for row in rows]


async def test_an_indexer_that_starts_again_goes_on_where_it_was(bus: Bus, settings: Settings) -> None:
    append = LogWriter(bus).append
    for start in (0, 3):
        for number in range(start, start + 3):
            await append(*message(f"m{number}", f"text {number}"))
        indexer = Indexer()
        async with opened(indexer, bus, settings):
            await until(indexer.idle)
    rows = await rows_of(settings.data)
    assert [f"text {number}" for number in range(6)] == [row["text"] for row in rows]
    assert "text 0\ntext 1\ntext 2" == rows[3]["before"]
    assert "text 1\ntext 2\ntext 3\ntext 4\ntext 5" == rows[0]["after"]


async def test_rows_are_given_their_vectors(bus: Bus, tmp_path: Path) -> None:
    append, settings = LogWriter(bus).append, Settings(data=tmp_path)
    indexer = Indexer()
    async with opened(Embedder(), bus, settings), opened(indexer, bus, settings):
        await append(*message("m1", "the crane"), *message("m2", "word " * 100))
        await until(indexer.idle)
        rows = await rows_of(tmp_path, columns=("vector", "vector_beside", "tokens", "tokens_beside"))
        assert [384, 384] == [len(row["vector"]) for row in rows]
        assert [True, False] == [row["vector_beside"] is not None for row in rows]
        assert [128, 6400] == [len(row["tokens"]) for row in rows]
        before = rows[0]
        await append(listed(1, "m1", "m2"))
        await until(indexer.idle)
        assert before == (await rows_of(tmp_path, columns=("vector", "vector_beside", "tokens", "tokens_beside")))[0]


async def test_names_in_outputs_wait_for_no_vectors_and_their_table_has_none(bus: Bus, tmp_path: Path) -> None:
    """Also where the output is so long that it is stored next to the log, and when the indexer starts again."""
    append, settings = LogWriter(bus).append, Settings(data=tmp_path)
    reference = await Bodies(bus, BODIES).put("word " * 100_000 + "E4712")
    for names in (("E4711",), ("E4711", "E4712")):
        indexer = Indexer()
        async with opened(Embedder(), bus, settings), opened(indexer, bus, settings):
            if len(names) == 1:
                await append(*message("m1", "the crane"), *answered("m1", "E4711"))
            else:
                await append(*answered("m2", "", output_ref=reference))
            await until(indexer.idle)
            assert 0 == indexer.health()["without_vectors"]
            assert [*names] == await texts(settings, "output")
            assert indexer.work is not None
            assert not {"vector", "tokens"} & {*await indexer.work.index.table("output").columns()}


async def test_a_text_that_comes_again_when_its_vector_is_forgotten_is_embedded_again(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once with new ones, and twice at once."""
    monkeypatch.setattr(filler, "REMEMBERED", 1)
    append, indexer, settings = LogWriter(bus).append, Indexer(), Settings(data=tmp_path)
    written = ["the crane", "the quay", "the berth", "the crane", "the mole", "the mole", "the crane"]
    async with opened(Embedder(), bus, settings), opened(indexer, bus, settings):
        for first, end in ((0, 3), (3, 7)):
            await append(*(event for n in range(first, end) for event in message(f"m{n}", written[n])))
            await until(indexer.idle)
        rows = await rows_of(tmp_path, columns=("text", "vector"))
    assert written == [row["text"] for row in rows]
    assert {384} == {len(row["vector"]) for row in rows}
    assert 4 == len({(row["text"], tuple(row["vector"])) for row in rows})


async def test_of_two_indexers_one_waits(bus: Bus, settings: Settings) -> None:
    append, first, second = LogWriter(bus).append, Indexer(), Indexer()
    async with opened(second, bus, settings):
        await until(lambda: second.work is not None)
        async with opened(first, bus, settings):
            await append(*message("m1", "the crane"))
            await until(second.idle)
            assert first.health()["waiting"] is True
    assert ["the crane"] == await texts(settings)


@pytest.fixture
def patient(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with which everything behind the first commit waits for more for an hour."""
    monkeypatch.setattr(projector, "SHARE", 1e-9)
    return msgspec.structs.replace(settings, index=IndexSettings(linger=3_600.0))


async def test_a_search_that_waits_for_a_position_has_it_written_at_once(bus: Bus, patient: Settings) -> None:
    append, indexer, searcher = LogWriter(bus).append, Indexer(), Searcher()
    async with opened(indexer, bus, patient), opened(searcher, bus, patient):
        await append(*message("m1", "the crane"))
        await until(indexer.idle)
        seq = await append(*message("m2", "the quay"))
        question = encode(SearchAsk("harbour", "quay", min_seq=seq))
        found = msgspec.json.decode(await bus.request(ask(SearchAsk.NAME, "harbour"), question, PATIENCE), type=Hits)
    assert "m2" == found.hits[0].id
    assert [note for note in found.degraded if "not yet" in note] == []


async def test_what_nobody_searches_for_is_written_with_what_comes_later(bus: Bus, patient: Settings) -> None:
    append, indexer = LogWriter(bus).append, Indexer()
    async with opened(indexer, bus, patient):
        first = await append(*message("m1", "the crane"))
        await until(indexer.idle)
        for number in range(5):
            last = await append(*message(f"n{number}", f"text {number}"))
        await until(lambda: indexer.health()["read_through"] == last)
        assert first == indexer.health()["committed_through"]
        reply = await bus.request(ask(IndexPositionAsk.NAME), encode(IndexPositionAsk(last)), PATIENCE)
        assert IndexPosition(last) == msgspec.json.decode(reply, type=IndexPosition)
        assert 6 == len(await texts(patient))


async def test_an_indexer_that_is_not_ready_says_so(bus: Bus, settings: Settings) -> None:
    indexer = Indexer()
    async with opened(indexer, bus, settings):
        await until(indexer.idle)
        indexer.work = None
        reply = await bus.request(ask(IndexPositionAsk.NAME), encode(IndexPositionAsk(1)), PATIENCE)
    assert "ask again" in msgspec.json.decode(reply, type=IndexPosition).error


async def test_only_what_rows_are_made_of_is_read(
    bus: Bus, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What else comes with a message is not sent to the indexer, and nobody waits for it."""
    decoded: list[str] = []

    def counted(subject: str, data: bytes, seq: int, *, deep: bool) -> Record:
        record = read_record(subject, data, seq, deep=deep)
        decoded.append(record.envelope.type)
        return record

    monkeypatch.setattr(projector, "read_record", counted)
    append, indexer = LogWriter(bus).append, Indexer()
    async with opened(indexer, bus, settings):
        await until(indexer.idle)
        renamed = [SessionRenamed(title=f"title {number}") for number in range(10)]
        seq = await append(*renamed[:5], *message("m1", "the crane"), *renamed[5:])
        reply = await bus.request(ask(IndexPositionAsk.NAME), encode(IndexPositionAsk(seq)), PATIENCE)
        await until(indexer.idle)
        assert ["the crane"] == await texts(settings)
    assert ["message.recorded", "part.recorded"] == decoded
    assert IndexPosition(seq) == msgspec.json.decode(reply, type=IndexPosition)
