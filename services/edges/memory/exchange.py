"""A project's memory as Markdown, there and back: what a person exports, and sentences of files that they import."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from schemas.asks import MemoryEntry
from services.domain.texts.bounds import flat
from services.domain.texts.own import unquoted_lines
from services.domain.texts.paragraphs import paragraphs
from services.domain.texts.sentences import is_informative, split

MOST_FILES = 500
LONGEST = 400
"""Characters of a memory."""
_ITEM = "- "
_END = re.compile(r" <!-- annals(?P<marks>[\w ]*) -->")
_HEADING = re.compile(r"## (?P<name>[A-Z_]+)")
_MARKS = re.compile(r"\*\*|__")


class NothingToImport(LookupError):
    """No file has anything to import; says what would."""


class ExportedMemory(msgspec.Struct, frozen=True):
    """A memory as an export has it."""

    category: str
    text: str
    importance: str = "normal"
    pinned: bool = False


def export_text(project: str, items: Iterable[ExportedMemory]) -> str:
    """The active memories, by category. `restored` reads them back."""
    by_category: dict[str, list[ExportedMemory]] = {}
    for item in items:
        by_category.setdefault(item.category, []).append(item)
    lines = [f"# What is remembered of {project}"]
    for category in sorted(by_category):
        lines += ["", f"## {category}", ""]
        for item in by_category[category]:
            marks = f"{' pinned' if item.pinned else ''}{'' if item.importance == 'normal' else f' {item.importance}'}"
            text = item.text.replace("\n", "\n  ")
            lines.append(f"- {text} <!-- annals{marks} -->")
    return "\n".join(lines) + "\n"


def item_of(entry: MemoryEntry) -> ExportedMemory:
    """A memory to export. The older category says of two that have one name today that it is about the project."""
    category = "ENVIRONMENT" if (entry.category, entry.kind) == ("CONFIG_VALUES", "project") else entry.category
    return ExportedMemory(category, entry.text, entry.importance, entry.pinned)


def memories_of_export(text: str) -> tuple[ExportedMemory, ...]:
    """The memories of an export, in their order."""
    found: list[ExportedMemory] = []
    category = ""
    at, mark = 0, _END.search(text)
    while mark is not None and at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        first = at + len(_ITEM)
        if heading := _HEADING.fullmatch(text, at, end):
            category = heading["name"]
        elif category and text.startswith(_ITEM, at):
            mark = mark if mark.start() >= first else _END.search(text, first)  # each is looked for once
            if mark is None:
                break
            words, marks = text[first : mark.start()].replace("\n  ", "\n"), mark["marks"].split()
            importance = next((one for one in marks if one in ("low", "high")), "normal")
            found.append(ExportedMemory(category, words, importance, "pinned" in marks))
            end = mark.end()
        at = end + 1
    return tuple(found)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a Markdown file, each once: without code, quotations, headings, tables and what is too long."""
    seen: set[str] = set()
    lines = "\n".join(line for line in unquoted_lines(text) if not line.lstrip().startswith(("#", "|", "@", "<!--")))
    for paragraph in paragraphs(_MARKS.sub("", lines)):
        for sentence in (flat(one) for item in paragraph.items for one in split(item)):
            if is_informative(sentence) and len(sentence) <= LONGEST and sentence not in seen and sentence[-1] != ":":
                seen.add(sentence)
                yield sentence


def files(paths: Sequence[Path]) -> Iterator[Path]:
    """The files that these paths name: of a folder all of Markdown in it. Raises `NothingToImport`."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(one for one in path.rglob("*.md") if one.is_file())[:MOST_FILES]
        elif path.is_file():
            found.append(path)
        else:
            raise NothingToImport(f"there is no file {path}; name one such as CLAUDE.md, AGENTS.md or a folder of them")
    if not found:
        raise NothingToImport(f"no file of Markdown is in {', '.join(map(str, paths))}")
    yield from found
