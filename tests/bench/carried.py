"""The share of names that survive in a history, and in simpler texts of the same length, scored by a stranger."""

import asyncio
import re
import sys
import tempfile
from pathlib import Path

import msgspec

from tests.bench.measure import Measure, at_least
from tests.bench.results import keep, table
from tests.helpers.recordings import FOREIGN, foreign

BUDGETS = (2_000, 4_000, 8_000, 16_000)
CASES, NEUTRAL, SCORER = "carryover.json", "transcripts/neutral", "eval/carryover.py"
"""Within the folder of foreign recordings."""
OURS = "history by rules"
_ROW = re.compile(r"^\| (.+?) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)


class Carried(msgspec.Struct, frozen=True):
    """How much of what an agent later wrote from memory stands in a text of so many tokens, in percent."""

    method: str
    budget: int
    every: float
    near: float
    far: float
    """Of what it had last seen more than 20,000 tokens before."""


async def carried() -> list[Measure]:
    """Compared with the best of the simpler texts, whichever that is."""
    folder = foreign()
    if folder is None:
        sys.stdout.write(f"\nCarry-over is left out: it needs recordings of other projects; name them in {FOREIGN}.\n")
        return []
    found = await _baselines(folder)
    ours = {budget: await _ours(folder, budget) for budget in BUDGETS}
    rows = sorted((*found, *ours.values()), key=lambda one: (one.budget, one.every))
    headings = ("carry-over", "tokens", "all, %", "near, %", "far, %")
    made = table(headings, ((one.method, one.budget, one.every, one.near, one.far) for one in rows))
    path = keep("carryover", rows)
    sys.stdout.write(f"\n{made}\n\nThe same as JSON lines: {path}\n")
    return [measure for budget in BUDGETS for measure in _measures(ours[budget], found)]


def _measures(ours: Carried, found: list[Carried]) -> list[Measure]:
    others_of_budget = [one for one in found if one.budget == ours.budget]
    every, far = max(one.every for one in others_of_budget), max(one.far for one in others_of_budget)
    return [
        at_least(f"carry-over at {ours.budget:,} tokens, all names", ours.every, "%", every, every),
        at_least(f"carry-over at {ours.budget:,} tokens, names seen long ago", ours.far, "%", far, far),
    ]


async def _baselines(folder: Path) -> list[Carried]:
    words = [str(budget) for budget in BUDGETS]
    text = await _ran("python3", *_in(folder, SCORER), "baselines", *_in(folder, CASES, NEUTRAL), *words)
    return [Carried(name, int(budget), *map(float, shares)) for name, budget, *shares in _ROW.findall(text)]


async def _ours(folder: Path, budget: int) -> Carried:
    cases, neutral, scorer = _in(folder, CASES, NEUTRAL, SCORER)
    with tempfile.TemporaryDirectory(prefix="annals-bench-") as own:
        texts = str(Path(own) / "texts.jsonl")
        words = ["bench", "carryover", cases, neutral, texts, "--budget", str(budget)]
        await _ran(sys.executable, "-m", "services.edges.cli", *words)
        score = msgspec.json.decode(await _ran("python3", scorer, "score", cases, neutral, texts))
    if score["missing"]:
        raise RuntimeError(f"{score['missing']} cases of {CASES} have no text")
    return Carried(OURS, budget, *(round(100 * score[share], 1) for share in ("all", "near", "far")))


def _in(folder: Path, *paths: str) -> list[str]:
    return [str(folder / path) for path in paths]


async def _ran(*words: str) -> str:
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"`{' '.join(words)}` ended with {process.returncode}")
    return out.decode()
