"""What is read of a bench, which rows are the same, and what counts as worse."""

from io import StringIO

import msgspec
import pytest
from rich.console import Console
from rich.table import Table

from tests.bench.__main__ import budgets
from tests.bench.compared import MISSING, Comparison, Samples, compared, pairs, rows_of, rows_of_table, table, verdict
from tests.bench.measure import Measure, at_least, at_most
from tests.bench.results import print_whole

LONG = "brief after a change that somebody made, 10,000 memories, p50"
ROWS = [
    at_most(LONG, 12.5, "ms", 50.0, 2.5),
    at_least("rebuild of all views", 8343.0, "facts/s", 20_000),
    at_most("unexplained prefix changes, 3 sessions", 0, "", 0),
]


def printed(shown: Table, width: int) -> str:
    console = Console(file=StringIO(), width=width)
    print_whole(shown, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def narrow(rows: list[Measure], width: int) -> str:
    """The table as it was printed once: with names that are folded or cut where it is narrow."""
    shown = Table("what", "value", "unit", "baseline", "ratio", "budget", "", title="Budgets")
    for row in rows:
        state = "ok" if row.ok else "[red]MISSED[/red]"
        shown.add_row(row.name, f"{row.value:,.4g}", row.unit, str(row.baseline or ""), "", row.budget, state)
    console = Console(file=StringIO(), width=width)
    console.print(shown)
    return console.file.getvalue()  # type: ignore[attr-defined]


def rounds(*sides: tuple[list[float], list[float]], budget: str = "<= 50") -> Comparison:
    comparison = Comparison()
    for number, (here, there) in enumerate(sides):
        for values, side in ((here, "here"), (there, "there")):
            for value in values:
                row = Measure(f"row {'abc'[number]}", value, "ms", None, None, budget, ok=True)
                comparison.add("step", side, [row])  # type: ignore[arg-type]
    return comparison


def test_rows_are_read_from_json_lines() -> None:
    lines = b"".join(msgspec.json.encode(row) + b"\n" for row in ROWS)
    assert ROWS == rows_of(lines)


@pytest.mark.parametrize("width", [300, 80, 70])
def test_rows_of_an_old_table_are_read_and_found_again_however_narrow_it_is(width: int) -> None:
    text = f"Some words before.\n| a | table | in | Markdown |\n{narrow(ROWS, width)}\nand after"
    found = rows_of_table(text)
    assert {row.name for row in ROWS} == {*pairs([row.name for row in ROWS], [row.name for row in found])}
    assert [(row.value, row.unit, row.budget, row.ok) for row in ROWS] == [
        (row.value, row.unit, row.budget, row.ok) for row in found
    ]


def test_a_table_of_ascii_is_read() -> None:
    assert [at_most("a row", 1200.0, "ms", 5)] == rows_of_table("| a row | 1,200 | ms | | | <= 5 | MISSED |")


def test_a_name_that_was_cut_is_found_by_what_is_left_of_it_unless_it_could_be_two() -> None:
    whole = ["warm transform, 17,000 messages, p50", "warm transform, 17,000 messages, p99", "rebase"]
    assert {"rebase": "reb…", whole[1]: "warm trans… 17,… p99"} == pairs(whole, ["reb…", "warm trans… 17,… p99"])
    assert {} == pairs(whole, ["warm trans…"])
    assert {} == pairs(whole, ["warm rebase…", "…"])


def test_names_that_differ_in_counts_are_the_same_row_and_percentiles_are_not() -> None:
    assert {"vectors of 81 rows, p50": "vectors of 7,990 rows, p50"} == pairs(
        ["vectors of 81 rows, p50", "vectors of 81 rows, p99"], ["vectors of 7,990 rows, p50"]
    )
    assert {} == pairs(["at 500 of a", "at 17,000 of a"], ["at 100 of a"])


def test_a_row_with_a_count_in_its_name_is_one_row_over_all_rounds_with_both_names() -> None:
    comparison = Comparison()
    for number, side in enumerate(("here", "there", "here", "there")):
        comparison.add("indexing", side, [at_least(f"vectors of {number} rows", 10 + number, "rows/s", 10)])  # type: ignore[arg-type]
    (row,) = comparison.rows()
    assert row.name == "vectors of 0 rows (there: vectors of 1 rows)"
    assert row.here is not None
    assert (2, 11.0) == (row.here.rounds, row.here.median)


def test_a_row_that_one_side_lacks_has_a_dash_and_is_no_worse() -> None:
    comparison = Comparison()
    for _ in range(3):
        comparison.add("step", "here", [at_most("new", 1, "ms", 5), at_most("both", 2, "ms", 5)])
        comparison.add("step", "there", [at_most("both", 2, "ms", 5), at_most("old", 3, "ms", 5)])
    rows = comparison.rows()
    assert ["new", "both", "old"] == [row.name for row in rows]
    text = printed(table(rows, "abc"), 20)
    new, both, old = (next(line for line in text.splitlines() if name in line) for name in ("new", "both", "old"))
    assert (3, 0, 3) == tuple(line.count(MISSING) for line in (new, both, old))
    assert "nothing got 10 % worse" == verdict(rows)


@pytest.mark.parametrize(
    ("here", "there", "budget", "is_worse"),
    [
        ([11, 12, 11.5], [10, 10.2, 9.9], "<= 50", True),
        ([11, 12, 11.5], [10, 10.2, 9.9], "ratio <= 5", True),
        ([11, 12, 11.5], [10, 10.2, 9.9], ">= 5", False),
        ([9, 8, 8.5], [10, 10.2, 9.9], ">= 5", True),
        ([9, 8, 8.5], [10, 10.2, 9.9], "<= 50", False),
        ([10.8, 10.9, 10.7], [10, 10.2, 9.9], "<= 50", False),  # less than a tenth
        ([11, 12, 10], [10, 10.2, 9.9], "<= 50", False),  # the spreads meet
        ([11, 11, 11], [10, 10, 10], "<= 50", True),  # a tenth, to the digit
        ([1, 1, 1], [0, 0, 0], "<= 0", True),
        ([0, 0, 0], [0, 0, 0], "<= 0", False),
        ([-2, -2, -2], [-3, -3, -3], "<= 5", True),
        ([100, 11, 11, 11, 11], [10, 10, 10, 10, 200], "<= 50", True),  # one round of each was disturbed
    ],
)
def test_worse_is_what_is_so_by_a_tenth_in_its_bad_direction_and_beyond_the_spread(
    here: list[float], there: list[float], budget: str, *, is_worse: bool
) -> None:
    (row,) = rounds((here, there), budget=budget).rows()
    assert is_worse == row.worse


def test_nothing_there_to_divide_by_gives_no_ratio() -> None:
    (row,) = rounds(([1, 1, 1], [0, 0, 0])).rows()
    assert row.ratio is None


def test_the_last_line_names_all_that_got_worse_in_full() -> None:
    rows = rounds(([20, 20, 20], [10, 10, 10]), ([10, 10, 10], [10, 10, 10]), ([3, 3, 3], [1, 1, 1])).rows()
    assert "10 % worse or more: row a (10 there, 20 here, ms); row c (1 there, 3 here, ms)" == verdict(rows)


def test_a_table_says_names_in_full_in_the_narrowest_terminal() -> None:
    here = Samples("brief", LONG, "ms", "<= 50", [12.0, 14.0, 13.0])
    there = Samples("brief", LONG, "ms", "<= 50", [10.0, 10.0, 10.0])
    (line,) = (line for line in printed(table([compared(here, there)], "abc1234"), 20).splitlines() if LONG in line)
    cells = [cell.strip() for cell in line.split("│")[1:-1]]
    assert [LONG, "ms", "13", "12 to 14", "10", "10", "1.30", "<= 50", "WORSE"] == cells


def test_the_budgets_say_names_in_full_in_the_narrowest_terminal() -> None:
    text = printed(budgets(ROWS), 20)
    assert [] == [row.name for row in ROWS if f" {row.name} " not in text]
