"""What rebases cost and saved over all recorded sessions that can be found, played in memory by all lanes."""

import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from schemas.inbox import UsageSeen
from services.edges.client.readers import read
from services.edges.client.transcript import Transcript, UnreadableTranscript
from tests.bench.measure import Measure, at_least, at_most
from tests.bench.prefix import recordings
from tests.helpers.measured_rebases import Rebase
from tests.helpers.playing import Played, play
from tests.helpers.recordings import LONG, foreign_files

WINDOWS = (128_000, 200_000)
"""What models take. A model of 128,000 that keeps a quarter free for its answer is nearer to overflow than these."""
MOST_CUT_SHORT = 0.25
"""Of the rebases by choice: a session may end, or be changed by its harness, before a rebase has paid for itself."""
PLANNED = 0.95
"""Share of the tokens rewritten that a plan must have named: estimates of parts are rounded."""
CAUSES = {"unlisted": "removal", "deleted": "removal", "reverted": "removal", "compacted": "native"}
HEADINGS = (
    "session", "window", "agent", "calls", "refused", "rebases by cause", "reclaimed", "rewritten",
    "break-even", "followed", "net loss", "cut short",
)  # fmt: skip


class Run(msgspec.Struct, frozen=True):
    """One session, played with one model and by one agent."""

    window: int
    agent: str
    played: Played

    @property
    def by_choice(self) -> list[Rebase]:
        return [rebase for rebase in self.played.rebases if rebase.is_by_choice]


async def measure() -> list[Measure]:
    runs = [
        Run(window, agent, play(transcript, window, tidy=agent == "tidy"))
        for window in WINDOWS
        for agent in ("tidy", "careless")
        for transcript in _sessions()
    ]
    sys.stdout.write("\n".join(_table(runs)) + "\n")
    made = [rebase for run in runs for rebase in run.played.rebases]
    by_choice = [rebase for rebase in made if rebase.is_by_choice]
    calls = sum(run.played.calls for run in runs)
    cut_short = sum(rebase.is_cut_short for rebase in by_choice)
    underestimated = sum(rebase.planned < PLANNED * rebase.rewritten for rebase in made)
    return [
        at_most(
            f"rebases at a net loss, of {len(by_choice)} by choice in {calls} calls",
            sum(rebase.is_net_loss for rebase in by_choice), "", 0,
        ),
        at_most("rebases by choice that the end cut short", cut_short / max(1, len(by_choice)), "", MOST_CUT_SHORT),
        at_least("saved by all rebases by choice, less what they cost", sum(one.net for one in by_choice), "tokens", 0),
        at_most(f"rebases of {len(made)} that say less than they rewrite", underestimated, "", 0),
        at_most("unexplained prefix changes in memory", sum(run.played.unexplained for run in runs), "", 0),
        at_most("faults of lanes", sum(len(run.played.faults) for run in runs), "", 0),
    ]  # fmt: skip


def _sessions() -> Iterator[Transcript]:
    """With the counts of the provider where the recording of the harness itself has them."""
    for transcript in chain(recordings(), *map(read, foreign_files(LONG))):
        usage = transcript.usage or _counted(transcript.session)
        yield msgspec.structs.replace(transcript, usage=usage)


def _counted(session: str) -> Mapping[str, UsageSeen]:
    found: dict[str, UsageSeen] = {}
    for path in foreign_files(f"transcripts/raw/*__{session}.*"):
        try:
            for transcript in read(path):
                found |= transcript.usage
        except UnreadableTranscript:
            continue
    return found


def _table(runs: Sequence[Run]) -> Iterator[str]:
    """Markdown: a row for each session that was rebased, one for the others, and the sums."""
    yield f"| {' | '.join(HEADINGS)} |"
    yield f"|{'---|' * len(HEADINGS)}"
    for run in runs:
        if run.played.rebases:
            yield _row(run.played.session[:20], f"{run.window:,}", run.agent, [run])
    others = [run for run in runs if not run.played.rebases]
    yield _row(f"{len(others)} without a rebase", "", "", others)
    yield _row("**all**", "", "", runs)


def _row(name: str, window: str, agent: str, runs: Sequence[Run]) -> str:
    made = [rebase for run in runs for rebase in run.played.rebases]
    by_choice = [rebase for run in runs for rebase in run.by_choice]
    cells = (
        name, window, agent,
        f"{sum(run.played.calls for run in runs):,}",
        f"{sum(run.played.refused for run in runs):,}",
        _causes(made),
        f"{sum(rebase.reclaimed for rebase in made):,}",
        f"{sum(rebase.rewritten for rebase in made):,}",
        _values([rebase.break_even for rebase in by_choice]),
        _values([rebase.followed for rebase in by_choice]),
        f"{sum(rebase.is_net_loss for rebase in by_choice)}",
        f"{sum(rebase.is_cut_short for rebase in by_choice)}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _causes(made: Sequence[Rebase]) -> str:
    """How often each cause was named: one rebase may have several."""
    counts = Counter(
        cause for rebase in made for cause in {CAUSES.get(name, name): None for name in rebase.causes.names}
    )
    return ", ".join(f"{cause} {count}" for cause, count in counts.most_common()) or "none"


def _values(found: Sequence[float]) -> str:
    """Of the rebases by choice: each, or the middle of many."""
    if len(found) > len(HEADINGS):
        return f"median {statistics.median(found):.1f}"
    return ", ".join(f"{value:.3g}" for value in found)
