"""The view over changes of documents that were proposed."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from schemas.events import DocsApplied, DocsDismissed, DocsProposed, Event
from services.responder.views.store import Store
from tests.helpers.examples import examples
from tests.helpers.proposed_docs import ARCHITECTURE, NEW, OLD, known, name, propose, proposed
from tests.helpers.view_facts import Given, Row, close, commit, empty, happened, numbered, open_store, rows, sorted_rows

pytestmark = pytest.mark.slow

VIEW = "document_proposals"
STRUCTURE = "STRUCTURE.md"
ONE, OTHER, THIRD = propose(), propose(new=f"{OLD}More.\n"), propose(path=STRUCTURE)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened = open_store()
    yield opened
    close(opened)


def test_each_proposal_is_listed_with_what_became_of_it(store: Store) -> None:
    Given(
        store,
        proposed(ONE),
        proposed(OTHER),
        proposed(THIRD),
        DocsApplied(path=ARCHITECTURE, proposal=name(OTHER)),
        proposed(ONE),
        DocsDismissed(path=STRUCTURE, proposal=name(THIRD)),
    ).view(VIEW).is_(
        of(ONE, "replaced", 1, None, 1),
        of(OTHER, "applied", 2, 4, 4),
        of(THIRD, "dismissed", 3, 6, 6),
        of(ONE, "pending", 5, None, 5),
    )


def of(command: object, status: str, at: int, decided: int | None, seq: int) -> Row:
    made = next(one for one in (ONE, OTHER, THIRD) if one is command)
    return {
        "project": "p",
        "path": made.path,
        "proposal": name(made),
        "status": status,
        "changes": 1,
        "reason": made.reason,
        "digest": made.digest,
        "old": [OLD],
        "new": made.new,
        "proposed_at": happened(at),
        "decided_at": happened(decided) if decided else None,
        "seq": seq,
    }


def test_a_proposal_is_listed_as_it_was_at_a_position(store: Store) -> None:
    given = Given(store, proposed(ONE), proposed(OTHER), DocsDismissed(path=ARCHITECTURE, proposal=name(OTHER)))
    for position, statuses in (
        (0, ()),
        (1, ("pending",)),
        (2, ("pending", "replaced")),
        (3, ("dismissed", "replaced")),
    ):
        given.view(VIEW, position).is_(*({"status": status} for status in statuses))


COMMANDS = (ONE, OTHER, THIRD)
EVENTS: Sequence[Event] = [
    event
    for one in COMMANDS
    for event in (
        proposed(one),
        DocsApplied(path=one.path, proposal=name(one)),
        DocsDismissed(path=one.path, proposal=name(one)),
    )
]


@settings(max_examples=examples(20), deadline=None)
@given_any(
    events=st.lists(st.sampled_from(EVENTS), max_size=20),
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    again=st.integers(0, 4),
)
def test_a_view_that_has_grown_with_facts_delivered_twice_is_one_that_was_rebuilt_and_says_what_the_desk_knows(
    store: Store, events: list[Event], sizes: list[int], again: int
) -> None:
    facts = numbered(events)
    empty(store)
    start = 0
    while start < len(facts):
        end = start + sizes[start % len(sizes)]
        commit(store, facts[max(0, start - again) : end])
        start = end
    grown = sorted_rows(rows(store, f"select * from {VIEW}"))
    empty(store)
    if facts:
        commit(store, facts)
    assert sorted_rows(rows(store, f"select * from {VIEW}")) == grown
    newest = {row["path"]: row for row in sorted(grown, key=lambda row: str(row["proposed_at"]))}
    assert {path: (one.name, one.status) for path, one in known(*events).known.items()} == {
        path: (row["proposal"], row["status"]) for path, row in newest.items()
    }
    assert {one.seq for one in known(*events).known.values()} == {row["seq"] for row in newest.values()}


def test_a_text_of_a_proposal_is_one_that_a_person_may_read_in_the_view(store: Store) -> None:
    fact = DocsProposed(path=ARCHITECTURE, proposal="a", digest="b", old=["`a'\"\n", "\u202e"], new=[NEW, ""])
    Given(store, fact).view(VIEW).is_({"old": fact.old, "new": fact.new, "changes": 2, "status": "pending"})
