"""Every arm on every set, through an installation of its own, one JSON line each; and how long answers take."""

import argparse
import gzip
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import msgspec
import uvloop

from services.edges.arguments import ARMS
from services.edges.search.bench import bench
from services.edges.search.sets import files
from services.kit.logs import configure
from services.settings import load
from tests.bench.results import keep, table
from tests.bench.search.latency import Latency, lag, latencies
from tests.bench.search.scoring import METRICS, GoldSet, Ranking, interval, mean, scored

ROWS = (1_000, 10_000, 100_000)


class Scored(msgspec.Struct, frozen=True):
    """One arm on the sets of one family."""

    family: str
    arm: str
    questions: int
    metrics: dict[str, float]
    """In percent."""
    against: dict[str, tuple[float, float, float]]
    """The difference to each other arm in recall@5: its mean, and its interval of 95 percent."""
    ms: float
    """Median of a question."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", type=Path, metavar="SET")
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS, help="how much is indexed where time is taken")
    options = parser.parse_args()
    if options.sets and (status := _ranked(options.sets)):
        return status
    if options.rows:
        _timed(options.rows)
    return 0


def _timed(sizes: Sequence[int]) -> None:
    """How long answers take, and how soon they know what was recorded."""
    configure("bench", level="error", as_json=False)
    found = uvloop.run(latencies(sizes))
    lags = uvloop.run(lag())
    keep("search_latency", [*found, lags])
    names = [field.name for field in msgspec.structs.fields(Latency)]
    print(table(names, [[getattr(one, name) for name in names] for one in found]))  # noqa: T201 - a report
    print(f"recorded to found: p50 {lags.lag_p50:.0f} ms, p99 {lags.lag_p99:.0f} ms")  # noqa: T201 - a report


def _ranked(sets: Sequence[Path]) -> int:
    """How well each arm ranks what is in the sets."""
    paths = list(files(sets))
    with tempfile.TemporaryDirectory() as folder:
        outs = {arm: Path(folder) / f"{arm}.jsonl" for arm in ARMS}
        if status := bench(paths, outs, load().settings):
            return status
        lines = {arm: _lines(out) for arm, out in outs.items()}
    found = list(_scored(paths, lines))
    keep("search", found)
    rows = [[one.family, one.arm, one.questions, *(one.metrics[name] for name in METRICS), one.ms] for one in found]
    print(table(["set", "arm", "questions", *METRICS, "ms"], rows))  # noqa: T201 - a report
    return 0


def _lines(path: Path) -> dict[tuple[str, str], Ranking]:
    found = (msgspec.json.decode(line, type=Ranking) for line in path.read_bytes().splitlines())
    return {(one.task, one.query_id): one for one in found}


def _scored(paths: list[Path], lines: dict[str, dict[tuple[str, str], Ranking]]) -> list[Scored]:
    families: dict[str, list[GoldSet]] = defaultdict(list)
    for path in paths:
        raw = gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()
        one = msgspec.json.decode(raw, type=GoldSet)
        families[one.task.partition("/")[0]].append(one)
    found = []
    for family, sets in sorted(families.items()):
        by_arm = {arm: [row for one in sets for row in scored(one, lines[arm])] for arm in lines}
        for arm, rows in by_arm.items():
            tasks = {one.task for one in sets}
            times = sorted(line.ms for (task, _), line in lines[arm].items() if task in tasks)
            found.append(
                Scored(
                    family,
                    arm,
                    len(rows),
                    {name: round(100 * mean(rows, name), 1) for name in METRICS},
                    {
                        other: interval([one["recall@5"] for one in rows], [one["recall@5"] for one in theirs])
                        for other, theirs in by_arm.items()
                        if other != arm
                    },
                    times[len(times) // 2] if times else 0.0,
                )
            )
    return found


if __name__ == "__main__":
    raise SystemExit(main())
