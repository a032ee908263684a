"""Values of DuckDB as JSON: as themselves where JSON has such a value, and as text where it has none."""

import re
from collections.abc import Callable, Iterable, Iterator
from math import isfinite, isnan
from typing import Any, Protocol

import msgspec

Encode = Callable[[Any], object]

PLAIN = frozenset({"boolean", "varchar", "blob", "uuid", "enum", "decimal", "null"})
"""Types whose values reach Python unchanged, and are written as they are."""
WHOLE = frozenset(
    f"{sign}{size}" for sign in ("", "u") for size in ("tinyint", "smallint", "integer", "bigint", "hugeint")
)
REAL = frozenset({"float", "double"})
SMALLEST, LARGEST = -(2**63), 2**64 - 1
"""Whole numbers beyond these are text: most readers of JSON would round them."""
_MOMENT = re.compile(r"(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(:\d\d)?)?")


class ColumnKind(Protocol):
    """A type of DuckDB."""

    @property
    def id(self) -> str: ...
    @property
    def children(self) -> list[tuple[str, Any]]: ...


class ColumnShape(msgspec.Struct, frozen=True):
    """The columns of one type: how their values are asked for and written."""

    sql: str
    """The type that they are cast to; their own where nothing of them has to be cast."""
    encode: Encode | None = None
    """The function that makes JSON of each value; None: a value stays as it is."""


def shape(kind: ColumnKind) -> ColumnShape:
    """The shape of values of this type. What is in them is written by the same rules, at any depth."""
    match kind.id:
        case "list":
            inner = shape(kind.children[0][1])
            return ColumnShape(f"{inner.sql}[]", _each(inner.encode))
        case "array":
            inner = shape(kind.children[0][1])
            return ColumnShape(f"{inner.sql}[{kind.children[1][1]}]", _each(inner.encode))
        case "struct" if kind.children:
            fields = {name: shape(child) for name, child in kind.children}
            sql = ", ".join(f"{_quoted(name)} {field.sql}" for name, field in fields.items())
            return ColumnShape(f"STRUCT({sql})", _fields({name: field.encode for name, field in fields.items()}))
        case "map":
            inner = shape(kind.children[1][1])
            return ColumnShape(f"MAP(VARCHAR, {inner.sql})", _values(inner.encode))
        case name if name in PLAIN:
            return ColumnShape(str(kind))
        case name if name in WHOLE:
            return ColumnShape(str(kind), _whole if "hugeint" in name else None)
        case name if name in REAL:
            return ColumnShape(str(kind), _real)
        case name if name.startswith("timestamp"):
            return ColumnShape("VARCHAR", moment)
        case _:  # dates, intervals, unions, variants, and what a later release may bring
            return ColumnShape("VARCHAR")


def moment(text: str | None) -> str | None:
    """A moment as ISO 8601 has it. What is none there, such as infinity or a year before Christ, stays as it is."""
    found = _MOMENT.fullmatch(text) if text is not None else None
    if found is None:
        return text
    day, clock, hours, minutes = found.groups()
    return f"{day}T{clock}" + (f"{hours}{minutes or ':00'}" if hours else "")


def _whole(number: int | None) -> int | str | None:
    return number if number is None or SMALLEST <= number <= LARGEST else str(number)


def _real(number: float | None) -> float | str | None:
    if number is None or isfinite(number):
        return number
    return "NaN" if isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _each(encode: Encode | None) -> Encode | None:
    return None if encode is None else lambda values: values and [encode(value) for value in values]


def _fields(encodes: dict[str, Encode | None]) -> Encode | None:
    changed = {name: encode for name, encode in encodes.items() if encode is not None}
    if not changed:
        return None
    return lambda value: value and {**value, **{name: encode(value[name]) for name, encode in changed.items()}}


def _values(encode: Encode | None) -> Encode | None:
    return None if encode is None else lambda value: value and {key: encode(one) for key, one in value.items()}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class RowTooLarge(ValueError):
    """A row that is too large for a page; names a remedy."""


def pages(rows: Iterable[tuple[object, ...]], room: int) -> Iterator[bytes]:
    """Rows as JSON arrays of at most so many bytes, in their order; one array at least. Raises `RowTooLarge`."""
    page: list[bytes] = []
    size = len(b"[]")
    encoder = msgspec.json.Encoder()
    for number, row in enumerate(rows, start=1):
        encoded = encoder.encode(row)
        if len(encoded) + len(b"[]") > room:
            raise RowTooLarge(
                f"row {number} has {len(encoded):,} bytes, an answer has room for {room:,}: ask for fewer columns or "
                "for a part of a long text, such as left(text, 1000)"
            )
        if page and size + len(encoded) + 1 > room:
            yield _joined(page)
            page, size = [], len(b"[]")
        page.append(encoded)
        size += len(encoded) + 1
    yield _joined(page)


def _joined(rows: list[bytes]) -> bytes:
    return b"[" + b",".join(rows) + b"]"
