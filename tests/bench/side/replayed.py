"""The recorded sessions, with an installation by `annals replay` or in memory, and as OpenCode alone would do."""

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import msgspec

from services.domain.limits import Limits
from services.edges.client.alone import Alone
from services.edges.client.player import OUTPUT_LIMIT, PlayedSession, Player
from services.edges.client.readers import read
from services.edges.client.replay import address_of, calls
from services.edges.client.report import Report, report
from services.edges.client.transcript import Transcript
from tests.bench.side.arms import ARMS, KNOB, Arm
from tests.bench.side.measured import Row
from tests.bench.side.recordings import ROOT
from tests.helpers.house_in_memory import KeeperInMemory
from tests.helpers.recordings import SHIPPED, foreign

WINDOWS = (60_000, 128_000, 200_000)


def replayed(window: int, arms: Sequence[str], folder: Path) -> Iterator[Row]:
    """One row for each arm, of all sessions together."""
    for name in arms:
        yield _replayed(window, ARMS[name], folder)


def _replayed(window: int, arm: Arm, folder: Path) -> Row:
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    ours = {name: value for name, value in os.environ.items() if not name.startswith("ANNALS_")}
    steps = folder / f"replay-{window}-{arm.name}.jsonl"
    source = foreign("transcripts/neutral") or SHIPPED
    options = ["--limit", str(window), "--json", "--agent", "none", "--at-once", "2", "--steps", str(steps)]
    alone = [] if arm.annals else ["--alone"]
    done = subprocess.run(
        [sys.executable, "-m", "services.edges.cli", "replay", str(source), *options, *alone],
        env={**ours, **arm.env, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=False,
    )
    made = msgspec.json.decode(done.stdout, type=Report)
    (folder / f"replay-{window}-{arm.name}.json").write_bytes(done.stdout)
    return _row(f"{made.sessions} sessions at {window:,}", arm.name, made, time.monotonic() - began)


def in_memory(window: int, arms: Sequence[str], _: Path) -> Iterator[Row]:
    """The same in a minute, and the same each time: what the rooms decide, without their broker and processes."""
    sessions = sorted(filter(calls, read(foreign("transcripts/neutral") or SHIPPED)), key=calls, reverse=True)
    with ProcessPoolExecutor() as pool:
        for name in arms:
            began = time.monotonic()
            made = report(list(pool.map(partial(played, window=window, arm=ARMS[name]), sessions)))
            yield _row(f"{made.sessions} sessions at {window:,}, in memory", name, made, time.monotonic() - began)


def played(transcript: Transcript, window: int, arm: Arm) -> PlayedSession:
    """One session in memory, whose agent drops nothing."""
    limits = msgspec.convert({"context": arm.env.get(KNOB, "balanced")}, Limits)
    keeper = KeeperInMemory(limits) if arm.annals else Alone(window, OUTPUT_LIMIT)
    return asyncio.run(
        Player(keeper, address_of(transcript), transcript, tidy=False, limit=window).play(lambda _: None)
    )


def _row(scenario: str, arm: str, made: Report, seconds: float) -> Row:
    causes = Counter(f"{one.cause}{' at a loss' if one.net < 0 else ''}" for one in made.rebases)
    return Row(
        scenario=scenario,
        arm=arm,
        calls=made.steps,
        prompt_tokens=made.prompt_tokens,
        cached_tokens=made.cached_tokens,
        new_tokens=made.prompt_tokens - made.cached_tokens,
        largest=made.largest_prompt,
        prefix_changes=made.unexplained_prefix_changes + len(made.rebases),
        aside_tokens=made.aside_tokens,
        refused=made.refused,
        failed_turns=made.failed,
        cost_raw=round(made.cost_units_raw),
        cost=round(made.cost_units),
        misses=made.misses,
        seen=made.seen,
        basis=made.basis,
        rebases=dict(causes.most_common()),
        seconds=round(seconds, 1),
    )
