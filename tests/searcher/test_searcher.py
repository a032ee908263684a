"""The searcher as a room, on real tables and with the real local model."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from schemas.asks import EmbedAsk
from schemas.codec import encode
from schemas.events import AliasAdded, AliasRemoved, NoteWritten
from schemas.search_asks import Hits, SearchAsk
from schemas.subjects import Address, ask
from services.domain.aliases import GLOBAL
from services.embedder.worker import Embedder
from services.kit.bus import Appender, Bus
from services.searcher import worker
from services.searcher.worker import SEARCHES, Searcher
from services.settings import Settings
from tests.helpers.broker_world import opened, wrapped
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row, row
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

ROWS = [
    message_row("The harbour master wants the tide table printed every morning", "m1", ordinal=1, seq=1, at=1.7e9),
    message_row(
        "Deploys fail with E4711 in services/quay/crane_lift.py when max_in_hand is zero", "m2", ordinal=2, seq=2
    ),
    message_row("Das Lagerhaus brennt, rufen Sie die Feuerwehr", "m3", "s2", ordinal=1, seq=3, actor="grace"),
    message_row("港の倉庫は毎朝七時に開きます", "m4", "s2", ordinal=2, seq=4),
    message_row(
        'File "/srv/quay/berth.py", line 88, in moor\nValueError: no berth 12 is free', "m5", "s2", ordinal=3, seq=5
    ),
    row("memory", "mem1", "Use kubectl from the jump host because the cluster is private", role="decision", seq=6),
    row("note", "n1", "Come back to the crane's brake test", seq=7),
    row(
        "compartment",
        "c1",
        "The pilots' rota was rewritten",
        session="s1",
        ordinal=1,
        last_ordinal=9,
        seq=8,
        title="Rota",
    ),
    row(
        "commit",
        "3f2c1ab9" * 5,
        "Moor ships at the outer quay first\n\nThe inner one silts up.",
        files=("quay/moor.py",),
        seq=9,
    ),
    message_row(
        "The neighbours keep their secret under the lighthouse", "x1", "s9", project="island", ordinal=1, seq=10
    ),
]


class Asking:
    """A searcher, and the index that it looks into."""

    def __init__(self, bus: Bus, index: MadeIndex) -> None:
        self._bus, self.index = bus, index

    async def __call__(self, query: str, project: str = "harbour", to: str = "", **more: Any) -> Hits:  # noqa: ANN401 - fields of the question
        question = encode(SearchAsk(project, query, **more))
        reply = await self._bus.request(ask(SearchAsk.NAME, to or project), question, PATIENCE)
        return msgspec.json.decode(reply, type=Hits)


@pytest_asyncio.fixture
async def asking(bus: Bus, tmp_path: Path) -> AsyncIterator[Asking]:
    settings = Settings(data=tmp_path)
    async with opened(Embedder(), bus, settings), opened(Searcher(), bus, settings):
        yield Asking(bus, MadeIndex(tmp_path, bus))


def ids(found: Hits) -> list[str]:
    assert not found.error
    return [hit.id for hit in found.hits]


async def test_each_kind_is_found_by_its_words_and_says_so(asking: Asking) -> None:
    await asking.index.write(ROWS)
    for query, name in (
        ("tide table", "m1"),
        ("jump host", "mem1"),
        ("brake test", "n1"),
        ("rota", "c1"),
        ("outer quay", "3f2c1ab9" * 5),
    ):
        found = await asking(query)
        assert name == ids(found)[0]
        assert "words" in found.hits[0].why
        assert ("memory", "message", "compartment", "note", "commit") == found.searched[:5]
        assert (("output",) == found.searched[5:]) is (query == "rota"), "a single word may be a name"
        assert () == found.degraded
        assert 10 == found.read_through


async def test_what_means_the_same_is_found_without_a_common_word(asking: Asking) -> None:
    await asking.index.write(ROWS)
    found = await asking("high water schedule on paper")
    assert "m1" == ids(found)[0]
    assert ("meaning",) == found.hits[0].why


async def test_another_language_a_symbol_a_path_and_a_line_of_a_trace(asking: Asking) -> None:
    await asking.index.write(ROWS)
    queries = {
        "warehouse Lagerhaus brennt": "m3",
        "倉庫": "m4",
        "I have been wondering for days why on earth crane_lift.py would ever do that to us on a Monday": "m2",
        "services/quay/crane_lift.py": "m2",
        "what happens where max_in_hand is used, and how do the others at the quay cope with the weather": "m2",
        '  File "/srv/quay/berth.py", line 91, in moor': "m5",
    }
    assert queries == {query: ids(await asking(query))[0] for query in queries}


async def test_any_characters_are_plain_words(asking: Asking) -> None:
    await asking.index.write(ROWS)
    with_a_word = ("a\0b tide", '100% \'; drop table "x" -- tide', "tide " * 2_000)
    for query in (*with_a_word, "user", "%", "'", "*", "§", "\ud83d".encode(errors="replace").decode()):
        found = await asking(query)
        assert not found.error, query[:40]
        assert "island" not in found.text
        assert query not in with_a_word or "m1" == ids(found)[0]


async def test_nothing_to_look_for_is_answered(asking: Asking) -> None:
    for query in ("", "  ", "\0"):
        assert "give some words" in (await asking(query)).error


async def test_an_empty_index_is_answered(asking: Asking) -> None:
    found = await asking("tide table")
    assert () == found.hits
    assert ("nothing is indexed yet",) == found.degraded
    assert "nothing is indexed yet" in found.text


async def test_without_a_model_words_find_it_and_the_reply_says_so(bus: Bus, tmp_path: Path) -> None:
    async with opened(Embedder(), bus, Settings(data=tmp_path)):
        index = MadeIndex(tmp_path, bus)
        await index.write(ROWS)
    async with opened(Searcher(), bus, Settings(data=tmp_path)):
        found = await Asking(bus, index)("tide table")
    assert "m1" == ids(found)[0]
    assert "words alone" in found.degraded[0]
    assert "words alone" in found.text


async def test_an_index_without_vectors_is_searched_by_words(bus: Bus, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    async with opened(Embedder(), bus, settings), opened(Searcher(), bus, settings):
        index = MadeIndex(tmp_path)
        await index.write(ROWS)
        found = await Asking(bus, index)("tide table")
    assert "m1" == ids(found)[0]
    assert "no vectors" in found.degraded[0]


async def test_no_argument_shows_what_another_project_holds(asking: Asking) -> None:
    await asking.index.write(ROWS)
    for more in ({}, {"sessions": ("s9",)}, {"session": "s9"}, {"sources": ("message",)}, {"limit": 200}):
        found = await asking("secret under the lighthouse", **more)
        assert "x1" not in ids(found)
        assert "secret" not in found.text.partition("\n")[2]
    refused = await asking("secret", project="island", to="harbour")
    assert "its body names the project 'island' and its subject the project 'harbour'" in refused.error
    assert [] == [hit.id for hit in (await asking("x1 s9")).hits if hit.id == "x1"]
    assert "x1" == ids(await asking("secret under the lighthouse", project="island"))[0]


async def test_rows_under_any_name_of_a_project_are_found_by_each_of_them(bus: Bus, asking: Asking) -> None:
    await asking.index.write(ROWS)
    assert "x1" not in ids(await asking("secret under the lighthouse"))
    added = [AliasAdded(alias="island", leads_to="harbour", how="confirmed")]
    added += [AliasAdded(alias="Shop", leads_to="harbour", how="given")]
    await Appender(bus).append(wrapped(added, address=GLOBAL), {})
    await until(lambda: finds(asking, "x1"))
    for name in ("harbour", "island", "Shop"):
        found = await asking("secret under the lighthouse", name)
        assert "x1" == ids(found)[0]
        assert "m1" == ids(await asking("tide table", name))[0]
        assert 10 >= len(found.hits)
        assert (10, ()) == (found.read_through, found.degraded)
        assert len(ids(found)) == len({*ids(found)})
    (other,) = {hit.session for hit in (await asking("secret under the lighthouse")).hits if hit.id == "x1"}
    narrowed = await asking("secret under the lighthouse", sessions=(other,))
    assert (["x1"], (), ()) == (ids(narrowed), narrowed.unknown, narrowed.degraded)
    nowhere = await asking("secret under the lighthouse", sessions=(other, "s-nowhere"))
    assert (["x1"], ("s-nowhere",)) == (ids(nowhere), nowhere.unknown)
    assert ["nothing is indexed of the session s-nowhere"] == [note.partition(":")[0] for note in nowhere.degraded]
    several = "tide table, jump host, brake test and rota"
    assert [2, 1] == [len((await asking(several, limit=most)).hits) for most in (5, 1)]
    removed = AliasRemoved(alias="island", leads_to="harbour")
    await Appender(bus).append(wrapped([removed], address=GLOBAL), {})
    await until(lambda: misses(asking, "x1"))


async def test_of_many_sessions_that_nobody_knows_a_few_are_named(asking: Asking) -> None:
    """Each that is named is compared with all that there are."""
    await asking.index.write(ROWS)
    nowhere = tuple(f"nowhere-{number:05}" for number in range(2_000))
    found = await asking("tide table", sessions=nowhere)
    assert nowhere == found.unknown
    (note,) = [note for note in found.degraded if "nothing is indexed of the session" in note]
    assert note.startswith("nothing is indexed of the session nowhere-00000, nowhere-00001,")
    assert "nowhere-00004 and 1,995 others" in note


async def test_a_query_has_its_vector_made_once_however_many_names_its_project_has(bus: Bus, asking: Asking) -> None:
    await asking.index.write(ROWS)
    added = [AliasAdded(alias=name, leads_to="harbour", how="given") for name in ("island", "Shop", "quay")]
    await Appender(bus).append(wrapped(added, address=GLOBAL), {})
    await until(lambda: finds(asking, "x1"))
    asked: list[str] = []
    await bus.follow(ask(EmbedAsk.NAME), asked.append)
    for name in ("harbour", "island", "quay"):
        asked.clear()
        assert ids(await asking("secret under the lighthouse", name))
        assert 1 == len(asked)
    asked.clear()
    for query, sources in (("", ()), ("tide", ("dreams",))):
        assert (await asking(query, sources=sources)).error
    assert not asked


async def finds(asking: Asking, name: str) -> bool:
    return name in ids(await asking("secret under the lighthouse"))


async def misses(asking: Asking, name: str) -> bool:
    return not await finds(asking, name)


async def test_what_is_asked_for_narrows_it(asking: Asking) -> None:
    await asking.index.write(ROWS)
    assert {"m3", "m4", "m5"} >= set(ids(await asking("the quay the crane the warehouse", sessions=("s2",))))
    assert ["m3"] == ids(await asking("Feuerwehr", actors=("grace",)))
    found = await asking("the private cluster", sources=("memory", "dreams"))
    assert {"memory"} == {hit.source for hit in found.hits}
    assert "dreams" in found.degraded[0]
    assert "there are memory, message" in (await asking("the private cluster", sources=("dreams",))).error
    assert not {"n1", "c1"} & set(ids(await asking("crane rota brake", as_of=6)))
    assert "m1" in ids(await asking("tide", since="2020-01-01T00:00:00Z"))
    assert "m2" not in ids(await asking("max_in_hand", since="2020-01-01T00:00:00Z"))


async def test_of_each_session_only_the_best(asking: Asking) -> None:
    await asking.index.write(ROWS)
    found = await asking("quay berth warehouse crane harbour", group="session", sources=("message",))
    assert 2 == len(found.hits) == len({hit.session for hit in found.hits})


async def test_an_id_is_looked_up(asking: Asking) -> None:
    await asking.index.write(ROWS)
    assert ["3f2c1ab9" * 5] == ids(await asking("3f2c1ab9"))
    assert ["m2"] == ids(await asking("#2", session="s1"))
    assert ("id",) == (await asking("3f2c1ab9")).hits[0].why


async def test_an_agent_gets_no_more_than_25_and_a_person_200(asking: Asking) -> None:
    await asking.index.write(
        [message_row(f"the crane lifts box {number}", f"b{number}", ordinal=number + 1) for number in range(210)]
    )
    assert 25 == len((await asking("crane box", session="s1", limit=500)).hits)
    assert 200 == len((await asking("crane box", limit=500)).hits)
    assert 10 == len((await asking("crane box")).hits)


async def test_changes_are_seen(asking: Asking) -> None:
    await asking.index.write(ROWS)
    assert "m1" == ids(await asking("tide table"))[0]
    await asking.index.write(
        [
            message_row("The pilot boat is painted green", "m1", ordinal=1, seq=20),
            message_row("Who repairs the foghorn?", "m9", ordinal=9, seq=21),
        ]
    )
    await asking.index.remove("memory", "ref = 'mem1'")
    assert "m9" == ids(await asking("foghorn", min_seq=21))[0]
    assert "m1" == ids(await asking("green pilot boat"))[0]
    assert "mem1" not in ids(await asking("jump host kubectl"))


async def test_what_the_index_has_not_read_yet_is_in_the_answer(asking: Asking) -> None:
    await asking.index.write(ROWS)
    found = await asking("tide table", min_seq=4_000)
    assert "m1" == ids(found)[0]
    assert "not yet to 4000" in found.degraded[-1]


async def test_who_cannot_wait_gets_what_is_indexed_without_what_was_confirmed_just_now(
    asking: Asking, bus: Bus
) -> None:
    await asking.index.write(ROWS)
    notes = [NoteWritten(note=f"n{number}", text="Ask Ada.") for number in range(100)]
    await Appender(bus).append(wrapped(notes, address=Address("harbour")), {})

    async def is_waited_for() -> bool:
        return "not yet to" in "".join((await asking("tide table", deadline_ms=600)).degraded)

    await until(is_waited_for)
    found = await asking("tide table", deadline_ms=100)
    assert "m1" == ids(found)[0]
    assert "not yet to" not in "".join(found.degraded)


@pytest.mark.usefixtures("asking")
async def test_what_is_no_question_is_refused_with_a_reason(bus: Bus) -> None:
    for data in (b"\xff", b"{}", b'{"project": "harbour", "query": 7}'):
        reply = msgspec.json.decode(await bus.request(ask(SearchAsk.NAME, "harbour"), data, PATIENCE), type=Hits)
        assert reply.error


@pytest.fixture
async def busy(bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Searcher]:
    """A searcher that makes as many searches as it may at once, and ends none of them."""
    monkeypatch.setattr(worker, "TURN_WITHIN", PATIENCE)
    searcher = Searcher()
    async with opened(searcher, bus, Settings(data=tmp_path)), AsyncExitStack() as stack:
        for _ in range(SEARCHES.at_once):
            await stack.enter_async_context(searcher.searches.turn("ask.search"))
        yield searcher


async def test_searches_beyond_their_share_are_refused_with_what_to_do(
    bus: Bus, busy: Searcher, tmp_path: Path
) -> None:
    asking = Asking(bus, MadeIndex(tmp_path, bus))
    waiting = [asyncio.create_task(asking("tide")) for _ in range(SEARCHES.waiting)]
    await until(lambda: len(busy.searches) == SEARCHES.waiting)
    assert Hits(error="Not searched: 16 questions ask.search wait already: ask again in a moment.") == await asking("x")
    assert {"waiting": 16, "in_hand": 2, "dropped": {"crowded": 1}} == busy.health()["searches"]
    for task in waiting:
        task.cancel()


async def test_a_search_that_gets_no_turn_says_so(
    bus: Bus, busy: Searcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "TURN_WITHIN", 0.001)
    expected = "Not searched: others' searches took all of 0.001 s; ask again in a moment."
    assert Hits(error=expected) == await Asking(bus, MadeIndex(tmp_path, bus))("tide")
    assert {"expired": 1} == busy.searches.dropped
