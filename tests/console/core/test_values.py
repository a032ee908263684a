"""How values are written, whatever their type: as they are, or as text."""

import math
from typing import Any, NamedTuple

import pytest

from services.console.core.values import ColumnShape, moment, shape


class Named(NamedTuple):
    """A type of DuckDB, as far as it is looked at."""

    id: str
    children: list[tuple[str, Any]] = []
    sql: str = ""

    def __str__(self) -> str:
        return self.sql or self.id.upper()


ZONED = Named("timestamp with time zone")
WHOLE = Named("integer")


def written(kind: Named, value: object) -> object:
    encode = shape(kind).encode
    return value if encode is None else encode(value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-07 12:00:00", "2026-03-07T12:00:00"),
        ("2026-03-07 12:00:00.123456+00", "2026-03-07T12:00:00.123456+00:00"),
        ("2026-03-07 12:00:00.123456789", "2026-03-07T12:00:00.123456789"),
        ("2026-03-07 12:00:00-05:30", "2026-03-07T12:00:00-05:30"),
        ("290000-01-01 00:00:00", "290000-01-01T00:00:00"),
        ("0044-03-15 (BC) 12:00:00+00", "0044-03-15 (BC) 12:00:00+00"),
        ("-infinity", "-infinity"),
        (None, None),
    ],
)
def test_a_moment_is_written_as_iso_has_it(text: str | None, expected: str | None) -> None:
    assert expected == moment(text)


@pytest.mark.parametrize(
    ("kind", "sql"),
    [
        (WHOLE, "INTEGER"),
        (Named("date"), "VARCHAR"),
        (Named("of a later release"), "VARCHAR"),
        (Named("list", [("child", ZONED)]), "VARCHAR[]"),
        (Named("array", [("child", WHOLE), ("size", 3)]), "INTEGER[3]"),
        (Named("map", [("key", ZONED), ("value", ZONED)]), "MAP(VARCHAR, VARCHAR)"),
        (Named("struct", [('a"b', ZONED), ("c", WHOLE)]), 'STRUCT("a""b" VARCHAR, "c" INTEGER)'),
        (Named("struct"), "VARCHAR"),
        (
            Named("list", [("child", Named("struct", [("a", Named("list", [("child", WHOLE)]))]))]),
            'STRUCT("a" INTEGER[])[]',
        ),
    ],
)
def test_what_python_could_not_show_is_asked_for_as_text(kind: Named, sql: str) -> None:
    assert sql == shape(kind).sql


def test_big_numbers_are_text_and_others_are_numbers() -> None:
    huge = Named("hugeint")
    numbers = (0, -(2**63), 2**64 - 1, -(2**63) - 1, 2**64, None)
    assert [0, -(2**63), 2**64 - 1, str(-(2**63) - 1), str(2**64), None] == [written(huge, one) for one in numbers]


def test_what_is_no_number_of_json_is_text() -> None:
    real = Named("double")
    assert [1.5, "NaN", "Infinity", "-Infinity", None] == [
        written(real, one) for one in (1.5, math.nan, math.inf, -math.inf, None)
    ]


def test_the_same_holds_inside_of_other_values_and_for_nothing_at_all() -> None:
    real = Named("double")
    inner = Named("struct", [("a", real), ("b", WHOLE)])
    nested = Named("map", [("key", WHOLE), ("value", Named("list", [("child", inner)]))])
    assert {"1": [{"a": "NaN", "b": 2}, None], "2": None} == written(
        nested, {"1": [{"a": math.nan, "b": 2}, None], "2": None}
    )
    assert None is written(nested, None)
    assert ColumnShape("INTEGER[]") == shape(Named("list", [("child", WHOLE)]))
