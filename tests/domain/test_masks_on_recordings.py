"""What is masked in sessions that were recorded elsewhere: each mask is printed, and none is of a digest or an id."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from services.domain.secrets import mask

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]

PLACEHOLDER = re.compile(r"\[masked:([a-z0-9-]+)\]")
REFERENCE = re.compile(
    r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{7,8}|(?:[0-9a-f]{8}){4,16}|sha\d+[-:][\w+/=:-]+"
)
"""A digest, an id, and the beginning of one, as they are written."""
LOCKED = re.compile(r"""(?i)^[\s"',{-]*(?:integrity|resolved|checksum|content-?hash|sha\d+|digest|hash|h1)\b""")
"""The beginning of a line of a lock file up to its digest."""
MOST_AROUND = 40


class Masked(NamedTuple):
    """A value that was masked, and what was before it on its line."""

    kind: str
    value: str
    before: str

    @property
    def line(self) -> str:
        return f"{self.kind:<28} {len(self.value):>5}  {self.before[-MOST_AROUND:]!r} {self.value[:4]!r}"


def masks(text: str) -> Iterator[Masked]:
    """The values that were masked in a text, found by what is left of it."""
    masked = mask(text)
    if masked is text:
        return
    position, done = 0, 0
    found = list(PLACEHOLDER.finditer(masked))
    for number, one in enumerate(found):
        position += one.start() - done
        following = masked[one.end() : found[number + 1].start() if number + 1 < len(found) else len(masked)]
        end = text.index(following, position) if following else len(text)
        if not text.startswith(one[0], position):  # which was there before
            yield Masked(one[1], text[position:end], text[text.rfind("\n", 0, position) + 1 : position])
        position, done = end, one.end()


def texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from texts(one)
        case dict():
            for one in value.values():
                yield from texts(one)


def recorded(folder: Path) -> Iterator[str]:
    """Every text of every recording."""
    for path in sorted(folder.rglob("*.json*")):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        lines = data.splitlines() if ".jsonl" in path.name else [data]
        for line in filter(None, lines):
            yield from texts(json.loads(line))


def test_what_was_masked_is_read_off_what_is_left() -> None:
    token = "gh" + "p_" + "a1B2" * 9
    text = f"one\nA={token}\n[masked:token] B={token}"
    assert [("github-token", token, "A="), ("github-token", token, "[masked:token] B=")] == [*masks(text)]


def test_no_digest_no_id_and_no_line_of_a_lock_file_is_masked_in_the_recordings(foreign: Path) -> None:
    found = {one: None for text in dict.fromkeys(recorded(foreign)) for one in masks(text)}
    print("\n".join(one.line for one in found))  # noqa: T201 - a person reads through the list
    assert found, "nothing is masked in the recordings: is this the right folder?"
    wrong = [one.line for one in found if REFERENCE.fullmatch(one.value) or LOCKED.match(one.before)]
    assert not wrong, "\n".join(wrong)
