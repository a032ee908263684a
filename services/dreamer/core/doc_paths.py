"""Paths in a document that git says were renamed. They are replaced where the old one is gone.

A path is one in back quotes, the target of a link, or that of a reference, outside of code and of protected lines. A
sentence about what is gone, or which names the new path as well, speaks of the old one, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from services.domain.documents.lines import DocLine, read_lines
from services.dreamer.core.named import named_in
from services.dreamer.core.paths import followed, is_ignored
from services.dreamer.core.task import Tree

LONGEST = 2_000
"""Characters of a line that is read."""
MOST_LINES = 20
"""Of a paragraph, before a path and behind it."""
_SPAN = re.compile(
    r"`([^`\n]{1,300})`|\]\(([^()<>\s]{1,300})(?=[\s)])|^ {0,3}\[[^\]\n]{1,100}\]:[ \t]{1,8}([^<>\s]{1,300})"
)
_STOP = re.compile(r"[.!?]\s")
_BEGINNING = re.compile(r"\s{0,16}(?:[-*+|>#]|\d{1,9}[.)])")


class RenamedPath(NamedTuple):
    """A path of a document, and where git says that it is now."""

    old: str
    new: str


def renamed(text: str, tree: Tree) -> tuple[str, tuple[RenamedPath, ...]]:
    """The document with the new paths, and which those are."""
    lines, ignored = read_lines(text), tree.text(".gitignore") or ""
    known: dict[str, str] = {}
    found: dict[RenamedPath, None] = {}
    result: list[str] = []
    for number, line in enumerate(lines):
        new = line.text
        if not (line.is_protected or line.is_code or len(new) > LONGEST):
            for start, end, path in reversed([*_paths(line.text)]):
                if path not in known:
                    is_there = tree.exists(path) or is_ignored(path, ignored)
                    known[path] = "" if is_there else followed(path, tree)
                if known[path] and not _is_about_old(_sentence(lines, number, start, end), known[path]):
                    found[RenamedPath(path, known[path])] = None
                    new = f"{new[:start]}{known[path]}{new[end:]}"
        result.append(new)
    return "".join(result), tuple(sorted(found))


def named_paths(text: str) -> list[str]:
    """The paths that a piece of a document names, each once: also those in code, but none of a protected line."""
    lines = (line for line in read_lines(text) if not line.is_protected and len(line.text) <= LONGEST)
    return [*dict.fromkeys(path for line in lines for _, _, path in _paths(line.text))]


def _paths(line: str) -> Iterator[tuple[int, int, str]]:
    """Each path of a line, and from where to where it goes."""
    for match in _SPAN.finditer(line):
        group = match.lastindex or 0
        piece = match[group].partition("#")[0]
        named = named_in(f"`{piece}`").paths
        if len(named) == 1 and (at := piece.find(named[0].path)) >= 0:
            start = match.start(group) + at
            yield start, start + len(named[0].path), named[0].path


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
