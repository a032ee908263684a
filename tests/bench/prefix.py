"""Prefix changes without a rebase over all recorded sessions that can be found."""

from collections.abc import Sequence

from services.client.readers import read
from services.client.replay import Options
from services.client.report import report
from services.client.transcript import Transcript
from tests.bench.houses import house
from tests.bench.measure import Measure, at_most
from tests.house.support import DATA, play_all, recorded


async def measure() -> list[Measure]:
    transcripts = recordings()
    async with house() as (_, bus):
        made = report(await play_all(bus, transcripts, Options(paths=(), at_once=8)))
    name = f"unexplained prefix changes, {made.sessions} sessions, {made.steps} calls"
    return [at_most(name, made.unexplained_prefix_changes, "", 0)]


def recordings() -> Sequence[Transcript]:
    """The sessions that come along with the tests, and those beside the project where they are there."""
    neutral = sorted((DATA / "transcripts" / "neutral").glob("*.jsonl.gz"))
    return [*recorded("openai", "anthropic"), *(one for path in neutral for one in read(path) if len(one.messages) > 1)]
