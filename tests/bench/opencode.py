"""What the adapter adds to a model call inside the real OpenCode, compared with a bare turn of its event loop."""

import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from services.edges.connect.bundle import source
from services.edges.launcher.supervisor import Installation
from tests.bench.installations import installation
from tests.bench.measure import Measure, at_most, percentile
from tests.harness.imported import exported
from tests.harness.isolation import Plugin
from tests.harness.opencode import OpenCode
from tests.harness.provider.script import Call, Reply, Script
from tests.harness.provider.server import Provider

PROBE = Path(__file__).with_name("probe.mjs")
LONG_LIVED = {"BUN_JSC_useFTLJIT": "1"}
"""As fast as it is for people, who do not start it anew all the time."""
SHORT = 50
LONG = 500
CALLS = 80
WARM_UP = 6
"""Calls at the beginning, while OpenCode is still starting, that count for nothing."""


class Line(msgspec.Struct, frozen=True):
    """One call as the probe saw it."""

    kind: str
    ms: float
    call: int


class Timed(msgspec.Struct, frozen=True):
    """Milliseconds of the hook, of a bare turn of the event loop, and from one request to the next."""

    hook: list[float]
    bare: list[float]
    between: list[float]

    @property
    def added(self) -> float:
        return percentile(self.hook, 0.5) - percentile(self.bare, 0.5)


async def measure() -> list[Measure]:
    async with installation() as (running, _):
        long = await _run(LONG, running)
        short = await _run(SHORT, running)
    without = await _run(LONG, None)
    return [
        *_above("OpenCode's transform hook above a bare turn", long.hook, long.bare, (4.0, 15.0)),
        *_above("request to next request above that without the plugin", long.between, without.between, (15.0, 40.0)),
        at_most(f"hook at {LONG} messages less that at {SHORT}, p50", long.added - short.added, "ms", 1.5, short.added),
    ]


def _above(name: str, values: Sequence[float], bare: Sequence[float], budgets: tuple[float, float]) -> list[Measure]:
    """How much the middle and the slow ones lie above those of the bare operation, in milliseconds."""
    shares = zip((0.5, 0.95), ("p50", "p95"), budgets, strict=True)
    return [
        at_most(
            f"{name}, {label}",
            percentile(values, share) - percentile(bare, share),
            "ms",
            budget,
            percentile(bare, share),
        )
        for share, label, budget in shares
    ]


async def _run(length: int, running: Installation | None) -> Timed:
    """Time a turn of many calls in a session of this length."""
    with tempfile.TemporaryDirectory(prefix="annals-bench-") as folder:
        root = Path(folder)
        log = root / "probe.jsonl"
        async with Provider(Script(*_replies())) as provider:
            async with OpenCode(root, provider.url, plugins=[_plugin(root, log, running)], env=LONG_LIVED) as opencode:
                session = await opencode.import_session(exported(length, opencode.path("README.md")))
                await opencode.prompt(session, "Read it, again and again.")
            lines = [msgspec.json.decode(line, type=Line) for line in log.read_bytes().splitlines()]
            times = [request.at for request in provider.of(session)]
    assert len(lines) >= CALLS, f"{len(lines)} calls were timed, {CALLS} were made"
    timed = [line for line in lines if line.call > WARM_UP]
    between = [1000 * (after - before) for before, after in pairwise(times)]
    return Timed(_of(timed, "hook"), _of(timed, "bare"), between[WARM_UP:])


def _of(lines: Sequence[Line], kind: str) -> list[float]:
    return [line.ms for line in lines if line.kind == kind]


def _replies() -> list[Reply]:
    call = Call("read", {"filePath": "README.md", "limit": 5})
    return [Reply(calls=(call,)) for _ in range(CALLS - 1)] + [Reply(text="Done.")]


def _plugin(root: Path, log: Path, running: Installation | None) -> Plugin:
    if running is None:
        return [PROBE.as_uri(), {"log": str(log)}]
    options = {"broker": str(running.data / "broker.json"), "state": str(root / "state")}
    return [PROBE.as_uri(), {"adapter": source("opencode").as_uri(), "options": options, "log": str(log)}]
