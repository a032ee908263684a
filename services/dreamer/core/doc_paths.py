"""Paths in a document that git says were renamed. They are replaced where the old one is gone.

A path is one in back quotes, the target of a link, or that of a reference, outside of code and of protected lines. It
begins in the folder of the document. A sentence about what is gone, or which names the new path as well, speaks of the
old one, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from services.domain.documents.lines import DocLine, read_lines
from services.dreamer.core.doc_folder import DocFolder
from services.dreamer.core.named import named_in

LONGEST = 2_000
"""Characters of a line that is read."""
MOST_LINES = 20
"""Of a paragraph, before a path and behind it."""
_SPAN = re.compile(
    r"`([^`\n]{1,300})`|\]\(([^()<>\s]{1,300})(?=[\s)])|^ {0,3}\[[^\]\n]{1,100}\]:[ \t]{1,8}([^<>\s]{1,300})"
)
_QUOTED = 1
"""The group of a path in back quotes; the others are those of links."""
_STOP = re.compile(r"[.!?]\s")
_BEGINNING = re.compile(r"\s{0,16}(?:[-*+|>#]|\d{1,9}[.)])")


class RenamedPath(NamedTuple):
    """A path of a document, and where git says that it is now."""

    old: str
    new: str


class DocPath(NamedTuple):
    """A path in a line of a document, and from where to where it goes."""

    start: int
    end: int
    path: str
    is_link: bool
    """Whether it is the target of a link, which is never one from the root of the project."""


def renamed(text: str, folder: DocFolder) -> tuple[str, tuple[RenamedPath, ...]]:
    """The document with the new paths, and which those are."""
    lines = read_lines(text)
    known: dict[tuple[str, bool], str] = {}
    found: dict[RenamedPath, None] = {}
    result: list[str] = []
    for number, line in enumerate(lines):
        new = line.text
        if not (line.is_protected or line.is_code or len(new) > LONGEST):
            for start, end, path, is_link in reversed([*_paths(line.text)]):
                key = path, is_link
                if key not in known:
                    known[key] = _place(folder, path, is_link=is_link)
                if known[key] and not _is_about_old(_sentence(lines, number, start, end), known[key]):
                    found[RenamedPath(path, known[key])] = None
                    new = f"{new[:start]}{known[key]}{new[end:]}"
        result.append(new)
    return "".join(result), tuple(sorted(found))


def _place(folder: DocFolder, path: str, *, is_link: bool) -> str:
    """The new place of a path; empty: it is there, or may be, or none is known."""
    is_there = folder.exists(path) or folder.is_ignored(path) if is_link else folder.may_be_there(path)
    return "" if is_there else folder.followed(path)


def named_paths(text: str) -> list[str]:
    """The paths that a piece of a document names, each once: also those in code, but none of a protected line."""
    lines = (line for line in read_lines(text) if not line.is_protected and len(line.text) <= LONGEST)
    return [*dict.fromkeys(one.path for line in lines for one in _paths(line.text))]


def _paths(line: str) -> Iterator[DocPath]:
    for match in _SPAN.finditer(line):
        group = match.lastindex or 0
        piece = match[group].partition("#")[0]
        named = named_in(f"`{piece}`").paths
        if len(named) == 1 and (at := piece.find(named[0].path)) >= 0:
            start = match.start(group) + at
            yield DocPath(start, start + len(named[0].path), named[0].path, is_link=group > _QUOTED)


def _is_about_old(sentence: str, new: str) -> bool:
    return new in sentence or named_in(sentence).may_be_absent


def _sentence(lines: Sequence[DocLine], number: int, start: int, end: int) -> str:
    """The sentence around a piece of a line, without the piece; it may go over several lines."""
    line = lines[number].text
    first = last = number
    while number - first < MOST_LINES and not _BEGINNING.match(lines[first].text) and _goes_on(lines, first - 1):
        first -= 1
    while last - number < MOST_LINES and _goes_on(lines, last + 1) and not _BEGINNING.match(lines[last + 1].text):
        last += 1
    before = "".join(one.text for one in lines[first:number]) + line[:start]
    behind = line[end:] + "".join(one.text for one in lines[number + 1 : last + 1])
    return f"{_STOP.split(before)[-1]} {_STOP.split(behind, maxsplit=1)[0]}"


def _goes_on(lines: Sequence[DocLine], number: int) -> bool:
    """Whether there is a line of the same paragraph."""
    return 0 <= number < len(lines) and bool(lines[number].text.strip()) and len(lines[number].text) <= LONGEST
