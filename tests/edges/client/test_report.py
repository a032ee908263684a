"""What a replay adds up, and what it says of each rebase."""

from io import StringIO
from typing import Any

import msgspec
import pytest
from rich.console import Console

from schemas.inbox import SessionSeen
from schemas.subjects import Address
from services.edges.client.player import Played, PlayedSession
from services.edges.client.provider import ReceivedCall
from services.edges.client.recall import CallRecall
from services.edges.client.report import Report, lines, report, table
from services.edges.client.transcript import Transcript

RECALL = CallRecall(names=4, found=3, missing=frozenset({"a.py"}), edits=2, based=1, misses=1, units=50.0)


def call(tokens: int, cached: int, raw: int, *causes: str, warm: bool = True, **changes: Any) -> Played:  # noqa: ANN401 - any field
    received = ReceivedCall(1, 4 * tokens, 1, 4 * cached, bool(causes), cached, tokens, warm, limit=100_000)
    made = Played("s", 1, "rebase" if causes else "extend", causes, 0, received, raw, tokens, 0.01, "ready", RECALL)
    return msgspec.structs.replace(made, **changes)


def reported(*steps: Played) -> Report:
    return report([PlayedSession(Address("p", "s1"), Transcript("pi", "s1", SessionSeen(), ()), steps, 0, 0)])


def test_a_cached_token_costs_a_tenth_a_new_one_a_quarter_more_and_one_aside_its_price() -> None:
    made = reported(call(1000, 0, 1000), call(1200, 1000, 1200, aside=300))
    assert 1250 + (100 + 250) + 300 == made.cost_units_raw
    assert made.cost_units_raw + 2 * 50 == made.cost_units
    assert (2, 0.75, 0.5) == (made.misses, made.seen, made.basis)
    assert (2, 4) == (made.based, made.file_edits)


@pytest.mark.parametrize(("edits", "expected"), [(2, "50.0%  (1 of 2)"), (0, "none was made")])
def test_the_table_says_of_how_many_edits(edits: int, expected: str) -> None:
    recall = msgspec.structs.replace(RECALL, edits=edits, based=min(edits, 1))
    console = Console(file=StringIO(), width=120)
    table(reported(call(1000, 0, 1000, recall=recall)), console)
    (row,) = [line for line in console.file.getvalue().splitlines() if "edits whose old text" in line]  # type: ignore[attr-defined] # it is the one given
    assert expected in row


def test_refused_requests_and_failed_calls_are_counted() -> None:
    made = reported(call(1000, 0, 1000, refused=1), call(200_000, 0, 200_000, refused=3))
    assert (4, 1) == (made.refused, made.failed)


def test_a_rebase_is_weighed_by_the_calls_that_came() -> None:
    rebase = call(5000, 1000, 10_100, "pressure")
    rest = [call(5000 + 100 * n, 4900 + 100 * n, 10_100 + 100 * n) for n in range(1, 60)]
    long = reported(call(10_000, 10_000, 10_000), rebase, *rest)
    short = reported(call(10_000, 10_000, 10_000), rebase, *rest[:3])
    rewritten, saved = 3900, 5100
    assert long.rebases[0].net == 0.1 * saved * 60 - 1.15 * rewritten
    assert short.rebases[0].net == 0.1 * saved * 4 - 1.15 * rewritten
    assert (0, 1) == (long.rebases_at_a_loss, short.rebases_at_a_loss)


def test_a_rebase_of_a_dead_cache_rewrites_nothing_that_would_have_lived() -> None:
    made = reported(call(10_000, 10_000, 10_000), call(5000, 0, 10_000, "idle", warm=False))
    assert 1.25 * 5000 == made.rebases[0].net


def test_a_line_names_what_was_missing() -> None:
    session = PlayedSession(Address("p", "s1"), Transcript("pi", "s1", SessionSeen(), ()), (call(1000, 0, 1000),), 0, 0)
    (line,) = lines([session])
    assert (1250.0, ("a.py",), 1, 50.0) == (line.cost_units, line.missing, line.misses, line.miss_units)
