"""Two commits, measured in turns: which rows are the same, how they differ, and what got worse.

Nothing here runs anything: the rows of each round come in, and tables, lines and a verdict come out.
"""

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

import msgspec
from rich.table import Table

from tests.bench.measure import Measure

Side = Literal["here", "there"]
WORSE = 0.1
"""The share by which a row may get worse without being named."""
QUARTILES_FROM = 5
"""Rounds from which on the spread is that of the middle half: one round that was disturbed is then left out of it."""
CUT, MISSING = "…", "\N{EN DASH}"
NUMBER = re.compile(r"\b\d[\d,.]*\b")
"""A number in the name of a row, such as how many rows there were to index. The 50 of `p50` is none."""
BORDER = re.compile("[│|]")
CELLS = 7
"""Of a line of the table that `make bench` prints: name, value, unit, baseline, ratio, budget, state."""


class Samples(msgspec.Struct):
    """What one side measured for one row: a value for each round that had the row."""

    section: str
    name: str
    unit: str
    budget: str
    values: list[float] = msgspec.field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        """The least and the greatest value; of five rounds or more the first and the third quartile."""
        if len(self.values) < QUARTILES_FROM:
            return min(self.values), max(self.values)
        first, _, third = statistics.quantiles(self.values, n=4, method="inclusive")
        return first, third


class Summary(msgspec.Struct, frozen=True):
    """The rounds of one side in short. `spread` is from the least to the greatest value, or of the middle half."""

    median: float
    spread: tuple[float, float]
    rounds: int


class ComparedRow(msgspec.Struct, frozen=True, tag_field="kind", tag="row"):
    """A row of both sides, or of one of them where the other has none."""

    section: str
    name: str
    """With the name that the row has there, where that differs."""
    unit: str
    budget: str
    here: Summary | None
    there: Summary | None
    ratio: float | None
    """Median here by median there; None where one of them is missing, or there is nothing there to divide by."""
    worse: bool
    """Whether it got 10 % worse or more, and the spreads of the two do not meet."""


class MeasuredRound(msgspec.Struct, frozen=True, tag_field="kind", tag="round"):
    """One row of one round of one side."""

    section: str
    round: int
    side: Side
    row: Measure


class Comparison:
    """The rounds of both sides, as they come in."""

    def __init__(self) -> None:
        self._samples: dict[Side, list[Samples]] = {"here": [], "there": []}

    def add(self, section: str, side: Side, measures: Sequence[Measure]) -> None:
        """One round of one section. Rows whose names vary from round to round go by the name of the first."""
        known = {one.name: one for one in self._samples[side] if one.section == section}
        former = pairs([row.name for row in measures], [*known])
        for row in measures:
            samples = known.get(former.get(row.name, ""))
            if samples is None:
                samples = Samples(section, row.name, row.unit, row.budget)
                self._samples[side].append(samples)
            samples.values.append(row.value)

    def rows(self) -> list[ComparedRow]:
        """The rows by section: those that are here, in their order, and then those that are only there."""
        sections = dict.fromkeys(one.section for one in (*self._samples["here"], *self._samples["there"]))
        return [row for section in sections for row in self._rows(section)]

    def _rows(self, section: str) -> Iterator[ComparedRow]:
        here, there = (
            {one.name: one for one in self._samples[side] if one.section == section} for side in ("here", "there")
        )
        matched = pairs([*here], [*there])
        for name, samples in here.items():
            yield compared(samples, there.get(matched.get(name, "")))
        for name, samples in there.items():
            if name not in matched.values():
                yield compared(None, samples)


def compared(here: Samples | None, there: Samples | None) -> ComparedRow:
    """The rounds of both sides next to each other. One of the two may be missing, not both."""
    either = here or there
    assert either is not None
    name = either.name
    if here and there and here.name != there.name and CUT not in there.name:
        name = f"{here.name} (there: {there.name})"
    ours, theirs = _summary(here), _summary(there)
    ratio = ours.median / theirs.median if ours and theirs and theirs.median else None
    worse = ours is not None and theirs is not None and is_worse(ours, theirs, more_is_better(either.budget))
    return ComparedRow(either.section, name, either.unit, either.budget, ours, theirs, ratio, worse)


def _summary(samples: Samples | None) -> Summary | None:
    return samples and Summary(samples.median, samples.spread, len(samples.values))


def more_is_better(budget: str) -> bool:
    """Whether a row is one of those that should reach a value, such as a rate."""
    return budget.startswith(">=")


