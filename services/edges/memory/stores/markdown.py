"""Markdown: plain, a memory file of Claude Code with its front matter, and an export of Annals."""

import re
from collections.abc import Iterator, Mapping

from services.edges.memory.exchange import TITLE, memories_of_export
from services.edges.memory.stores.statement import Omission, Statement, StoreContents

PLAIN, CLAUDE_CODE, ANNALS = "Markdown", "Claude Code", "Annals"
_FRONT = re.compile(r"---[ \t]*\n(?P<fields>(?:(?!---[ \t]*$)[^\n]*\n){0,200})---[ \t]*(?:\n|\Z)", re.MULTILINE)
_FIELD = re.compile(r"[ \t]*(?P<name>[\w-]{1,40}):[ \t]*(?P<value>[^\n]{0,2000})\Z")
_POINTER = re.compile(r"\s{0,12}[-*+] \[[^\]\n]{1,200}\]\([^()\s]{1,400}\.md\)")
"""A line of an index: it leads to the file of a memory, which is a file of its own."""
CATEGORY_OF_TYPE: Mapping[str, str] = {"feedback": "PROJECT_RULES", "project": "", "reference": "", "user": ""}
"""The types of memories that Claude Code knows -> their category here; empty: the words decide."""


def read(text: str) -> StoreContents:
    """The statements of a Markdown text."""
    memories = memories_of_export(text) if text.startswith(TITLE) else ()
    if memories or (text.startswith(TITLE) and text.count("\n") <= 1):
        whole = (Statement(one.text, one.category, one.importance, one.pinned, is_whole=True) for one in memories)
        others = sum(1 for line in text.split("\n") if line.startswith("- ")) - len(memories)
        unmarked = (Omission("is an item without the mark of an export", others),) if others > 0 else ()
        return StoreContents(ANNALS, (*whole, *unmarked))
    front = _FRONT.match(text)
    if front is None:
        return StoreContents(PLAIN, tuple(_body(text)))
    fields = _fields(front["fields"])
    body = text[front.end() :]
    kind = fields.get("type", "")
    if "name" not in fields or kind not in CATEGORY_OF_TYPE:
        return StoreContents(PLAIN, tuple(_body(body)))
    words = body if body.strip() else fields.get("description", "")
    return StoreContents(CLAUDE_CODE, tuple(_body(words, CATEGORY_OF_TYPE[kind])))


def _body(text: str, category: str = "") -> Iterator[Statement | Omission]:
    lines = text.splitlines()
    prose = [line for line in lines if not _POINTER.match(line)]
    if len(prose) < len(lines):
        yield Omission("leads to a file of its own, which is read where its folder is named", len(lines) - len(prose))
    yield Statement("\n".join(prose), category)


def _fields(front: str) -> dict[str, str]:
    """The fields of a front matter, those of nested ones, too, as far as each is on one line."""
    found = (_FIELD.match(line) for line in front.splitlines())
    return {one["name"]: one["value"].strip().strip("'\"") for one in found if one}
