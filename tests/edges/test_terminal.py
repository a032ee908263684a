"""What commands print: it can be read, and does nothing to a terminal, whoever wrote it."""

import ast
import io
import json
import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.status_asks import SessionStatus, Status
from schemas.view_asks import HistoryRun, Rows
from services.edges import cli
from services.edges.cli import main
from services.edges.config import Page, PrintedSetting
from services.edges.config import render as render_config
from services.edges.connect.setup import difference
from services.edges.launcher.status import ObservedRoom, Overview, render
from services.edges.sql import print_table
from services.edges.styling import console, styled
from services.edges.terminal import printable, write, write_error, write_json, write_note
from services.settings import Problem

EDGES = Path(__file__).parents[2] / "services" / "edges"
HOSTILE = [
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x1b]8;;https://elsewhere.example\x1b\\here\x1b]8;;\x1b\\",
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1bP+q544e\x1b\\",
    "\x9b31m",
    "\x9d0;title\x9c",
    "before\rafter",
    "\x08\x08\x08",
    "\x00\x7f",
    "\u202egnp.exe",
    "\u2066\u2069\u061c\u200e\u200f",
    "zero\u200bwidth\ufeff\u2060",
    "line\u2028other\u2029",
    "ignore\u3164\u115f\u1160\uffa0\u17b4\u17b5\u2800this",
    "hidden\ufe01\ufe02 in\U000e0131\U000e0135 selectors",
    "\ufe0f\U000e0100",
    "\ud800",
    "Z" + "\u0301\u0489" * 200,
    "co\u034fm\u180b\u180fb\U00016fe4ined",
    "h\u200di\u200cd\u200dd\u200ce\u200dn",
    "ж\u200d\u200c\u200d\u200c",
    "h\ufe01i\ufe02d\U000e0120en",
    "\u200d\u200c",
    "\U000e0041\U000e0042",
    "[red]markup[/red] [link=https://elsewhere.example]x[/link] :smile:",
]
READABLE = [
    "plain words, and a tab\tand a line\n",
    "Größe, naïve, Ελληνικά, кириллица",
    "日本語\u3000と한국어",
    "نمی\u200cدانم क्\u200dष",  # noqa: RUF001 - Persian has no other letters
    "prix\u00a0: 3\u202f€",
    "🙂 👩\u200d💻 ❤\ufe0f",
    "葛\U000e0100城",
    "#\ufe0f\u20e3 0\ufe00",
    "e\u0302\u0323\u0309 \u05e9\u05bc\u05c1\u05b8\u0591 \u0f62\u0f92\u0fb1\u0f72\u0f0b",
    "❤\ufe0f\u200d🔥",
    "a\\b [x] {y} $z",
]


INVISIBLE = "\u034f\u180b\u180c\u180d\u180f\u3164\u115f\u1160\uffa0\u17b4\u17b5\u2800\U00016fe4\U0001d159"
SELECTORS = {*map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))}


def is_harmless(text: str) -> bool:
    if set(text) & set(INVISIBLE) or any({one, other} <= SELECTORS for one, other in pairwise(f"\ufe0f{text}")):
        return False
    if any(one in "\u200c\u200d" and before < "\x80" for before, one in pairwise(f" {text}")):
        return False
    if any(one in SELECTORS and before < "\x80" and not before.isdigit() and before not in "#*"
           for before, one in pairwise(f" {text}")):  # fmt: skip
        return False
    if re.search(r"[\u200c\u200d]{2}|[\u0300-\u036f\u0483-\u0489]{9}", text):
        return False
    return all(one.isprintable() or one in "\n\t\u200c\u200d" or one.isspace() for one in text) and not (
        set(text) & set("\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029")
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_what_could_move_a_cursor_hide_or_turn_words_is_spelled_out(text: str) -> None:
    assert is_harmless(printable(text))
    assert printable(f"before {text} after").startswith("before ")


@pytest.mark.parametrize("text", READABLE)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert text == printable(text)


@given(st.text(st.characters(codec="utf-8")))
@example("".join(HOSTILE).replace("\ud800", ""))
def test_json_is_printed_harmlessly_and_says_the_same(text: str) -> None:
    with redirect_stdout(StringIO()) as out:
        write_json({text: [text]})
    assert is_harmless(out.getvalue())
    assert {text: [text]} == json.loads(out.getvalue())


@given(st.text(st.characters(codec=None)))
def test_any_text_is_printed_harmlessly_and_once(text: str) -> None:
    shown = printable(text)
    assert is_harmless(shown)
    assert shown == printable(shown)
    shown.encode()


@pytest.mark.parametrize("text", HOSTILE)
def test_no_command_prints_what_it_was_given_raw(text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = StringIO()
    session = SessionStatus(text, text, title=text, reason=text)
    run = HistoryRun(text, text, text, "failed", 1, 2, 1, 3, code=text, retry_at=text)
    status = Status(log_head=1, read_through=1, committed_through=1, hot_sessions=1, file=text, sessions=(session,))
    overview = Overview(text, (ObservedRoom(text, running=None),), 1, 1, 0, responder=status, history=(run,))
    for print_it in (
        lambda: render(overview, console(out, width=200)),
        lambda: print_table(Rows(columns=(text,), rows=((text,), (f"[{text}]",))), out),
        lambda: render_config(
            Page((PrintedSetting("a", "A", text, text),), (Problem(text, text, text),)), console(out)
        ),
        lambda: console(out).print(styled(text)),
    ):
        print_it()
    write(text)
    write_error(text)
    difference(tmp_path / "settings", text, f"{text} and more")
    printed = capsys.readouterr()
    for found in (out.getvalue(), printed.out, printed.err):
        assert is_harmless(found)


def test_square_brackets_in_a_text_are_no_markup() -> None:
    out = StringIO()
    console(out, width=200).print(HOSTILE[-1])
    assert f"{HOSTILE[-1]}\n" == out.getvalue()


def _writes(tree: ast.Module) -> bool:
    """Whether a module writes to the terminal by itself."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Attribute(attr="stdout" | "stderr"), attr="write"):
                return True
            case ast.Call(func=ast.Name(id="print")):
                return True
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)) if name.endswith("Console"):
                return True
    return False


def test_what_an_encoding_lacks_is_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a language is set whose encoding is not UTF-8."""
    screen = io.TextIOWrapper(raw := io.BytesIO(), encoding="iso-8859-1")
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    assert 2 == main(["show", "s1", "2", "--message", "m1"])
    for print_it in (write, write_error, write_note):
        print_it("Kräne am 岸壁 …")
    screen.flush()
    assert 3 == raw.getvalue().decode("iso-8859-1").count("Kräne am \\u5cb8\\u58c1 \\u2026\n")
    raw.seek(0)
    raw.truncate()
    write_json("Kräne am 岸壁 …")
    screen.flush()
    assert "Kräne am 岸壁 …" == json.loads(raw.getvalue())


def test_a_command_that_a_person_interrupts_ends_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "COMMANDS", {"status": interrupted})
    assert 130 == main(["status"])


def test_there_is_one_door_to_the_terminal() -> None:
    found = {path.name for path in EDGES.rglob("*.py") if _writes(ast.parse(path.read_text()))}
    assert {"terminal.py", "styling.py"} == found


@pytest.mark.parametrize("source", ["sys.stdout.write(x)", "print(x)", "Console().print(x)", "rich.Console()"])
def test_another_door_would_be_found(source: str) -> None:
    assert _writes(ast.parse(source))