def is_worse(here: Summary, there: Summary, more_is_better: bool) -> bool:  # noqa: FBT001 - it is data
    """Whether the median is worse by a tenth or more, and nearly every round here is worse than nearly every one there.

    That means that the two spreads do not meet: what differs by less may be noise of the machine.
    """
    lost = there.median - here.median if more_is_better else here.median - there.median
    apart = here.spread[1] < there.spread[0] if more_is_better else here.spread[0] > there.spread[1]
    return apart and lost > 0 and lost >= WORSE * abs(there.median) * (1 - 1e-9)


def pairs(names: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    """Which of `others` each name is, each used once: the same one; one that was cut; one that differs in its numbers.

    A pair by anything but the whole name is made only where there is no second one that it could be.
    """
    found: dict[str, str] = {}
    for are_same in (str.__eq__, _is_cut, _differs_in_numbers):
        left = [name for name in names if name not in found]
        free = [other for other in others if other not in found.values()]
        found |= _unique(left, free, are_same)
    return found


def _unique(names: Sequence[str], others: Sequence[str], are_same: Callable[[str, str], bool]) -> dict[str, str]:
    candidates = {name: [other for other in others if are_same(name, other)] for name in names}
    wanted = Counter(other for chosen in candidates.values() for other in chosen)
    return {name: chosen[0] for name, chosen in candidates.items() if len(chosen) == 1 and wanted[chosen[0]] == 1}


def _is_cut(name: str, other: str) -> bool:
    """Whether one is what a narrow table has left of the other, with `…` in place of the rest of a word."""
    cut, whole = (name, other) if CUT in name else (other, name)
    if CUT not in cut or CUT in whole:
        return False
    first, *others = cut.split(CUT)
    at = len(first)
    for piece in others:
        place = whole.find(piece, at)
        if place < 0:
            return False
        at = place + len(piece)
    return whole.startswith(first)


def _differs_in_numbers(name: str, other: str) -> bool:
    return NUMBER.sub("#", name) == NUMBER.sub("#", other)


def rows_of(lines: bytes) -> list[Measure]:
    """The rows that a bench wrote as JSON lines. Raises `msgspec.DecodeError` where they are none."""
    return [msgspec.json.decode(line, type=Measure) for line in lines.splitlines() if line.strip()]


def rows_of_table(text: str) -> list[Measure]:
    """The rows of the table that a bench printed: names that go over several lines are put together again."""
    found: list[list[str]] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in BORDER.split(line)[1:-1]]
        if len(cells) == CELLS and any(cells):
            if cells[1]:
                found.append(cells)
            elif found:
                found[-1] = [f"{above} {cell}".strip() for above, cell in zip(found[-1], cells, strict=True)]
    return [row for cells in found if (row := _row(cells)) is not None]


def _row(cells: Sequence[str]) -> Measure | None:
    """None for a line that has no number where the value is, as the headings of some tables."""
    name, value, unit, baseline, ratio, budget, state = cells
    number = _number(value)
    if number is None:
        return None
    return Measure(name, number, unit, _number(baseline), _number(ratio), budget, state == "ok")


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def table(rows: Iterable[ComparedRow], there: str) -> Table:
    """All rows. The table is as wide as the names need, whatever the terminal is."""
    headings = ("what", "unit", "here", "spread", f"at {there}", "spread", "here / there", "budget", "")
    table = Table(title=f"Here and at {there}, in turns", title_justify="left")
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    for row in rows:
        table.add_row(*cells(row))
    return table


def cells(row: ComparedRow) -> tuple[str, ...]:
    """One line of the table."""
    ratio = MISSING if row.ratio is None else f"{row.ratio:.2f}"
    state = "[red]WORSE[/red]" if row.worse else ""
    return (row.name, row.unit, *_columns(row.here), *_columns(row.there), ratio, row.budget, state)


def _columns(side: Summary | None) -> tuple[str, str]:
    if side is None:
        return MISSING, MISSING
    least, most = (f"{value:,.4g}" for value in side.spread)
    return f"{side.median:,.4g}", least if least == most else f"{least} to {most}"


def verdict(rows: Iterable[ComparedRow]) -> str:
    """The last line: what got worse, in words."""
    worse = [row for row in rows if row.worse]
    if not worse:
        return "nothing got 10 % worse"
    return f"10 % worse or more: {'; '.join(map(_sentence, worse))}"


def _sentence(row: ComparedRow) -> str:
    assert row.here is not None
    assert row.there is not None
    return f"{row.name} ({row.there.median:,.4g} there, {row.here.median:,.4g} here, {row.unit or 'count'})"
