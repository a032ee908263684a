"""`annals search`: what a person finds by the command, with the rooms that answer, as their user of a real broker."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.codec import encode
from schemas.events import ProjectIdentified, SessionOpened
from schemas.search_asks import Hits, IndexPosition, IndexPositionAsk
from schemas.subjects import Address, ask
from services.edges.arguments import parser
from services.edges.launcher.broker import Broker
from services.embedder.worker import Embedder
from services.kit.bus import Appender, Bus
from services.responder.worker import Responder
from services.searcher.worker import Searcher
from services.settings import Nats, Settings
from tests.helpers.broker_world import opened, quick_settings, wrapped
from tests.helpers.indexed_sessions import LogWriter, listed, message
from tests.helpers.person_commands import Ran, person_settings
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row, row
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

ROWS = [
    message_row("The harbour master wants the tide table printed every morning", "m1", ordinal=1, seq=1, at=1.7e9),
    message_row("The tide table of last week is still in the drawer", "m2", ordinal=2, seq=2, at=1.75e9),
    row("memory", "mem1", "Print the tide table on yellow paper because the pilots look for it", seq=3),
    message_row("The neighbours' tide table is a secret", "x1", "s9", project="island", ordinal=1, seq=4),
]


@pytest.fixture
def run(broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ran:
    """The command, run in a folder by a person who may connect as themselves."""
    return Ran(person_settings(broker, tmp_path), tmp_path / "work", capsys)


@pytest_asyncio.fixture
async def house(bus: Bus, tmp_path: Path) -> AsyncIterator[MadeIndex]:
    """An index that is empty, whoever searches it, and the views that know one project by its folder."""
    settings, responder = quick_settings(tmp_path), Responder()
    here = ProjectIdentified(directory=str(tmp_path / "work"), harness="pi")
    island = ProjectIdentified(directory="/srv/island", harness="pi")
    await Appender(bus).append([*wrapped([here]), *wrapped([island], address=Address("island"))], {})
    async with (
        opened(Embedder(), bus, settings),
        opened(Searcher(), bus, settings),
        opened(responder, bus, settings),
    ):
        await until(responder.idle)
        yield MadeIndex(tmp_path, bus)


async def test_what_is_known_of_the_project_of_this_folder_is_printed(house: MadeIndex, run: Ran) -> None:
    await house.write(ROWS)
    ended = await run("tide", "table")
    assert (0, "") == (ended.status, ended.error)
    header, *lines = ended.out.splitlines()
    assert '3 results for "tide table". Searched: memory, message, compartment, note, commit.' == header
    assert "ordinal=1 session=s1 role=user" in ended.out
    assert "open: annals show s1 1-4\n" in ended.out
    assert f"    {ROWS[0].text}" in lines
    assert "secret" not in ended.out
    assert ["x1"] == (await run("tide table", "--project", "island", "--json")).ids


async def test_json_is_the_whole_answer(house: MadeIndex, run: Ran) -> None:
    await house.write(ROWS)
    printed = json.loads((await run("tide", "table", "--json")).out)
    assert {*Hits.__struct_fields__} >= {*printed}
    assert {"m1", "m2", "mem1"} == {hit["id"] for hit in printed["hits"]}
    assert 4 == printed["read_through"]
    assert all(0 <= hit["score"] <= 1 for hit in printed["hits"])


async def test_each_argument_narrows_what_is_found(house: MadeIndex, run: Ran) -> None:
    await house.write(ROWS)
    for arguments, ids in (
        (("--source", "memory"), {"mem1"}),
        (("--session", "s1"), {"m1", "m2"}),
        (("--source", "message", "--since", "2025-01-01"), {"m2"}),
        (("--source", "message", "--by-session", "--limit", "5", "--until", "2025-01-01"), {"m1"}),
    ):
        assert ids == {*(await run("tide table", "--json", *arguments)).ids}
    assert 1 == len((await run("tide table", "--json", "--limit", "1")).ids)


async def test_nothing_that_fits_is_no_failure(house: MadeIndex, run: Ran) -> None:
    ended = await run("tide table")
    assert (0, "") == (ended.status, ended.error)
    assert ended.out.startswith('Nothing could be searched for "tide table".\nDegraded: ')
    await house.write([ROWS[-1]])
    assert [] == (await run("tide table", "--json")).ids


async def test_where_the_index_cannot_be_written_nothing_is_not_called_nothing(
    house: MadeIndex, bus: Bus, run: Ran
) -> None:
    async def answer(_subject: str, _data: bytes) -> bytes:
        return encode(IndexPosition(failure="OSError: No space left on device"))

    await bus.serve(ask(IndexPositionAsk.NAME), "indexer", answer)
    for name in ("m7", "m8", "m9"):
        await LogWriter(bus).append(*message(name, "What nobody has indexed yet"))
    for rows in ([], [ROWS[-1]]):
        await house.write(rows)
        ended = await run("tide table")
        assert 1 == ended.status
        assert "the index cannot be written, and lacks what came behind" in ended.out
        assert "No space left on device" in ended.out
        assert "Nothing was found. " not in ended.out
        assert "this search says nothing: the index cannot be written; `annals doctor` says what to do" in ended.error
    await house.write(ROWS)

    async def is_found() -> bool:
        return (await run("tide table")).status == 0

    await until(is_found)


async def test_what_cannot_be_searched_for_ends_in_1_with_a_sentence(house: MadeIndex, run: Ran) -> None:
    await house.write(ROWS)
    for arguments, sentence in (
        ((" ",), "give some words"),
        (("\udcff",), "no Unicode text"),
        (("tide", "--project", "x" * 500), "there is no project xxx"),
    ):
        ended = await run(*arguments)
        assert (1, "") == (ended.status, ended.out)
        assert ended.error.startswith("annals: ")
        assert sentence in ended.error
        assert 1 == ended.error.count("\n")


async def test_where_no_harness_has_worked_the_answer_is_how_to_name_a_project(
    house: MadeIndex, run: Ran, tmp_path: Path
) -> None:
    await house.write(ROWS)
    ended = await run("tide", here=tmp_path / "elsewhere")
    assert 1 == ended.status
    assert "--project" in ended.error


async def test_a_name_that_there_is_not_ends_in_1_with_the_one_that_is_meant(
    house: MadeIndex, bus: Bus, run: Ran
) -> None:
    await house.write([*ROWS, message_row("The pilots' tide table", "m7", "ses_0ld41Tide", ordinal=1, seq=5)])
    await LogWriter(bus).append(SessionOpened(harness="pi", mode="primary"), address=Address("lighthouse", "ses_1"))
    for arguments, reason in (
        (
            ("--session", "ses_0ld41Tdie"),
            "nothing is indexed of the session ses_0ld41Tdie: did you mean ses_0ld41Tide?",
        ),
        (("--session", "ses_nope"), "nothing is indexed of the session ses_nope"),
        (("--project", "lighthuose"), "there is no project lighthuose: did you mean lighthouse?"),
        (("--project", "zzz"), "there is no project zzz: nothing was ever recorded under that name"),
    ):
        ended = await run("tide table", *arguments)
        assert (1, "") == (ended.status, ended.out)
        assert reason in ended.error
        assert 1 == ended.error.count("\n")
    assert (0, "") == ((await run("tide", "--project", "lighthouse")).status, run.error)
    assert {"m7"} == {*(await run("tide", "--json", "--session", "ses_0ld41Tide", "--session", "ses_nope")).ids}


def test_a_source_that_there_is_not_ends_in_2_with_the_one_that_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    for given, meant in (
        ("messages", "did you mean message?"),
        ("xyz", "there are memory, message, compartment, note"),
    ):
        with pytest.raises(SystemExit) as ended:
            parser().parse_args(["search", "tide", "--source", given])
        assert 2 == ended.value.code
        assert meant in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["tide", "--since", "yesterday"], [], ["tide", "--limit", "many"]])
def test_arguments_that_cannot_be_read_end_in_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["search", *arguments])
    assert 2 == ended.value.code
    assert "annals search: error: " in capsys.readouterr().err


async def test_where_no_house_runs_a_sentence_says_so(
    nowhere: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Ran(Settings(data=tmp_path, nats=Nats(url=nowhere)), tmp_path, capsys)
    ended = await run("tide table")
    assert (1, "") == (ended.status, ended.out)
    assert "annals up" in ended.error
    assert 1 == ended.error.count("\n")


async def test_a_session_is_printed_as_a_whole_or_a_range_of_it(house: MadeIndex, bus: Bus, run: Ran) -> None:
    address, append = Address("harbour", "ses_0ld41"), LogWriter(bus).append
    await house.write(ROWS)
    await append(SessionOpened(harness="pi", mode="primary", title="Tides"), address=address)
    names = [f"m{number}" for number in range(300)]
    for name in names:
        await append(*message(name, f"This is {name}\n\n  - " + "and it is long " * 40), address=address)
    await append(listed(1, *names), *message("last", "Nobody numbers this", "assistant"), address=address)
    whole = await run("ses_0ld41", "--project", "harbour", command="show")
    assert (0, "") == (whole.status, whole.error)
    assert whole.out.startswith('Session ses_0ld41 "Tides". Messages 1-')
    shown = [line for line in whole.out.splitlines() if "This is" in line]
    assert [f"This is m{number}" for number in range(300)] == [line.partition("U: ")[2] or line for line in shown]
    assert "\n\n  - and it is long" in whole.out
    assert whole.out.endswith("[301] A: Nobody numbers this\n")
    some = await run("ses_0ld", "3-4", "--project", "harbour", command="show")
    assert "[3-4] U: This is m2" in some.out
    assert "[299-300] U: " in (await run("ses_0ld41", "299-", "--project", "harbour", command="show")).out
    one = await run("ses_0ld41", "--message", "last", "--project", "harbour", command="show")
    assert "Message 301, page 1 of 1, word for word." in one.out


async def test_a_session_that_is_not_known_ends_in_1_with_those_that_are_meant(house: MadeIndex, run: Ran) -> None:
    await house.write(ROWS)
    ended = await run("ses_nope", command="show")
    assert (1, "") == (ended.status, ended.out)
    assert ended.error.startswith("annals: Nothing is shown: there is no session ses_nope in the project harbour: ")


@pytest.mark.parametrize("given", ["0", "3-2", "a", "-", "3-b", "1-2-3", "9" * 40])
def test_what_is_no_range_of_messages_ends_in_2(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["show", "ses_0ld", "--", given])
    assert 2 == ended.value.code
    assert "no range" in capsys.readouterr().err


@pytest.mark.usefixtures("bus")
async def test_where_nobody_searches_a_sentence_says_so(run: Ran) -> None:
    ended = await run("tide table", "--project", "harbour")
    assert (1, "") == (ended.status, ended.out)
    assert "ask.search.harbour" in ended.error
    assert 1 == ended.error.count("\n")
