"""Statements and omissions: the values that all readers of stores yield."""

from collections.abc import Iterable, Iterator

import msgspec

READABLE = (
    "Markdown (such as CLAUDE.md, AGENTS.md, or the memory folder of Claude Code), an export of Annals, the knowledge "
    "graph of the MCP server `memory` (JSON lines), a JSON export of mem0 or OpenMemory, and the databases and JSON "
    "exports of claude-mem and engram"
)
"""The formats that can be imported, as the end of a sentence."""
OF_ANOTHER_TYPE = "is not of the type that the store gives it"


class Statement(msgspec.Struct, frozen=True):
    """A text that a store has, of one sentence or of many."""

    text: str
    category: str = ""
    """Of `CATEGORIES`; empty: the words decide."""
    importance: str = "normal"
    is_pinned: bool = False
    is_whole: bool = False
    """Whether it is one memory as it stands, and not to be taken apart."""


class Omission(msgspec.Struct, frozen=True):
    """Something that is not taken, and why."""

    reason: str
    """The predicate of a sentence about one of them: `is longer than 400 characters`."""
    count: int = 1


class StoreContents(msgspec.Struct, frozen=True):
    """The statements and omissions of a file."""

    tool: str
    """The tool whose store it is."""
    found: tuple[Statement | Omission, ...]


class UnreadableStore(ValueError):
    """A file that cannot be imported; a sentence with the reason and a remedy."""


def texts_of(value: object) -> Iterator[Statement | Omission]:
    """The statements of a value that should be a text or a list of texts; nothing where there is none."""
    match value:
        case None | "":
            return
        case str():
            yield Statement(value)
        case list():
            for one in value:
                yield Statement(one) if isinstance(one, str) else Omission(OF_ANOTHER_TYPE)
        case _:
            yield Omission(OF_ANOTHER_TYPE)


def is_any(found: Iterable[Statement | Omission]) -> bool:
    """Whether there is a statement that has words."""
    return any(isinstance(one, Statement) and one.text.strip() for one in found)
