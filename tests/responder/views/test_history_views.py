"""The views over history: they say what the fold of the same facts says, and what a run has cost."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import reduce

import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from schemas.events import (
    CompartmentRescored,
    CompartmentSealed,
    Event,
    FactExtracted,
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryAttempted,
    HistoryFailed,
    HistoryReplaced,
    HistoryRequested,
    MessageRemoved,
    ObservationRecorded,
    SpendRefused,
    SpendReserved,
    SpendSettled,
)
from services.domain import compartments
from services.domain.compartments import CompartmentHistory
from services.responder.views.store import Store
from tests.helpers.examples import examples
from tests.helpers.view_facts import Given, close, happened, numbered, open_store, rows

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened = open_store()
    yield opened
    close(opened)


def sealed(first: int, last: int, *, generation: int = 0, name: str = "") -> CompartmentSealed:
    return CompartmentSealed(
        compartment=name or f"{generation}:{first}:{last}",
        run="r",
        generation=generation,
        first=first,
        last=last,
        first_message=f"m{first}",
        last_message=f"m{last}",
        title="What happened",
    )


REQUESTED = HistoryRequested(run="r", reason="force", first=1, last=9, tokens=5000)


# compartments


def test_a_compartment_says_what_it_was_sealed_with(store: Store) -> None:
    Given(store, sealed(1, 4)).view("compartments").is_(
        {"first": 1, "last": 4, "title": "What happened", "importance": 50, "seq": 1, "sealed_at": happened(1)}
    )


def test_a_score_is_laid_over_it(store: Store) -> None:
    Given(store, sealed(1, 4, name="a"), CompartmentRescored(compartment="a", importance=90)).view("compartments").is_(
        {"compartment": "a", "importance": 90}
    )


def test_what_is_sealed_anew_has_no_score_of_before(store: Store) -> None:
    again = sealed(1, 3, name="a")
    Given(store, sealed(1, 4, name="a"), CompartmentRescored(compartment="a", importance=90), again).view(
        "compartments"
    ).is_({"compartment": "a", "last": 3, "importance": 50})


def test_a_generation_that_is_not_whole_is_not_shown(store: Store) -> None:
    Given(store, sealed(1, 4), sealed(1, 3, generation=1)).view("compartments").is_({"generation": 0, "last": 4})


LIVES = st.lists(st.sampled_from(["seal", "seal", "seal", "revert", "rebuild", "abandon"]), max_size=12)


def lived(acts: list[str], numbers: list[int]) -> list[Event]:
    """What a historian may write: compartments behind what is compressed, and generations that begin at a bound."""
    events: list[Event] = []
    history = CompartmentHistory()

    def report(event: Event) -> None:
        nonlocal history
        events.append(event)
        history = compartments.evolve(history, event, len(events))

    newest = 0
    for act, number in zip(acts, numbers, strict=False):
        bounds = [one.first for one in history.sealed]
        if act == "seal":
            first = history.last + 1
            report(sealed(first, first + number, generation=history.generation, name=f"{len(events)}"))
        elif act == "revert":
            report(MessageRemoved(messages=[f"m{number}", f"m{number + 1}"], reason="reverted"))
        elif bounds:
            newest += 1
            start = bounds[number % len(bounds)]
            report(sealed(start, history.last, generation=newest, name=f"{len(events)}"))
            if act == "rebuild":
                report(HistoryReplaced(run="r", generation=newest, first=start, last=history.last))
            else:
                report(HistoryAbandoned(run="r", generation=newest, reason="it failed"))
    return events


@settings(max_examples=examples(60), deadline=None)
@given_any(LIVES, st.lists(st.integers(0, 6), min_size=12, max_size=12))
def test_the_view_holds_what_the_fold_holds(store: Store, acts: list[str], numbers: list[int]) -> None:
    events = lived(acts, numbers)
    history = reduce(
        lambda known, fact: compartments.evolve(known, fact[1], fact[0].seq), numbered(events), CompartmentHistory()
    )
    Given(store, *events)
    found = rows(store, 'select compartment from compartments order by "first"')
    assert [one.compartment for one in history.sealed] == [row["compartment"] for row in found]


# history_runs


def test_a_run_is_open_until_it_is_done(store: Store) -> None:
    first = HistoryAdvanced(
        run="r", generation=0, first=1, last=4, done=False, tokens_in=3000, tokens_out=500, left=2000
    )
    Given(store, REQUESTED).view("history_runs").is_({"status": "open", "tokens_left": 5000, "through": 0, "chunks": 0})
    Given(store, REQUESTED, first).view("history_runs").is_(
        {"status": "open", "tokens_left": 2000, "through": 4, "chunks": 1, "summary_tokens": 500}
    )
    second = HistoryAdvanced(run="r", generation=0, first=5, last=9, tokens_in=2000, tokens_out=300)
    Given(store, REQUESTED, first, second).view("history_runs").is_(
        {"status": "done", "tokens_left": 0, "through": 9, "compressed_tokens": 5000, "ended_at": happened(3)}
    )


def test_a_run_has_what_it_cost_and_why_it_failed(store: Store) -> None:
    at = datetime(2026, 1, 1, 1, tzinfo=UTC)
    Given(
        store,
        REQUESTED,
        HistoryAttempted(run="r", model="a/one", outcome="invalid", tokens_in=100, tokens_out=10, usd=0.5, seconds=2),
        HistoryAttempted(run="r", model="a/two", step="repair", tokens_in=200, tokens_out=20, usd=0.25, seconds=1),
        HistoryFailed(run="r", code="timeout", detail="it took too long", failures=1, retry_at=at),
    ).view("history_runs").is_(
        {
            "status": "failed",
            "code": "timeout",
            "attempts": 2,
            "failed_attempts": 1,
            "models": ["a/one", "a/two"],
            "tokens_in": 300,
            "tokens_out": 30,
            "usd": 0.75,
            "seconds": 3.0,
            "retry_at": at.replace(tzinfo=None),
        }
    )


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (HistoryReplaced(run="r", generation=1, first=1, last=9), "done"),
        (HistoryAbandoned(run="r", generation=1, reason="enough"), "abandoned"),
    ],
)
def test_a_rebuild_ends_when_it_takes_the_place_of_what_was_or_is_given_up(
    store: Store, end: Event, status: str
) -> None:
    Given(store, REQUESTED, end).view("history_runs").is_({"status": status})


# facts, observations


def test_a_fact_is_one_however_often_it_is_seen(store: Store) -> None:
    one = FactExtracted(fact="f", run="r", category="NAMING", text="tables are snake_case")
    other = FactExtracted(fact="f", run="q", category="NAMING", text="Tables are snake_case")
    Given(store, one, ("other", other)).view("facts").is_(
        {"fact": "f", "text": "tables are snake_case", "seen": 2, "sessions": ["other", "s"], "seq": 1}
    )


def test_an_observation_is_as_it_was_recorded(store: Store) -> None:
    Given(store, ObservationRecorded(run="r", kind="user_trait", text="asks for tests", first=2, last=3)).view(
        "observations"
    ).is_({"kind": "user_trait", "text": "asks for tests", "first": 2, "last": 3})


# spend


def test_a_reservation_counts_in_full_until_it_is_settled(store: Store) -> None:
    Given(
        store,
        SpendReserved(reservation="a", day="2026-01-01", purpose="historian", tokens=1000, usd=1.0),
        SpendReserved(reservation="b", day="2026-01-01", purpose="historian", tokens=1000, usd=1.0),
        SpendSettled(reservation="a", day="2026-01-01", tokens=300, usd=0.25),
        SpendRefused(
            reservation="c", day="2026-01-01", purpose="historian", tokens=9, usd=9.0, tokens_left=1, usd_left=0.5
        ),
    ).view("spend").is_(
        {
            "day": "2026-01-01",
            "purpose": "historian",
            "calls": 2,
            "tokens": 1300,
            "usd": 1.25,
            "unsettled": 1,
            "refusals": 1,
        }
    )
