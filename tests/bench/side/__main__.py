"""`make bench-side`: OpenCode alone and with Annals, side by side."""

import argparse
import asyncio
import logging
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from services.kit.logs import configure
from tests.bench.side.arms import ARMS
from tests.bench.side.drawn import draw
from tests.bench.side.measured import Row, table
from tests.bench.side.recordings import ROOT
from tests.bench.side.replayed import WINDOWS, in_memory, replayed
from tests.bench.side.scenarios import QUICK, SCENARIOS, Scenario
from tests.helpers.recordings import FOREIGN, foreign

FOLDER = ROOT / ".bench" / "side"
ROWS = "rows.jsonl"
DEFAULT = "alone,annals"


def main() -> int:
    options = _parser().parse_args()
    configure("bench", level="error", as_json=False)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    folder = FOLDER / f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
    if foreign() is None:
        sys.stderr.write(f"No foreign recordings: those that come along are played. {FOREIGN} names a folder.\n")
    arms = options.arms.split(",")
    chosen = QUICK if options.quick else [SCENARIOS[name] for name in options.names or SCENARIOS]
    is_replay = options.replay or options.in_memory
    rows = asyncio.run(_played(chosen, arms, folder)) if not is_replay else []
    if is_replay or not (options.names or options.quick):
        how = in_memory if options.in_memory else replayed
        for row in (row for window in WINDOWS for row in how(window, arms, folder)):
            _noted(row, folder)
            rows.append(row)
    _write_rows(rows, folder)
    return int(any(row.failed_turns or row.invalid or row.lost_steps for row in rows if row.arm != "alone"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench-side")
    described = "; ".join(f"{name}: {scenario.what}" for name, scenario in SCENARIOS.items())
    parser.add_argument("names", nargs="*", choices=[*SCENARIOS, []], metavar="SCENARIO", help=described)
    parser.add_argument("--arms", default=DEFAULT, help=f"of {', '.join(ARMS)}, with commas")
    parser.add_argument("--quick", action="store_true", help="two short scenarios only")
    parser.add_argument("--replay", action="store_true", help="only recorded sessions by `annals replay`")
    parser.add_argument("--in-memory", action="store_true", help="the same in a minute, without broker and processes")
    return parser


async def _played(scenarios: Sequence[Scenario], arms: Sequence[str], folder: Path) -> list[Row]:
    rows = []
    for scenario in scenarios:
        for name in arms:
            root = folder / f"{scenario.setup.name}-{name}"
            rows.append(await scenario.play(ARMS[name], root))
            _noted(rows[-1], folder)
            shutil.rmtree(root / "opencode", ignore_errors=True)
    return rows


def _noted(row: Row, folder: Path) -> None:
    """Print and store a row as soon as it is there: the next may take minutes, and may be broken off."""
    line = msgspec.json.encode(row).decode()
    sys.stderr.write(f"{line}\n")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ROWS).open("a") as file:
        file.write(f"{line}\n")


def _write_rows(rows: Sequence[Row], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.md").write_text(table(rows))
    draw(rows, folder / "cost-and-sight.svg")
    sys.stdout.write(f"{table(rows)}\nAll of it is in {folder.relative_to(ROOT)}.\n")


if __name__ == "__main__":
    raise SystemExit(main())
