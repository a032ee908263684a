"""What of recorded sessions is in sight when they are compressed, and whether the rest is a look-up away."""

import sys
from collections.abc import Iterator, Sequence

from pydantic import SecretStr

from services.domain.retention import retention
from services.edges.client.readers import read
from services.edges.client.transcript import Transcript
from services.settings import Limits, Model, ProviderSettings
from tests.bench.carried import carried
from tests.bench.compressing import SHOP, SHORT_TAIL, WINDOW, compressed, usual_tail
from tests.bench.condensing import Condensing
from tests.bench.measure import Measure, at_least
from tests.bench.prefix import recordings
from tests.bench.results import keep
from tests.bench.seen import Row, by_session, by_tier, rows, summed
from tests.harness.provider import Provider as Server
from tests.helpers.model_questions import KEY

LONG = 100
"""Messages above which a session is worth it."""
USUAL = retention(WINDOW, Limits().context).history
"""Tokens that history may take by default ..."""
TIGHT = 4_000
"""... and of a small one."""
RULES, SCRIPTED = "rules", "scripted"
IN_SIGHT = {USUAL: 90, TIGHT: 75}
"""Per cent that the rules must keep in sight."""
UNBOUNDED = 10**9
CAPTION = """
All but the newest {tail:,} tokens of each session are compressed{short}.
`{scripted}` is no model: it answers over HTTP as one would, with the beginnings of the lines that it was sent. It shows
that this way works, not what a model writes; names are found by rules for both. A file is in sight by its name, a
commit by seven of its characters, and a constraint, which is a sentence of a person that the rules take for one, by
every word. A look-up shows the transcript of a span that the history names, or a message in it. Sizes are estimated
tokens.
"""


async def measure() -> list[Measure]:
    every: list[Row] = []
    async with Server(Condensing()) as server:
        models = {RULES: Model(), SCRIPTED: scripted(server.url)}
        for transcript in _sessions():
            for writer, model in models.items():
                every += rows(transcript, writer, await compressed(transcript, model), (USUAL, TIGHT))
    groups = dict.fromkeys((row.writer, row.budget) for row in every)
    sums = [summed([row for row in every if (row.writer, row.budget) == group]) for group in groups]
    sys.stdout.write("\n".join(_report(every, sums)) + "\n")
    return [*(measure for row in sums for measure in _measures(row)), *await carried()]


def scripted(url: str) -> Model:
    """A stand-in for a model at this address, which may cost what it will."""
    provider = ProviderSettings(url=f"{url}/v1", key=SecretStr(KEY))
    return Model(chain=("own/clerk",), providers={"own": provider}, daily_tokens=UNBOUNDED)


def _sessions() -> Iterator[Transcript]:
    return (one for one in (*recordings(), *read(SHOP)) if len(one.messages) > LONG)


def _report(every: Sequence[Row], sums: Sequence[Row]) -> Iterator[str]:
    shorter = ", ".join(dict.fromkeys(row.session for row in every if row.short))
    short = f", and of {shorter}, which are shorter than that, all but {SHORT_TAIL:.0%}" if shorter else ""
    yield CAPTION.format(tail=usual_tail(), short=short, scripted=SCRIPTED)
    yield by_session((*every, *sums))
    yield ""
    yield by_tier(row for row in sums if row.budget == USUAL)
    yield ""
    yield from (f"Lost: {text}" for text in dict.fromkeys(text for row in sums for text in row.lost))
    yield f"The same as JSON lines: {keep('history', (*every, *sums))}"


def _measures(row: Row) -> Iterator[Measure]:
    where = f"{row.writer}, {row.budget:,} tokens"
    yield at_least(f"in sight or one look-up away, {where}", row.within_reach, "%", 100)
    if row.writer == RULES:
        yield at_least(f"in sight, {where}", row.in_sight, "%", IN_SIGHT[row.budget])
