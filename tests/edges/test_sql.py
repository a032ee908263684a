"""`annals sql`: what a person reads of a query over the views."""

import io
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.view_asks import Rows
from services.console.worker import Console
from services.edges.arguments import parser
from services.edges.launcher.broker import Broker
from services.edges.sql import print_table, sql, write_csv
from services.kit.bus import Bus
from services.responder.worker import Responder
from services.settings import Nats, Settings
from tests.helpers.broker_world import opened, quick_settings
from tests.helpers.sql import select

FOUND = Rows(
    ("name", "n", "list"),
    (("a[b]\x1b[31m", 1, [1, {"x": None}]), (None, None, None), ('say "hi", now', "1.50", [])),
)


def test_a_table_shows_each_row_in_one_line_and_does_nothing_to_a_terminal() -> None:
    out = io.StringIO()
    print_table(FOUND, out)
    lines = out.getvalue().splitlines()
    assert "\x1b" not in out.getvalue()
    assert any("a[b]\\x1b[31m" in line and '[1,{"x":null}]' in line for line in lines)
    assert any('say "hi", now' in line and "1.50" in line for line in lines)


def test_csv_is_what_spreadsheets_read() -> None:
    out = io.StringIO()
    write_csv(FOUND, out)
    expected = 'name,n,list\na[b]\x1b[31m,1,"[1,{""x"":null}]"\n,,\n"say ""hi"", now",1.50,[]\n'
    assert expected == out.getvalue()


class Screen(io.StringIO):
    """What is printed to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.broker
async def test_csv_does_nothing_to_a_terminal(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for screen, text in ((Screen(), "\\x1b[2J"), (io.StringIO(), "\x1b[2J")):
        monkeypatch.setattr(sys, "stdout", screen)
        assert 0 == await run(settings, "select chr(27) || '[2J' as x", "--csv")
        assert f"x\n{text}\n" == screen.getvalue()


@pytest.mark.broker
async def test_standard_input_that_is_no_text_is_refused_in_a_sentence(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"select '\xff'"), encoding="utf-8"))
    assert 1 == await run(settings, "-")
    assert "annals: what you have given is no Unicode text" in capsys.readouterr().err


def person(broker: Broker, data: Path) -> Settings:
    """Settings of somebody who connects as themselves."""
    endpoint = broker.endpoint_of("person")
    scheme, _, place = endpoint.url.partition("//")
    return replace(quick_settings(data), nats=Nats(url=f"{scheme}//{endpoint.user}:{endpoint.password}@{place}"))


@pytest.fixture
async def settings(broker: Broker, bus: Bus, tmp_path: Path) -> AsyncIterator[Settings]:
    """Of a person, where a responder and a console answer."""
    interval = sys.getswitchinterval()
    given = quick_settings(tmp_path)
    async with opened(Responder(), bus, given), opened(Console(), bus, given):
        await select(bus, "select 1")
        yield person(broker, tmp_path)
    sys.setswitchinterval(interval)


async def run(settings: Settings, *arguments: str) -> int:
    return await sql(parser().parse_args(["sql", *arguments, "--seconds", "60"]), settings)


@pytest.mark.broker
async def test_a_query_is_answered_with_all_its_pages_and_how_old_that_is(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == await run(settings, "select range, repeat('x', 1000) from range(3000)", "--rows", "3000", "--json")
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert [*range(3000)] == [row[0] for row in found["rows"]]
    assert (["range", "repeat('x', 1000)"], False, 0) == (found["columns"], found["truncated"], found["as_of"])
    assert re.fullmatch(r"3,000 rows, as of position 0 of the log, \d+ s ago\n", printed.err)


@pytest.mark.broker
async def test_a_query_may_come_from_standard_input_and_a_cut_result_is_marked(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("select 'a' as x\nunion all select 'b';\n"))
    assert 0 == await run(settings, "-", "--csv", "--rows", "1")
    printed = capsys.readouterr()
    assert "x\na\n" == printed.out
    assert printed.err.startswith("1 row, and there are more (--rows), as of position 0")
    assert 0 == await run(settings, "select null as nothing, now() as then")
    assert "nothing" in capsys.readouterr().out


@pytest.mark.broker
async def test_what_cannot_be_answered_is_a_sentence(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    for query, reason in {
        "delete from plans": "only one SELECT is answered",
        "select nope": "Binder Error",
        "select '\udcff'": "no Unicode text",
    }.items():
        assert 1 == await run(settings, query)
        printed = capsys.readouterr()
        assert ("", True) == (printed.out, printed.err.startswith(f"annals: {reason}") or reason in printed.err)


@pytest.mark.broker
async def test_without_an_answer_the_error_names_what_to_look_at(
    broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == await run(person(broker, tmp_path), "select 1")
    assert "annals: nobody serves ask.sql._; `annals status` lists which rooms run\n" == capsys.readouterr().err
