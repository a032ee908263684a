from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from schemas.events import (
    Event,
    MemoryArchived,
    MemoryDivided,
    MemoryExpired,
    MemoryMerged,
    MemoryPinned,
    MemoryProposed,
    MemoryQuarantined,
    MemoryReinforced,
    MemoryReleased,
    MemoryRestored,
    MemoryRevised,
    MemoryVerified,
    MemoryWritten,
    NoteDismissed,
    NoteParked,
    NoteReadied,
    NoteUpdated,
    NoteWritten,
    SessionIdled,
)
from services.memory.remembered import LENGTH, MemoryChange, Remembered, evolve
from tests.helpers.given import AT, envelope

RULE = "Only the desk writes memories."


def written(name: str, text: str = RULE, *, origin: str = "s", supersedes: tuple[str, ...] = ()) -> MemoryWritten:
    return MemoryWritten(
        memory=name, category="CONSTRAINTS", text=text, trust="agent", origin=origin, supersedes=list(supersedes)
    )


def revised(name: str, text: str) -> MemoryRevised:
    return MemoryRevised(memory=name, category="CONSTRAINTS", text=text, origin="t")


def remembered(*events: Event, first: int = 1, before: Remembered | None = None) -> Remembered:
    """These facts at the positions from `first` on."""
    facts = enumerate(events, first)
    return reduce(lambda now, fact: evolve(now, fact[1], envelope(fact[1], fact[0])), facts, before or Remembered())


def notices(found: Remembered, since: int = 0) -> list[tuple[int, str, str]]:
    return [(change.seq, change.memory, change.kind) for change in found.since(since)]


def test_what_begins_to_hold_says_something_else_or_holds_no_longer_is_a_change() -> None:
    found = remembered(
        written("a"), revised("a", "Only the desk."), MemoryArchived(memory="a"), MemoryRestored(memory="a")
    )
    assert [(1, "a", "added"), (2, "a", "revised"), (3, "a", "gone"), (4, "a", "added")] == notices(found)
    assert [(3, "a", "gone"), (4, "a", "added")] == notices(found, since=2)
    assert [] == notices(found, since=4)


def test_what_nobody_is_shown_is_none() -> None:
    proposed = MemoryProposed(memory="p", category="NAMING", text="snake_case")
    found = remembered(
        written("a"),
        proposed,
        MemoryPinned(memory="a"),
        MemoryReinforced(memory="a", effect="increment"),
        revised("a", RULE),
        NoteWritten(note="n", text="later"),
        SessionIdled(),
        MemoryArchived(memory="p", is_rejected=True),
        MemoryArchived(memory="unknown"),
    )
    assert [(1, "a", "added")] == notices(found)
    assert (8, "rejected") == (found.book.seq, found.book.memories["p"].status)


def test_a_change_names_the_session_that_it_came_from() -> None:
    found = remembered(written("a", origin="s1"), written("b", origin="s2", supersedes=("a",)))
    assert (
        MemoryChange(1, "a", "added", "s1"),
        MemoryChange(2, "b", "added", "s2"),
        MemoryChange(2, "a", "gone", "s2", before=1),
    ) == found.since(0)
    assert {"a": 2, "b": 2} == {**found.newest}


def test_a_merge_changes_the_words_of_one_and_ends_the_others() -> None:
    merged = MemoryMerged(memory="a", sources=["a", "b"], category="CONSTRAINTS", text="Both in one.")
    assert [(3, "a", "revised"), (3, "b", "gone")] == notices(remembered(written("a"), written("b"), merged), since=2)


def test_what_expires_or_is_quarantined_is_gone_until_it_is_released() -> None:
    found = remembered(
        written("a"),
        written("b"),
        MemoryExpired(memories=["a"], at=AT),
        MemoryQuarantined(kind="session", value="s", memories=["a", "b"]),
        MemoryReleased(kind="session", value="s", memories=["a", "b"]),
    )
    assert [(3, "a", "gone"), (4, "b", "gone"), (5, "b", "added")] == notices(found, since=2)


