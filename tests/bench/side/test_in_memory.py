"""Recorded sessions in memory: what the bench plays there is what rooms decide, each time the same."""

from msgspec.structs import replace

from services.edges.client.player import PlayedSession
from services.edges.client.report import report
from tests.bench.side.arms import ARMS
from tests.bench.side.recordings import shipped
from tests.bench.side.replayed import played

WINDOW = 20_000
"""Small enough for rebases in what comes along."""


MESSAGES = 80


def of(arm: str) -> PlayedSession:
    longest = shipped()[0]
    return played(replace(longest, messages=longest.messages[:MESSAGES]), WINDOW, ARMS[arm])


def test_a_session_in_memory_is_made_smaller_by_rebases_and_nothing_is_refused() -> None:
    made = report([of("annals")])
    assert (0, 0, 0) == (made.refused, made.failed, made.unexplained_prefix_changes)
    assert made.rebases
    assert made.largest_prompt <= WINDOW


def test_the_same_session_costs_the_same_each_time() -> None:
    first, again = of("annals"), of("annals")
    assert [one.received for one in first.steps] == [one.received for one in again.steps]


def test_a_wider_knob_keeps_more_in_sight() -> None:
    lean, full = report([of("lean")]), report([of("full")])
    assert lean.prompt_tokens < full.prompt_tokens


def test_without_annals_the_harness_compacts_alone() -> None:
    made = report([of("alone")])
    assert made.aside_tokens
    assert {one.cause for one in made.rebases} == {"compaction"}
