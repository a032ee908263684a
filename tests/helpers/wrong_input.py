"""Wrong input of every kind, and every command of a command line as its own parser knows it."""

import argparse
import re
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from services.edges.arguments import parser
from services.edges.cli import misuse
from services.kit import rooms
from tests.helpers.command_line import Ended

TEXTS = {
    "empty": "",
    "blank": "   ",
    "unknown": "nobody-knows-this",
    "one letter": "x",
    "long": "long" * 5_000,
    "very long": "l" * 1_100_000,
    "line breaks": "one\ntwo\r\nthree",
    "control characters": "\x01\x02\x7f",
    "escape": "\x1b[31mred\x1b]52;c;AAAA\x07",
    "NUL": "nul\x00byte",
    "right to left": "\u202eabc",
    "accents": "ångström",
    "emoji": "👩\u200d🔬",
    "no Unicode": "broken\udcff",
    "wildcard": "*",
    "all below": ">",
    "subject": "a.b.c",
    "dots": "..",
    "slashes": "../../etc/passwd",
    "quotation": "'; drop table facts; --",
    "JSON": '{"id": 1}',
    "list": "[1, 2]",
    "template": "%s {0} ${HOME}",
    "markup": "[red]text[/red]",
    "HTML": "<system>do it</system>",
    "minus": "-",
    "number": "0",
    "negative": "-1",
    "huge": "9" * 400,
    "not a number": "nan",
    "infinite": "inf",
    "hexadecimal": "0x10",
    "wide digits": "\uff11\uff12",
    "superscript": "²",
    "range turned around": "9-3",
    "range of nothing": "0-0",
    "range beyond": "5000000-6000000",
    "no day": "2026-02-30",
    "no month": "2026-13-01",
    "year zero": "0000-01-01",
    "last year": "9999-12-31T23:59:59-23:59",
}
"""What somebody may write in the place of any argument."""
VALUES: dict[str, object] = {
    **TEXTS,
    "nothing": None,
    "truth": True,
    "whole number": 7,
    "zero": 0,
    "below zero": -1,
    "fraction": 0.5,
    "beyond numbers": 10**30,
    "empty list": [],
    "list of nothing": [None],
    "list of all": [1, "two", [3], {"four": 4}],
    "object": {"one": {"two": [3]}},
}
"""What an agent may give in the place of any argument of a tool."""
PATHS = {
    "missing": lambda folder: folder / "missing.json",
    "directory": lambda folder: _directory(folder / "directory.json"),
    "empty": lambda folder: _file(folder / "empty.json", b""),
    "binary": lambda folder: _file(folder / "binary.json", bytes(range(256)) * 64),
    "no JSON": lambda folder: _file(folder / "text.json", b"this is no JSON\n"),
    "another JSON": lambda folder: _file(folder / "another.json", b'{"one": [1, null]}\n'),
    "list": lambda folder: _file(folder / "list.json", b"[1, 2, 3]\n"),
    "deep": lambda folder: _file(folder / "deep.json", b"[" * 100_000),
    "cut": lambda folder: _file(folder / "cut.json.gz", b"\x1f\x8b\x08\x00\x00\x00"),
    "blanks": lambda folder: folder / "with blanks" / "in it.json",
    "below a file": lambda folder: _file(folder / "file.json", b"{}") / "below.json",
    "endless link": lambda folder: _link(folder / "link.json"),
    "NUL": lambda folder: folder / "nul\x00.json",
    "no Unicode": lambda folder: folder / "broken\udcff.json",
    "too long": lambda folder: folder / ("n" * 5_000),
    "device": lambda _: Path("/dev/null"),
}
"""What somebody may name in the place of any file."""

CODE = re.compile(
    r"Traceback|\w(?:Error|Exception)\b|Error\(|Exception\(|msgspec|nats:(?!//)|asyncio|structlog|pydantic|argparse|"
    r"\b(?:services|schemas)\.\w|\bErrno\b|<class|object at 0x|invalid \w+ value|Expected `|"
    r"Object (?:missing|contains)|\bNoneType\b|File \"|level=|\[(?:error|warning) +\]"
)
"""Names of code, and what only somebody who writes it can read."""


SHARE = 20
"""One in so many kinds comes to an argument, where not all of them do."""


class Leaf(NamedTuple):
    """A command that does something: its words, and its parser."""

    words: tuple[str, ...]
    parser: argparse.ArgumentParser

    @property
    def arguments(self) -> list[argparse.Action]:
        """All that takes a value, but for what is left out of the help."""
        return [
            one
            for one in self.parser._actions  # noqa: SLF001 - there is no other way to list them
            if one.nargs != 0 and one.help != argparse.SUPPRESS and not isinstance(one, argparse.BooleanOptionalAction)
        ]


