"""What is remembered of recorded sessions by rules alone: how much is junk, and how many rules of people are there."""

import sys

import msgspec

from tests.bench.measure import Measure, at_least, at_most
from tests.bench.results import keep, table
from tests.helpers.recordings import FOREIGN, foreign_files
from tests.helpers.remembered_sessions import outcomes

MOST_JUNK, LEAST_RECALLED = 10, 80
"""Percent."""


class Remembered(msgspec.Struct, frozen=True):
    """The memories of a project that hold, and which of them are junk."""

    project: str
    active: list[str]
    junk: list[str]


async def measure() -> list[Measure]:
    paths = foreign_files("transcripts/neutral/*.jsonl.gz")
    if not paths:
        sys.stdout.write(
            f"\nWhat is remembered is left out: it needs recordings of other projects; name them in {FOREIGN}.\n"
        )
        return []
    found = [*outcomes(paths)]
    headings = ("sessions of", "active", "junk", "laid down", "active of these")
    rows = [(one.project, len(one.active), len(one.junk()), len(one.laid_down), len(one.recalled())) for one in found]
    texts = [Remembered(one.project, one.active, one.junk()) for one in found]
    sys.stdout.write(f"\n{table(headings, rows)}\n\nThe memories as JSON lines: {keep('remembered', texts)}\n")
    active, junk, laid_down, recalled = (sum(column) for column in list(zip(*rows, strict=True))[1:])
    return [
        at_most("junk among what is remembered of recorded sessions", 100 * junk / active, "%", MOST_JUNK),
        at_least("rules that people typed, remembered", 100 * recalled / laid_down, "%", LEAST_RECALLED),
    ]
