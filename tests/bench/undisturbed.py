"""A step, to its plan in hand, while the historian compresses nothing, another session, or this very one."""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from schemas.commands import HistoryRebuild
from services.edges.client.player import raw_tokens
from services.edges.client.readers import read
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Bus
from services.settings import Logs, Model, Settings
from tests.bench.compressing import SHOP
from tests.bench.condensing import Condensing
from tests.bench.history import scripted
from tests.bench.measure import Measure, percentile, ratio_at_most
from tests.bench.prefix import recordings
from tests.bench.results import table
from tests.bench.working import Worked
from tests.harness.provider import Provider as Server
from tests.helpers.installation import connect

HISTORY = 300
"""Messages of the session before its first step. The others follow, one with each step, and then again."""
ROUNDS = 6
QUIET = 30
"""Steps of a round in which nothing is compressed ..."""
MOST = 60
"""... and at most in one in which something is."""
WARM_UP = 3
"""Steps at the beginning of a round that count for nothing."""
SLOW = 1.5
"""Seconds that the scripted model takes for an answer."""
P50, P95 = 2.0, 3.0
"""How many times as long as undisturbed a step may take."""


async def measure() -> list[Measure]:
    shop = next(iter(read(SHOP)))
    others = (*recordings(), replace(shop, session="another"))
    large = max(others, key=lambda one: sum(map(raw_tokens, one.messages)))
    async with (
        Server(Condensing(SLOW)) as server,
        _installation(Model()) as by_rules,
        _installation(scripted(server.url)) as by_model,
    ):
        ours, other = Worked(by_rules, shop, HISTORY), Worked(by_rules, large, len(large.messages))
        same = Worked(by_model, shop, HISTORY)
        for one in (ours, other, same):
            await one.open()
        scenes = (
            Scene("nothing is compressed (rules)", ours, None),
            Scene("another session is, by rules", ours, other),
            Scene("nothing is compressed (model)", same, None),
            Scene("the same session is, by a slow model", same, same),
        )
        for scene in scenes * ROUNDS:
            await scene.play()
        for one in (ours, other, same):
            await one.close()
    if len(server.requests) <= ROUNDS:
        raise RuntimeError(f"the scripted model was asked {len(server.requests)} times only")
    return _published(scenes)


class Scene:
    """What the historian does while a session is worked in."""

    def __init__(self, name: str, worked: Worked, compressed: Worked | None) -> None:
        self.name = name
        self.seconds: list[float] = []
        self._worked = worked
        self._compressed = compressed

    async def play(self) -> None:
        """Some steps more, without the first ones; the last is the one at whose end the historian is done."""
        for _ in range(WARM_UP):
            await self._worked.step()
        if self._compressed is None:
            self.seconds += [await self._worked.step() for _ in range(QUIET)]
            return
        await self._compressed.compress(HistoryRebuild())
        for _ in range(MOST):
            self.seconds.append(await self._worked.step())
            if not await self._compressed.is_compressed():
                break
        await self._compressed.ended()

    def ms(self, share: float) -> float:
        return 1000 * percentile(self.seconds, share)


def _published(scenes: Sequence[Scene]) -> list[Measure]:
    rows: list[tuple[object, ...]] = []
    measures: list[Measure] = []
    for quiet, busy in zip(scenes[::2], scenes[1::2], strict=True):
        for scene in (quiet, busy):
            ratios = [f"{scene.ms(share) / quiet.ms(share):.2f}" for share in (0.5, 0.95)]
            rows.append((scene.name, len(scene.seconds), scene.ms(0.5), scene.ms(0.95), *ratios))
        for share, limit in ((0.5, P50), (0.95, P95)):
            name = f"step while {busy.name}, p{share * 100:.0f}"
            measures.append(ratio_at_most(name, busy.ms(share), "ms", limit, quiet.ms(share)))
    headings = ("step to plan in hand while", "steps", "p50, ms", "p95, ms", "p50 / quiet", "p95 / quiet")
    sys.stdout.write(f"\n{table(headings, rows)}\n")
    return measures


@asynccontextmanager
async def _installation(model: Model) -> AsyncIterator[Bus]:
    """A whole installation whose historian asks this model, and a connection to it."""
    with TemporaryDirectory(prefix="annals-bench-", ignore_cleanup_errors=True) as folder:
        settings = Settings(data=Path(folder), logs=Logs(level="error"), model=model)
        async with Installation(settings).running() as running:
            bus = await connect(running)
            yield bus
            await bus.close()
