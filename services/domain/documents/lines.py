"""The lines of a Markdown document: which of them nobody but a person changes, and which are code.

Protected are the front matter, each comment of HTML, and what is between two marks:

    <!-- annals:protected -->
    These lines stay as they are.
    <!-- /annals:protected -->

In doubt a line is protected: a mark that opens counts wherever it is, also in code, and one that closes only on a line
of its own and outside of code and comments. What is not closed goes to the end of the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

OPENING, CLOSING = "<!--annals:protected-->", "<!--/annals:protected-->"
"""The marks without their blanks, in lower case."""
_FENCES = ("```", "~~~")
_FRONT = ("---", "+++")
_COMMENT, _END = "<!--", "-->"


class DocLine(NamedTuple):
    """A line with its ending."""

    text: str
    is_protected: bool = False
    is_code: bool = False
    """Whether it is part of a fenced block, the fences included."""


def lines_of(text: str) -> list[str]:
    """The lines of a text with their endings: only a line feed ends one."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def read_lines(text: str) -> tuple[DocLine, ...]:
    """The lines of a document."""
    return tuple(_read(lines_of(text)))


def protected_lines(text: str) -> list[str]:
    """The lines that nobody but a person changes, byte for byte."""
    return [line.text for line in read_lines(text) if line.is_protected]


def _read(lines: Sequence[str]) -> Iterator[DocLine]:
    front = _front_matter(lines)
    fence, depth, is_comment = "", 0, False
    for number, text in enumerate(lines):
        if number < front:
            yield DocLine(text, is_protected=True)
            continue
        bare, has_comment, was_comment = "", is_comment, is_comment
        if is_comment or _COMMENT in text:
            bare = "".join(text.split()).lower()
            depth += bare.count(OPENING)
            has_comment, is_comment = _comment(text, is_open=is_comment)
        is_code = bool(fence)
        if not was_comment:
            fence = _fence(text.strip(), fence)
        is_code = is_code or bool(fence)
        yield DocLine(text, depth > 0 or has_comment, is_code)
        if bare == CLOSING and not is_code and not was_comment:
            depth = max(0, depth - 1)


def _front_matter(lines: Sequence[str]) -> int:
    """The number of lines of front matter at the beginning."""
    first = lines[0].removeprefix("\ufeff").rstrip() if lines else ""
    if first not in _FRONT:
        return 0
    return next((number for number, line in enumerate(lines[1:], 2) if line.rstrip() == first), 0)


def _comment(text: str, *, is_open: bool) -> tuple[bool, bool]:
    """Whether a part of a line is in a comment, and whether one goes on behind it. `is_open`: one began before it."""
    at, found = 0, is_open
    while True:
        if is_open:
            end = text.find(_END, at)
            if end < 0:
                return True, True
            at, is_open = end + len(_END), False
        begin = text.find(_COMMENT, at)
        if begin < 0:
            return found, False
        at, is_open, found = begin + len(_COMMENT), True, True


def _fence(line: str, fence: str) -> str:
    """The fence that is open behind a line; empty: none is. One is closed by as many of its characters, or more."""
    if fence:
        is_closing = line.startswith(fence) and not line.strip(fence[0])
        return "" if is_closing else fence
    if not line.startswith(_FENCES):
        return ""
    opening = line[: len(line) - len(line.lstrip(line[0]))]
    return "" if opening[0] == "`" and "`" in line[len(opening) :] else opening