def test_grown_and_rebuilt_are_the_same() -> None:
    events = [written("a"), revised("a", "x"), written("b"), MemoryArchived(memory="a")]
    grown = remembered(*events[2:], first=3, before=remembered(*events[:2]))
    assert remembered(*events) == grown


def test_notes_of_all_sessions_that_there_are_news_of_are_known_until_they_are_dismissed() -> None:
    waits = '{"kind":"file","path":"a"}'
    notes = [NoteWritten(note=name, text="later", origin=name, waits_for=waits) for name in ("n1", "n2", "n3")]
    found = remembered(*notes, NoteReadied(note="n2"), NoteParked(note="n1", code="off"), NoteReadied(note="n9"))
    assert [("n2", 4), ("n1", 5)] == [(one.id, one.announced) for one in found.announced]
    after = remembered(
        NoteReadied(note="n1"), NoteUpdated(note="n2", text="now", waits_for=waits), first=7, before=found
    )
    assert [("n2", 4), ("n1", 7)] == [(one.id, one.announced) for one in after.announced]
    assert "now" == after.announced[0].text
    anew = NoteUpdated(note="n2", text="now", waits_for='{"kind":"file","path":"b"}')
    gone = remembered(anew, NoteDismissed(note="n1"), first=9, before=after)
    assert () == gone.announced


NAMES = st.sampled_from("abcd")
LISTS = st.lists(NAMES, min_size=1, max_size=3, unique=True)
FACTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(written, NAMES, NAMES, supersedes=st.just(()) | LISTS.map(tuple)),
    st.builds(MemoryProposed, memory=NAMES, category=st.just("NAMING"), text=NAMES),
    st.builds(revised, NAMES, NAMES),
    st.builds(MemoryMerged, memory=NAMES, sources=LISTS, category=st.just("NAMING"), text=NAMES),
    st.builds(MemoryDivided, memory=NAMES, parts=LISTS, texts=LISTS, category=st.just("NAMING")),
    st.builds(MemoryReinforced, memory=NAMES, effect=st.sampled_from(["", "increment"])),
    st.builds(MemoryArchived, memory=NAMES),
    st.builds(MemoryRestored, memory=NAMES),
    st.builds(MemoryPinned, memory=NAMES, is_pinned=st.booleans()),
    st.builds(MemoryVerified, memory=NAMES, verification=st.sampled_from(["verified", "stale"])),
    st.builds(MemoryExpired, memories=LISTS, at=st.just(AT)),
    st.builds(MemoryQuarantined, kind=st.just("session"), value=st.just("s"), memories=LISTS, restored=LISTS),
    st.builds(MemoryReleased, kind=st.just("session"), value=st.just("s"), memories=LISTS, restored=LISTS),
)


@given(st.lists(FACTS, max_size=40))
def test_the_shelf_has_the_memories_of_the_book_and_changes_name_those_in_force(events: list[Event]) -> None:
    found = remembered(*events)
    assert {**found.book.memories} == {one.id: one for one in found.shelf}
    assert len(found.book.memories) == len(found.shelf) == len([*found.shelf])
    holding: dict[str, bool] = {}
    for change in found.since(0):
        assert holding.get(change.memory, False) == (change.kind != "added")
        holding[change.memory] = change.kind != "gone"
    assert {name for name, holds in holding.items() if holds} == {one.id for one in found.shelf if one.is_active}


def test_a_long_shelf_keeps_the_order_in_which_memories_came() -> None:
    names = [f"m{number}" for number in range(3 * LENGTH + 1)]
    found = remembered(*(written(name, name) for name in names), *(revised(name, "x") for name in names[::50]))
    assert names == [one.id for one in found.shelf]
    assert {"x"} == {one.text for one in [*found.shelf][::50]}
