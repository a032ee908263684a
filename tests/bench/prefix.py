"""Prefix changes without a rebase over all recorded sessions that can be found."""

from collections.abc import Sequence

from services.edges.client.readers import read
from services.edges.client.replay import ReplayOptions
from services.edges.client.report import report
from services.edges.client.transcript import Transcript
from tests.bench.installations import installation
from tests.bench.measure import Measure, at_most
from tests.helpers.installation import play_all, recorded
from tests.helpers.recordings import foreign_files


async def measure() -> list[Measure]:
    transcripts = recordings()
    async with installation() as (_, bus):
        made = report(await play_all(bus, transcripts, ReplayOptions(paths=(), at_once=8)))
    name = f"unexplained prefix changes, {made.sessions} sessions, {made.steps} calls"
    return [at_most(name, made.unexplained_prefix_changes, "", 0)]


def recordings() -> Sequence[Transcript]:
    """The sessions that come along with the tests, and foreign ones where their folder is named."""
    neutral = foreign_files("transcripts/neutral/*.jsonl.gz")
    return [*recorded("openai", "anthropic"), *(one for path in neutral for one in read(path) if len(one.messages) > 1)]
