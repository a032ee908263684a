"""Recognises whose store a file is, by what is in it and not by its name, and reads it."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from schemas.codec import mended
from services.edges.memory.stores import databases, graph, markdown, mem0, observations
from services.edges.memory.stores.files import content_of, opened
from services.edges.memory.stores.statement import READABLE, Omission, Statement, StoreContents, UnreadableStore

MOST_BYTES = 1 << 24
"""Of a file of text."""
_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd")
_BEGINNING = 16
_IN_OBJECT, _IN_LIST = frozenset('"}'), frozenset('{["')
"""The beginnings of what JSON has in an object and in a list of records, and Markdown hardly behind such a bracket."""
NO_JSON = "is a line that is no whole JSON"


def contents_of(path: Path, project: str) -> StoreContents:
    """The statements of a file about a project. Raises `UnreadableStore` and `FileNotFoundError`.

    `project`: what a store of several projects calls this one.
    """
    with opened(path, databases.MOST_BYTES) as file:
        beginning = file.read(_BEGINNING)
    if beginning == databases.MAGIC:
        return databases.read(path, project)
    if beginning.startswith(_ARCHIVES):
        raise UnreadableStore(f"{path} is an archive: unpack it, and name the file that is in it")
    data = content_of(path, MOST_BYTES)
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    if "\x00" in text or text.count("\ufffd") * 10 > len(text):
        raise UnreadableStore(f"{path} is no text; what can be read: {READABLE}")
    values = _values(data, text, path)
    return markdown.read(text) if values is None else _records(path, project, *values)


def _values(data: bytes, text: str, path: Path) -> tuple[list[object], int] | None:
    """The values of a file of JSON or of JSON lines, and the number of lines that are none; None: it is neither."""
    plain = text.lstrip()
    if not plain.startswith(("{", "[")):
        return None
    whole = _decoded(data.removeprefix(b"\xef\xbb\xbf"))
    if whole is not _NO_VALUE:
        return [whole], 0
    lines = [_decoded(line.encode()) for line in text.split("\n") if line.strip()]
    values: list[object] = [one for one in lines if isinstance(one, dict)]
    if values:
        return values, len(lines) - len(values)
    if plain[1:].lstrip()[:1] in (_IN_OBJECT if plain.startswith("{") else _IN_LIST):
        raise UnreadableStore(
            f"{path} begins as JSON and is no whole JSON, or is nested too deeply: export it anew; "
            f"what can be read: {READABLE}"
        )
    return None


_NO_VALUE = object()


def _decoded(data: bytes) -> object:
    try:
        return msgspec.json.decode(mended(data))
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return _NO_VALUE


def _records(path: Path, project: str, values: Sequence[object], malformed: int) -> StoreContents:
    broken = (Omission(NO_JSON, malformed),) if malformed else ()
    readers: tuple[tuple[str, _Finder, _Reader], ...] = (
        (graph.TOOL, graph.records_of, graph.statements),
        (mem0.TOOL, mem0.records_of, mem0.statements),
    )
    for tool, find, read in readers:
        records = find(values)
        if records is not None:
            return StoreContents(tool, (*read(records), *broken))
    for value in values:
        match value:
            case {"observations": [{**fields}, *_] as records, **others} if tool := observations.tool_of(
                map(str, fields)
            ):
                besides = {str(name): table for name, table in others.items()}
                found = (*observations.statements(tool, records, project), *observations.of_sessions(besides, project))
                return StoreContents(tool, (*found, *broken))
    raise UnreadableStore(f"{path} is JSON of no tool that is known; what can be read: {READABLE}")


_Finder = Callable[[Sequence[object]], list[object] | None]
_Reader = Callable[[Sequence[object]], Iterator[Statement | Omission]]
