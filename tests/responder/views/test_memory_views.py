"""The views of a project's memory: they say what the book says that is folded from the same facts."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import reduce

import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from schemas.events import (
    Event,
    MemoryArchived,
    MemoryDivided,
    MemoryExpired,
    MemoryJudged,
    MemoryMerged,
    MemoryPinned,
    MemoryProposed,
    MemoryQuarantined,
    MemoryReinforced,
    MemoryReleased,
    MemoryRestored,
    MemoryRetrieved,
    MemoryRevised,
    MemoryVerified,
    MemoryWritten,
    NoteDismissed,
    NoteParked,
    NoteReadied,
    NoteUpdated,
    NoteWritten,
)
from services.memory.book import Book, evolve
from services.memory.classes import placed
from services.memory.entry import Memory
from services.responder.views.store import Store
from tests.helpers.examples import examples
from tests.helpers.view_facts import (
    START,
    Given,
    Row,
    close,
    commit,
    empty,
    happened,
    numbered,
    open_store,
    rows,
    sorted_rows,
)  # fmt: skip

pytestmark = pytest.mark.slow

LATER = START + timedelta(days=90)
OLDER = (
    "USER_DIRECTIVES", "USER_PREFERENCES", "ARCHITECTURE_DECISIONS", "WORKFLOW_RULES", "CONFIG_DEFAULTS",
    "ENVIRONMENT", "KNOWN_ISSUES",
)  # fmt: skip
CATEGORIES = ("PROJECT_RULES", "ARCHITECTURE", "CONSTRAINTS", "CONFIG_VALUES", "NAMING", *OLDER, "OTHER")


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened = open_store()
    yield opened
    close(opened)


def book_of(events: Sequence[Event]) -> Book:
    """The book after these facts, at the positions that the views have them at."""
    return reduce(lambda book, fact: evolve(book, fact[1], fact[0]), numbered(events), Book())


def as_row(memory: Memory) -> Row:
    """A memory of the book, as the view lists it."""
    return {
        "memory": memory.id,
        "category": memory.category,
        "class": memory.memory_class,
        "text": memory.text,
        "status": memory.status,
        "importance": memory.importance,
        "pinned": memory.is_pinned,
        "trust": memory.trust,
        "verification": memory.verification,
        "expires_at": plain(memory.expires_at),
        "seen": memory.seen,
        "renewals": memory.reinforced,
        "revision": memory.revision,
        "created_at": plain(memory.created),
        "fades_since": plain(memory.clock),
        "superseded_by": memory.superseded_by,
        "seq": memory.seq,
    }


def plain(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC).replace(tzinfo=None) if moment else None


def by_name(found: list[Row], key: str) -> list[Row]:
    return sorted(found, key=lambda row: str(row[key]))


def viewed(store: Store, name: str) -> list[Row]:
    return [{key: value for key, value in row.items() if key != "project"} for row in rows(store, f"from {name}")]


def names(letters: str) -> st.SearchStrategy[str]:
    return st.sampled_from(letters)


def several(letters: str) -> st.SearchStrategy[list[str]]:
    return st.lists(names(letters), min_size=1, max_size=3, unique=True)


NAMES = "abcd"
WORDS = {
    "category": st.sampled_from(["NAMING", "PROJECT_RULES"]),
    "text": names("xyz"),
    "origin": names("st"),
    "memory_class": st.sampled_from(["", "project", "nothing"]),
}
IMPORTANCE = st.sampled_from(["low", "normal", "high"])
TRUST = st.sampled_from(["", "person", "agent"])
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(MemoryProposed, memory=names(NAMES), trust=TRUST, importance=IMPORTANCE, **WORDS),
    st.builds(
        MemoryWritten, memory=names(NAMES), trust=TRUST, importance=IMPORTANCE, source=names("uv") | st.just(""),
        supersedes=st.just([]) | several(NAMES), expires_at=st.none() | st.just(LATER), **WORDS,
    ),
    st.builds(MemoryRevised, memory=names(NAMES), trust=TRUST, importance=IMPORTANCE, **WORDS),
    st.builds(MemoryMerged, memory=names(NAMES), sources=several(NAMES), trust=TRUST, **WORDS),
    st.builds(
        MemoryDivided, memory=names(NAMES), parts=several(NAMES), texts=st.lists(names("xyz"), min_size=1, max_size=3),
        trust=TRUST, importance=IMPORTANCE, category=WORDS["category"], memory_class=WORDS["memory_class"],
        expires_at=st.none() | st.just(LATER),
    ),
    st.builds(
        MemoryReinforced, memory=names(NAMES), origin=names("st"),
        effect=st.sampled_from(["", "increment", "refresh_only", "blocked"]),
    ),
    st.builds(MemoryArchived, memory=names(NAMES), is_rejected=st.booleans()),
    st.builds(MemoryRestored, memory=names(NAMES)),
    st.builds(MemoryPinned, memory=names(NAMES), is_pinned=st.booleans()),
    st.builds(MemoryVerified, memory=names(NAMES), verification=st.sampled_from(["verified", "stale"])),
    st.builds(MemoryExpired, memories=several(NAMES), at=st.just(LATER)),
    st.builds(MemoryJudged, candidate=names("kl"), verdict=st.sampled_from(["accepted", "held"]), memory=names(NAMES)),
    st.builds(NoteWritten, note=names("no"), text=names("xyz"), origin=names("st"), condition=names("vw")),
    st.builds(NoteUpdated, note=names("no"), text=names("xyz"), condition=names("vw")),
    st.builds(NoteReadied, note=names("no")),
    st.builds(NoteParked, note=names("no"), code=st.just("off")),
    st.builds(NoteDismissed, note=names("no")),
)  # fmt: skip
LOGS = st.lists(EVENTS, min_size=4, max_size=40)
bounded = settings(max_examples=examples(30), deadline=None)


@bounded
@given_any(events=LOGS)
def test_the_views_say_what_the_book_says(store: Store, events: list[Event]) -> None:
    Given(store, *events)
    book = book_of(events)
    assert by_name([as_row(one) for one in book.memories.values()], "memory") == by_name(
        viewed(store, "memories"), "memory"
    )
    assert sources_of(book) == {
        (row["memory"], row["actor"], row["session"], row["seq"]) for row in viewed(store, "memory_sources")
    }
    assert by_name([judged(name, book) for name in book.candidates], "candidate") == by_name(
        [
            {key: row[key] for key in ("candidate", "verdict", "memory", "seq")}
            for row in viewed(store, "memory_decisions")
        ],
        "candidate",
    )
    assert by_name([noted(name, book) for name in book.notes], "note") == by_name(
        [{key: row[key] for key in row if key != "message"} for row in viewed(store, "notes")], "note"
    )


def sources_of(book: Book) -> set[tuple[object, ...]]:
    return {
        (memory.id, source.actor, source.session, source.seq)
        for memory in book.memories.values()
        for source in memory.sources
    }


def judged(name: str, book: Book) -> Row:
    found = book.candidates[name]
    return {"candidate": name, "verdict": found.verdict, "memory": found.memory, "seq": found.seq}


def noted(name: str, book: Book) -> Row:
    note = book.notes[name]
    return {
        "note": name,
        "text": note.text,
        "session": note.session,
        "condition": note.condition,
        "status": note.status,
        "changed_at": plain(note.changed),
        "seq": note.seq,
    }


@bounded
@given_any(events=LOGS, taken=several(NAMES), meanwhile=several("efgh"), after=LOGS)
def test_a_quarantine_and_its_end_leave_the_views_as_the_book_is(
    store: Store, events: list[Event], taken: list[str], meanwhile: list[str], after: list[Event]
) -> None:
    """What it takes back holds; what a member of it has superseded holds again, and others go on meanwhile."""
    before = book_of(events)
    members = [name for name in taken if name in before.memories and before.memories[name].is_active]
    restored = [
        memory.id
        for memory in before.memories.values()
        if memory.status == "superseded" and memory.superseded_by in members and memory.id not in members
    ]
    both = {"kind": "session", "value": "s", "memories": members, "restored": restored}
    others = [MemoryWritten(memory=name, category="NAMING", text=name) for name in meanwhile]
    for facts in (
        [*events, MemoryQuarantined(**both)],
        [*events, MemoryQuarantined(**both), *others, MemoryReleased(**both)],
        [*events, MemoryQuarantined(**both), *others, MemoryReleased(**both), *after],
    ):
        Given(store, *facts)
        book = book_of(facts)
        assert by_name([as_row(one) for one in book.memories.values()], "memory") == by_name(
            viewed(store, "memories"), "memory"
        )


def test_of_two_released_together_the_last_has_superseded_what_both_did(store: Store) -> None:
    first = MemoryWritten(memory="a", category="NAMING", text="x")
    both = {"kind": "session", "value": "s", "memories": ["b", "c"], "restored": ["a"]}
    later = [MemoryWritten(memory=name, category="NAMING", text=name, supersedes=["a"]) for name in "bc"]
    facts = [first, *later, MemoryQuarantined(**both), MemoryReleased(**both)]

    Given(store, *facts)

    assert ["c", "", ""] == [row["superseded_by"] for row in by_name(viewed(store, "memories"), "memory")]
    assert "c" == book_of(facts).memories["a"].superseded_by


MEMORY_VIEWS = ("memories", "memory_sources", "memory_parts", "memory_lineage", "memory_decisions", "notes")


def rows_of_views(store: Store, as_of: int | None = None) -> dict[str, list[Row]]:
    """All rows of these views, now or as of a position."""
    at = {name: name if as_of is None else f"{name}_at({as_of})" for name in MEMORY_VIEWS}
    return {name: sorted_rows(rows(store, f"from {at[name]}")) for name in MEMORY_VIEWS}


@bounded
@given_any(events=LOGS, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5), again=st.integers(0, 9))
def test_rebuilt_grown_in_batches_and_delivered_twice_are_the_same(
    store: Store, events: list[Event], sizes: list[int], again: int
) -> None:
    facts = numbered(events)
    Given(store, *events)
    expected = rows_of_views(store)
    empty(store)
    start = 0
    while start < len(facts):
        end = start + sizes[start % len(sizes)]
        commit(store, facts[max(0, start - again) : end])
        start = end
    assert expected == rows_of_views(store)


@bounded
@given_any(events=LOGS, share=st.integers(0, 100))
def test_a_view_as_of_a_position_says_what_it_did_then(store: Store, events: list[Event], share: int) -> None:
    at = len(events) * share // 100
    Given(store, *events[:at])
    then = rows_of_views(store)
    Given(store, *events)
    assert then == rows_of_views(store, as_of=at)


@pytest.mark.parametrize(
    "last",
    [
        MemoryMerged(memory="a", sources=["b"], category="NAMING", text="x and y"),
        MemoryDivided(memory="b", parts=["c"], texts=["z"], category="NAMING"),
    ],
)
def test_as_of_the_position_of_a_change_its_parts_end_there(store: Store, last: Event) -> None:
    Given(store, *(MemoryWritten(memory=name, category="NAMING", text=name) for name in "ab"), last)
    assert 3 in [row["until"] for row in rows(store, "from memory_lineage_at(3)")]
    assert rows_of_views(store) == rows_of_views(store, as_of=3)


def test_a_memory_of_every_category_has_the_class_that_the_rules_give_it(store: Store) -> None:
    Given(store, *(MemoryWritten(memory=category, category=category, text="x") for category in CATEGORIES))
    expected = {name: found.memory_class if (found := placed(name)) else "project" for name in CATEGORIES}
    assert expected == {row["memory"]: row["class"] for row in viewed(store, "memories")}


def test_a_memory_is_listed_with_where_it_was_seen(store: Store) -> None:
    written = MemoryWritten(
        memory="a", category="NAMING", text="x", origin="s1", message="m4", run="r", evidence=[4], source="ada"
    )
    Given(store, written, MemoryReinforced(memory="a", origin="s2", message="m9", evidence=[9])).view(
        "memory_sources"
    ).is_(
        {"memory": "a", "actor": "ada", "session": "s1", "message": "m4", "run": "r", "evidence": [4], "seq": 1},
        {"memory": "a", "actor": "a", "session": "s2", "message": "m9", "run": "", "evidence": [9], "seq": 2},
    )


def test_of_a_candidate_the_last_judgement_is_listed(store: Store) -> None:
    Given(
        store,
        MemoryJudged(candidate="k", verdict="retrying", reasons=["refused"], attempt=1),
        MemoryJudged(candidate="k", verdict="exhausted", reasons=["refused"], attempt=3, gate="1", trust="agent"),
    ).view("memory_decisions").is_(
        {"candidate": "k", "verdict": "exhausted", "reasons": ["refused"], "attempt": 3, "gate": "1", "seq": 2}
    )


def test_it_is_counted_how_often_searches_have_shown_a_memory(store: Store) -> None:
    given = Given(
        store,
        MemoryRetrieved(memories=["a", "b"], origin="s1"),
        MemoryRetrieved(memories=["a"], origin="s1"),
        MemoryRetrieved(memories=["a"], origin="s2"),
    )
    given.view("memory_retrievals").is_(
        {"memory": "a", "retrieved": 3, "sessions": 2, "retrieved_at": happened(3), "seq": 3},
        {"memory": "b", "retrieved": 1, "sessions": 1, "retrieved_at": happened(1), "seq": 1},
    )
    given.view("memory_retrievals", as_of=2).is_(
        {"memory": "a", "retrieved": 2, "sessions": 1}, {"memory": "b", "retrieved": 1, "sessions": 1}
    )


def test_a_memory_as_of_a_position_is_as_it_was(store: Store) -> None:
    given = Given(
        store, MemoryWritten(memory="a", category="NAMING", text="x"), MemoryArchived(memory="a", reason="wrong")
    )
    given.view("memories", as_of=1).is_({"memory": "a", "status": "active", "seq": 1})
    given.view("memories").is_({"memory": "a", "status": "archived", "seq": 2, "created_at": happened(1)})
