"""Names that only tools' outputs show: they are found by name, and disturb nothing else that is found."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from schemas.asks import ExpandAsk, Expanded
from schemas.codec import encode
from schemas.commands import DropQueue, FlushRequest, MemoryQuarantine
from schemas.search_asks import Hits, SearchAsk
from schemas.subjects import Address, ask
from services.edges.launcher.broker import Broker
from services.indexer.worker import Indexer
from services.kit.bus import Bus
from services.searcher.worker import Searcher
from services.settings import Embed, Settings
from tests.helpers.broker_world import HARBOUR, opened, quick_settings
from tests.helpers.compressed_sessions import ran
from tests.helpers.indexed_sessions import rows_of
from tests.helpers.memory_sessions import PATIENCE, begun, done, rooms
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row, row
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

WRITTEN = [
    message_row("The crane stopped with E4711 again this morning", "m1", ordinal=1, seq=1),
    message_row("Why does the crane stop when the tide turns?", "m2", ordinal=2, seq=2),
    message_row("The tide turns twice a day, the crane does not care", "m3", ordinal=3, seq=3),
    *(message_row(f"The crane at quay number {number} lifts and stops", f"m{number}", ordinal=number, seq=number)
      for number in range(4, 30)),
    *(message_row(f"Ship {number} is loaded with salt and corn", f"n{number}", "s3") for number in range(100)),
]  # fmt: skip
ANSWERED = [
    row("output", "m30", "db01.quay.example.org\nservices/quay/crane_lift.py\nE4711", session="s1", ordinal=30, seq=30),
    row("output", "m31", "moor_ship\nE4812\nservices/quay/tide_table.py", session="s1", ordinal=31, seq=31),
    row("output", "m9", "moor_ship\ncrane", session="s2", ordinal=9, seq=40),
    row("output", "m32", "10.0.0.5\nquay/harbour#123", session="s1", ordinal=32, seq=32),
    row("output", "m33", "10.0.0.55\n#1234\n2001:db8::1", session="s1", ordinal=33, seq=33),
]
SENTENCES = ("why does the crane stop", "the crane", "tide turns twice a day", "what lifts at the quay")


class Asking:
    """A searcher, and the index that it looks into."""

    def __init__(self, bus: Bus, index: MadeIndex) -> None:
        self._bus, self.index = bus, index

    async def __call__(self, query: str, **more: Any) -> Hits:  # noqa: ANN401 - fields of the question
        return await searched(self._bus, query, **more)


async def searched(bus: Bus, query: str, **more: Any) -> Hits:  # noqa: ANN401 - fields of the question
    question = encode(SearchAsk("harbour", query, **more))
    found = msgspec.json.decode(await bus.request(ask(SearchAsk.NAME, "harbour"), question, PATIENCE), type=Hits)
    assert not found.error
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    return found


def hits(found: Hits) -> list[tuple[str, str]]:
    return [(hit.source, hit.id) for hit in found.hits]


@pytest_asyncio.fixture
async def asking(bus: Bus, tmp_path: Path) -> AsyncIterator[Asking]:
    async with opened(Searcher(), bus, Settings(data=tmp_path, embed=Embed(provider="off"))):
        yield Asking(bus, MadeIndex(tmp_path))


NAMES = {
    "db01.quay.example.org": "m30",
    "services/quay/tide_table.py:12": "m31",
    "tide_table.py": "m31",
    "E4812": "m31",
    "`E4812`": "m31",
    "10.0.0.5": "m32",
    "#123": "m32",
    "#1234": "m33",
    "2001:db8::1": "m33",
}
"""The message with the output that holds each of them."""


async def test_a_name_is_found_with_its_place_and_its_neighbours(asking: Asking) -> None:
    await asking.index.write([*WRITTEN, *ANSWERED])
    for query, name in NAMES.items():
        found = await asking(query)
        assert ("output", name) == hits(found)[0]
        (hit, *_) = found.hits
        assert ("s1", int(name[1:]), ("verbatim",)) == (hit.session, hit.ordinal, hit.why)
        assert query.strip("`").removesuffix(":12") in hit.fragment
        assert f"open: annals show s1 --message {name}" in found.text
        assert "output" in found.searched


async def test_a_number_is_that_of_a_message_and_of_an_issue(asking: Asking) -> None:
    await asking.index.write([*WRITTEN, *ANSWERED])
    assert [("output", "m32")] == hits(await asking("#123", session="s1"))
    issue = row("output", "m34", "quay/harbour#25", session="s1", ordinal=34, seq=50)
    await asking.index.write([issue])
    assert [("message", "m25"), ("output", "m34")] == hits(await asking("#25", session="s1", min_seq=50))[:2]


async def test_who_has_the_most_of_the_names_comes_first_and_then_the_newest(asking: Asking) -> None:
    await asking.index.write([*WRITTEN, *ANSWERED])
    assert [("output", "m9"), ("output", "m31")] == hits(await asking("moor_ship"))
    assert [("output", "m31"), ("output", "m9")] == hits(await asking("moor_ship E4812"))
    assert [("output", "m31")] == hits(await asking("moor_ship", sessions=("s1",)))
    assert [("output", "m31")] == hits(await asking("moor_ship", as_of=35))
    assert [("output", "m9")] == hits(await asking("moor_ship", limit=1))


async def test_outputs_are_ranked_behind_messages_with_the_name(asking: Asking) -> None:
    await asking.index.write([*WRITTEN, *ANSWERED])
    assert [("message", "m1"), ("output", "m30")] == hits(await asking("E4711"))
    *mentions, last = hits(await asking("tide"))
    assert {("message", "m2"), ("message", "m3")} == {*mentions}, "a plain word may be a part of a name"
    assert ("output", "m31") == last


async def test_a_sentence_is_answered_as_if_there_were_no_outputs(asking: Asking) -> None:
    await asking.index.write(WRITTEN)
    before = {query: await asking(query) for query in SENTENCES}
    assert all(found.hits for found in before.values())
    await asking.index.write(ANSWERED)
    for query, found in before.items():
        again = await asking(query, min_seq=40)
        assert found.hits == again.hits
        assert "output" not in again.searched


@pytest.mark.parametrize(
    "query",
    ["which crane at which quay lifts and stops with E4812", "does the crane at the quay lift and stop with E4711"],
)
async def test_a_name_in_a_sentence_leaves_the_others_in_their_order(asking: Asking, query: str) -> None:
    await asking.index.write(WRITTEN)
    before = hits(await asking(query))
    await asking.index.write(ANSWERED)
    after = hits(await asking(query, min_seq=40))
    assert 10 == len(before)
    assert [one for one in after if one[0] != "output"] == before[: len(after) - ("E4812" in query)]
    assert (("output", "m31") == after[-1]) is ("E4812" in query), "a name that nobody wrote has the last place"
    assert before[:5] == hits(await asking(query, limit=5))


async def test_outputs_alone_are_searched_for_names_alone(asking: Asking) -> None:
    await asking.index.write([*WRITTEN, *ANSWERED])
    assert [("output", "m30")] == hits(await asking("why does E4711 come", sources=("output",)))
    found = await asking("why does the crane stop", sources=("output",))
    assert () == found.hits
    assert "give an identifier, a path, a code or a word" in found.degraded[0]


COMMAND = "tail log --host 10.0.0.5 --key AKIAY5QK2WXMN7PRSTUW"
KEY = "AKIAZ7QJ4WLMN2PRSTUV"
OUTPUT = "line of a log\n" * 400 + f"refused by db01.quay.example.org with E4711\naws_access_key_id = {KEY}\n"


async def test_what_a_tool_answered_is_found_by_other_sessions_and_opened(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    """Also where the name stands in the arguments of a call alone."""
    settings, indexer = Settings(data=tmp_path, embed=Embed(provider="off")), Indexer()
    async with (
        opened(indexer, bus, settings),
        opened(Searcher(), bus, settings),
        rooms(broker, tmp_path) as serving,
    ):
        one = await begun(bus, "opencode", "one")
        await one.says("Why does it fail?")
        name = await one.says_parts("assistant", (ran(COMMAND, OUTPUT, "c"),))
        await one.says("and now")
        await one.step(serving)
        other = await begun(bus, "opencode", "other")
        await other.says("hello")
        await other.step(serving)
        await until(indexer.idle)

        async def found(session: str, query: str = "E4711") -> list[tuple[str, str]]:
            head = indexer.work.index.committed if indexer.work else 0
            return hits(await searched(bus, query, session=session, min_seq=head))

        assert [("output", name)] == await found("other") == await found("")
        assert [("output", name)] == await found("other", "10.0.0.5")
        (hit,) = (await searched(bus, "db01.quay.example.org", session="other")).hits
        for place in (
            ExpandAsk("harbour", hit.session, message=hit.id),
            ExpandAsk("harbour", "one", message=str(hit.ordinal)),
        ):
            reply = await bus.request(ask(ExpandAsk.NAME, "harbour"), encode(place), PATIENCE)
            assert "refused by db01.quay.example.org with E4711" in msgspec.json.decode(reply, type=Expanded).text

        (made,) = await rows_of(tmp_path, "output")
        assert "db01.quay.example.org" in made["text"]
        assert "10.0.0.5" in made["text"]
        assert "AKIA" not in made["text"]
        assert [] == await found("other", KEY)

        assert [] == await found("one"), "it stands in that prompt"
        known = await searched(bus, "E4711", session="one")
        assert ["output"] == [hit.source for hit in known.in_prompt]
        for number in range(quick_settings().plan.protected_tags):
            await one.says(f"number {number}")
        await one.step(serving)
        await done(bus, DropQueue("3"), Address(HARBOUR.project, "one"))
        await done(bus, FlushRequest(), Address(HARBOUR.project, "one"))
        await one.says("go on")
        await one.step(serving)
        assert [("output", name)] == await found("one"), "it was dropped from that prompt"

        await done(bus, MemoryQuarantine("session", "one", reason="a forged mail"))
        assert [] == await found("other")
        assert [("output", name)] == await found("")