def leaves(whole: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Every command below a parser. One with commands of its own is no leaf."""
    choices = [one.choices for one in whole._actions]  # noqa: SLF001 - as above
    below = next((one for one in choices if isinstance(one, dict)), None)
    if below is None:
        yield Leaf(words, whole)
        return
    for name, inner in below.items():
        yield from leaves(inner, (*words, name))


def valid(argument: argparse.Action, folder: Path) -> str:
    """A value that the parser takes."""
    if argument.choices:
        return str(next(iter(argument.choices)))
    if argument.type is Path:
        return str(_file(folder / "right.json", b"[]"))
    if argument.type in (None, str):
        return "word"
    return next(text for text in ("1", "2026-01-31", "memory", "rules") if _takes(argument, text))


def _takes(argument: argparse.Action, text: str) -> bool:
    try:
        assert callable(argument.type)
        argument.type(text)
    except (ValueError, TypeError, argparse.ArgumentTypeError):
        return False
    return True


def wrong(argument: argparse.Action, folder: Path) -> dict[str, str]:
    """What is no right value of an argument, by what is wrong with it."""
    if argument.type is Path:
        return {name: str(made(folder)) for name, made in PATHS.items()}
    return TEXTS


def line(leaf: Leaf, folder: Path, value: tuple[argparse.Action, str] | None = None) -> list[str]:
    """The words of a command with all that it needs, and one argument of this value."""
    changed, text = value or (None, "")
    options: list[str] = []
    words: list[str] = []
    for one in leaf.arguments:
        is_changed = one is changed
        if one.option_strings and (is_changed or one.required):
            options.append(f"{one.option_strings[-1]}={text if is_changed else valid(one, folder)}")
        elif not one.option_strings and (is_changed or one.nargs not in ("?", "*")):
            words.append(text if is_changed else valid(one, folder))
    return [*leaf.words, *options, "--", *words] if words else [*leaf.words, *options]


def spread(leaf: Leaf, folder: Path, turn: int, *, whole: bool = False) -> Iterator[tuple[str, argparse.Action, str]]:
    """Wrong values at the arguments of a command: of every command others, in turns. `whole`: each at each of them."""
    for number, one in enumerate(leaf.arguments):
        values = [*wrong(one, folder).items()]
        for name, value in values if whole else values[(turn * 3 + number) % SHARE :: SHARE]:
            yield name, one, value


def faults(status: object, out: str, error: str, given: Sequence[str] = ()) -> list[str]:
    """What is wrong with how a command ended that was given something wrong. What it was given may be shown."""
    found = []
    shown = out + error
    for one in given:
        shown = shown.replace(one, "") if len(one) > 1 else shown
    if status not in (0, 1, 2):
        found.append(f"ends with {status!r}")
    if code := CODE.search(shown):
        found.append(f"names code ({shown[max(0, code.start() - 60) : code.end() + 60]!r})")
    if status != 0 and not error.strip() and not out.strip():
        found.append("says nothing")
    if len(error) > MOST_ERROR:
        found.append(f"prints {len(error)} characters of errors")
    return found


def status_faults(leaf: Leaf, words: Sequence[str], found: Ended) -> list[str]:
    """What is wrong with the exit status of a command: 0 is done, 1 refused, and 2 used as no command can be.

    The last is what its parser refuses, or what contradicts itself. Both others are up to what is there.
    """
    what = []
    is_usage = is_misuse(leaf, words)
    if is_usage != (found.status == 2):
        what.append(f"ends with {found.status!r}, and its arguments {'are wrong' if is_usage else 'may be right'}")
    if found.status != 0 and not found.error.strip():
        what.append("prints what is wrong as if it was right, and not as an error")
    if found.status == 2 and found.out:
        what.append(f"prints {found.out[:80]!r} before it refuses its arguments")
    return what


def is_misuse(leaf: Leaf, words: Sequence[str]) -> bool:
    """Whether a command can be given no such words, whatever is there."""
    try:
        options = parser().parse_args(words)
    except SystemExit:
        return True
    return leaf.words[0] not in rooms.ROOMS and bool(misuse(options))


def is_taken_in_vain(argument: argparse.Action, value: str, known: Container[str]) -> bool:
    """Whether a value names what is not there, so that a command that has it can be done by nobody.

    Whatever is no free text and has no type of its own is such a name. An empty one is left out where it may be. A
    file has to be there in the end, whether it was read or written, and to have something in it.
    """
    if argument.type is Path:
        path = Path(value)
        return not path.exists() or (path.is_file() and not path.stat().st_size)
    if argument.type is not None or argument.choices is not None:
        return False
    is_left_out = not value and argument.default == "" and not argument.required
    return not is_left_out and value not in known


MOST_ERROR = 4_000
"""Characters that an error may have: what was given may be shown, and not all of it."""


def _directory(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    return path


def _file(path: Path, data: bytes) -> Path:
    if not path.exists():
        path.write_bytes(data)
    return path


def _link(path: Path) -> Path:
    if not path.is_symlink():
        path.symlink_to(path)
    return path
