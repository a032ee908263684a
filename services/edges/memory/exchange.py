"""A project's memory as Markdown, there and back."""

import re
from collections.abc import Iterable

import msgspec

from schemas.asks import MemoryEntry

TITLE = "# What is remembered of "
"""The beginning of every export."""
_ITEM = "- "
_END = re.compile(r" <!-- annals(?P<marks>[\w ]*) -->[ \t]{0,20}$(?!\n {2})", re.MULTILINE)
"""The mark at the end of a memory, behind which no line of it goes on: its text may have such a mark, too."""
_HEADING = re.compile(r"## (?P<name>[A-Z_]+)")


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
    lines = [f"{TITLE}{project}"]
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
