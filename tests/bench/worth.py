"""What the memory of earlier sessions is worth to a later one, beside their most frequent names in as many tokens."""

import statistics
import sys

from tests.bench.kept import keep, table
from tests.bench.measure import Measure, at_least
from tests.helpers.later_sessions import worth
from tests.helpers.recordings import FOREIGN, foreign_files


async def measure() -> list[Measure]:
    paths = foreign_files("transcripts/neutral/*.jsonl.gz")
    if not paths:
        sys.stdout.write(
            f"\nWorth having is left out: it needs recordings of other projects; name them in {FOREIGN}.\n"
        )
        return []
    found = [one for one in worth(paths) if one.needed]
    headings = ("later session of", "names needed", "in the head", "most frequent", "tokens")
    rows = [(one.project, one.needed, one.remembered, one.frequent, one.tokens) for one in found]
    sys.stdout.write(f"\n{table(headings, rows)}\n\nThe heads as JSON lines: {keep('worth', found)}\n")
    ours = 100 * statistics.mean(one.remembered / one.needed for one in found)
    frequent = 100 * statistics.mean(one.frequent / one.needed for one in found)
    name = "names that a later session's agent writes, in the head at its start"
    return [at_least(name, ours, "%", round(frequent, 1), frequent)]
