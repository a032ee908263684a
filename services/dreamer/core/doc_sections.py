"""A document in sections, each from one heading to the next, and what of the project's files each is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from schemas.codec import encode
from services.domain.documents.lines import DocLine, read_lines
from services.domain.secret_paths import is_secret
from services.dreamer.core.doc_folder import DocFolder
from services.dreamer.core.doc_paths import named_paths
from services.dreamer.core.paths import parts_of
from services.dreamer.core.task import FileCommit

LISTED = 2
"""Folders of one folder that a section names when it lists them."""
DIGITS = 16
"""Of the key of a section, in hex."""
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t\r\n]|\Z)")
_WORD = re.compile(r"[\w.-]+")
_UNDERLINE = re.compile(r"\s{0,9}(?:=+|-+)\s{0,9}\Z")
"""The line below a heading of the other kind, or a rule."""


class DocSection(NamedTuple):
    """Lines of a document, from the first to the one behind the last."""

    start: int
    end: int
    text: str


class SectionFiles(NamedTuple):
    """The files that a section is about, by their paths from the folder of the document."""

    changed: tuple[str, ...] = ()
    """Those that commits have changed since the document was changed last."""
    gone: tuple[str, ...] = ()
    """Paths that it names and that are not there."""
    commits: tuple[FileCommit, ...] = ()
    """Those commits, the newest first."""
    added: tuple[str, ...] = ()
    """Folders next to those that it lists, with files that commits have changed, which the document does not name."""


def sections_of(text: str) -> tuple[DocSection, ...]:
    """The sections of a document, with what is before its first heading."""
    lines = read_lines(text)
    starts = [*dict.fromkeys((0, *(number for number, line in enumerate(lines) if is_heading(line)), len(lines)))]
    return tuple(
        DocSection(start, end, "".join(line.text for line in lines[start:end])) for start, end in pairwise(starts)
    )


def is_heading(line: DocLine) -> bool:
    """Whether a section begins with the line."""
    return not line.is_code and _HEADING.match(line.text) is not None


def headings_in(lines: Iterable[DocLine]) -> list[str]:
    """The lines that make headings or part a text, with their endings."""
    return [line.text for line in lines if is_heading(line) or (not line.is_code and _UNDERLINE.fullmatch(line.text))]


def files_of(document: str, section: DocSection, folder: DocFolder, commits: Sequence[FileCommit]) -> SectionFiles:
    """The changes of the files that a section names. `commits`: those since the document was changed."""
    paths = named_paths(section.text)
    files = [file for commit in commits for file in commit.files]
    added = tuple(one for one in _added(document, paths, files) if folder.exists(one) and not folder.is_ignored(one))
    changed = {file: None for file in files if any(_is_within(file, path) for path in paths)}
    changed |= {file: None for file in files if any(file.startswith(f"{one}/") for one in added)}
    gone = [path for path in paths if not folder.may_be_there(path)]
    about = tuple(one for one in commits if not changed.keys().isdisjoint(one.files))
    return SectionFiles(tuple(changed), tuple(gone), about, added)


def _added(document: str, paths: Sequence[str], files: Iterable[str]) -> Iterator[str]:
    """The folders of these files next to two or more of these paths, whose names are nowhere in the document."""
    listed = Counter(path.rpartition("/")[0] for path in paths if "." not in path.rpartition("/")[2])
    parents = [f"{parent}/" if parent else "" for parent, count in listed.items() if count >= LISTED]
    found = {
        f"{parent}{name}": name
        for file in files
        for parent in parents
        for name, stroke, _ in (file.removeprefix(parent).partition("/"),)
        if stroke and file.startswith(parent) and not name.startswith(".")
    }
    if found:
        words = {*_WORD.findall(document)}
        yield from (
            folder for folder, name in found.items() if name not in words and parts_of(folder) and not is_secret(folder)
        )


def _is_within(file: str, path: str) -> bool:
    """Whether a file has this path, or is directly in the folder of this path."""
    return file == path or file.rpartition("/")[0] == path


def key_of(document: str, text: str, files: SectionFiles) -> str:
    """The same for a section as long as it has the same words, and the same has happened to its files."""
    news = (files.gone, files.added) if files.added else (files.gone,)
    words = encode((document, text, [one.sha for one in files.commits], *news))
    return f"{document}#{sha256(words).hexdigest()[:DIGITS]}"
