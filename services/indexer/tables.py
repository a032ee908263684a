"""The tables of an index: their columns are those of a row, and one table holds the rows of one kind."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from services.domain.search.rows import BY_NAME, KINDS, SearchRow
from services.indexer.core.changes import key
from services.kit.vectors import Column, Columns

VECTORS = ("vector", "vector_beside")
TOKENS = ("tokens", "tokens_beside")
COMPUTED = ("hash", *VECTORS, *TOKENS)
"""The columns that a model computes of a row, and the digest by which a changed row is noticed."""
_TYPES: Mapping[Any, str] = {str: "text", int: "integer", float: "number", bytes: "bytes"}


def _kind(annotation: Any) -> str:  # noqa: ANN401 - a type of any kind
    if annotation in _TYPES:
        return _TYPES[annotation]
    return "texts" if getattr(annotation, "__origin__", None) is tuple else "text"


ROW = tuple(Column(field.name, _kind(field.type)) for field in msgspec.structs.fields(SearchRow))
TABLES = KINDS


def dimensions_of(kind: str, dimensions: int) -> int:
    """The dimensions of a kind's vectors in an index of so many; 0: it has no vectors."""
    return 0 if kind in BY_NAME else dimensions


def columns(dimensions: int) -> tuple[Column, ...]:
    """The columns of a table; without dimensions it has no vectors."""
    vectors = (Column(name, "vector", dimensions) for name in VECTORS) if dimensions else ()
    tokens = (Column(name, "bytes") for name in TOKENS) if dimensions else ()
    return (Column("key", "text"), *ROW, *vectors, *tokens)


def as_columns(rows: Iterable[SearchRow], dimensions: int) -> Columns:
    """Rows as they are written; they have no vectors yet."""
    listed = tuple(rows)
    written: dict[str, list[Any]] = {"key": [key(row.project, row.id) for row in listed]}
    for column in ROW:
        written[column.name] = [getattr(row, column.name) for row in listed]
    if dimensions:
        written |= {name: [None for _ in listed] for name in (*VECTORS, *TOKENS)}
    return written


def as_row(values: Mapping[str, Any]) -> SearchRow:
    """A row as it was read."""
    known = {column.name: values[column.name] for column in ROW if column.name in values}
    return msgspec.convert(known, SearchRow, strict=False)
