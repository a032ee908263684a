"""`make bench`: the budgets, each measured next to a bare operation in the same run."""

import argparse
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import uvloop
from rich.table import Table

from services.kit.logs import configure
from tests.bench import (
    asked,
    brief,
    commits,
    desks,
    dreaming,
    history,
    indexing,
    ingest,
    load,
    memory,
    opencode,
    prefix,
    rebases,
    rebuild,
    recovery,
    remembered,
    remembering,
    step,
    undisturbed,
    warm,
)
from tests.bench.measure import Measure
from tests.bench.results import FOLDER, print_whole

BENCHES: dict[str, Callable[[], Awaitable[Sequence[Measure]]]] = {
    "warm": warm.measure,
    "step": step.measure,
    "ingest": ingest.measure,
    "indexing": indexing.measure,
    "rebuild": rebuild.measure,
    "memory": memory.measure,
    "recovery": recovery.measure,
    "prefix": prefix.measure,
    "rebases": rebases.measure,
    "history": history.measure,
    "undisturbed": undisturbed.measure,
    "asked": asked.measure,
    "desks": desks.measure,
    "remembered": remembered.measure,
    "remembering": remembering.measure,
    "brief": brief.measure,
    "commits": commits.measure,
    "dreaming": dreaming.measure,
}


NAMED: dict[str, Callable[[], Awaitable[Sequence[Measure]]]] = {"opencode": opencode.measure, "load": load.measure}
"""These take their time, and are run when they are named."""


async def run(names: Sequence[str]) -> list[Measure]:
    measures: list[Measure] = []
    for name in names:
        measures += await (BENCHES | NAMED)[name]()
    return measures


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"of {', '.join(BENCHES)}; or where they are named: {', '.join(NAMED)}",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows here as JSON lines, not below .bench")
    given = parser.parse_args()
    names = given.names or list(BENCHES)
    if unknown := [name for name in names if name not in BENCHES | NAMED]:
        parser.error(f"there is no bench {', '.join(unknown)}; name some of {', '.join(BENCHES | NAMED)}")
    configure("bench", level="error", as_json=False)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    measures = uvloop.run(run(names))
    _keep(measures, given.json)
    print_whole(budgets(measures))
    return 0 if all(measure.ok for measure in measures) else 1


def _keep(measures: Sequence[Measure], path: Path | None) -> None:
    lines = b"".join(msgspec.json.encode(measure) + b"\n" for measure in measures)
    if path is not None:
        path.write_bytes(lines)
        return
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{datetime.now(UTC):%Y%m%dT%H%M%S}.jsonl").write_bytes(lines)
    (FOLDER / "latest.jsonl").write_bytes(lines)


def budgets(measures: Sequence[Measure]) -> Table:
    """All rows, each with its budget and whether it is within it."""
    table = Table(title="Budgets", title_justify="left")
    for heading in ("what", "value", "unit", "baseline", "ratio", "budget", ""):
        table.add_column(heading, no_wrap=True)
    for measure in measures:
        baseline = "" if measure.baseline is None else f"{measure.baseline:,.3g}"
        ratio = "" if measure.ratio is None else f"{measure.ratio:.2f}"
        state = "ok" if measure.ok else "[red]MISSED[/red]"
        table.add_row(measure.name, f"{measure.value:,.4g}", measure.unit, baseline, ratio, measure.budget, state)
    return table


if __name__ == "__main__":
    raise SystemExit(main())
