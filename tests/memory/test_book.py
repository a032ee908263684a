"""The fold of a project's memory: what each fact makes of the book, in whatever pieces it is read."""

from datetime import UTC, datetime, timedelta
from functools import reduce

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from schemas.envelope import Actor, Envelope
from schemas.events import (
    Event,
    MemoryArchived,
    MemoryExpired,
    MemoryJudged,
    MemoryMerged,
    MemoryPaused,
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
    PolicyChanged,
    SessionRenamed,
)
from services.memory.book import Book, evolve
from services.memory.entry import MOST_FACTS, MOST_SIGHTINGS, Judgement
from services.memory.keys import exact_key, identity_key

NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)
ADA = Actor("person", "ada")
EMPTY = Book()


def enveloped(event: Event, seq: int, actor: Actor = ADA, cause: str = "", *, last: bool = True) -> Envelope:
    at = NOON + timedelta(hours=seq)
    data = msgspec.Raw(msgspec.json.encode(event))
    return Envelope(f"e{seq}", event.TYPE, at, "harbour", "", actor, data, cause=cause, last=last, seq=seq)


def folded(*events: Event, book: Book = EMPTY, start: int = 1) -> Book:
    facts = ((event, enveloped(event, seq)) for seq, event in enumerate(events, start))
    return reduce(lambda now, fact: evolve(now, *fact), facts, book)


def written(name: str = "m1", text: str = "Run the tests first.", **more: object) -> MemoryWritten:
    return msgspec.convert(
        {"memory": name, "category": "PROJECT_RULES", "text": text, "trust": "person", "origin": "s1", **more},
        MemoryWritten,
    )


def statuses(book: Book) -> dict[str, str]:
    return {memory.id: memory.status for memory in book.memories.values()}


# What a fact does.


def test_a_proposal_that_is_taken_up_keeps_what_was_seen_of_it() -> None:
    proposal = MemoryProposed(memory="m1", category="NAMING", text="Tables are plural.", origin="s1", trust="summary")
    seen = MemoryReinforced(memory="m1", origin="s2")
    taken = MemoryWritten(memory="m1", category="NAMING", text="Tables are plural.", origin="s1", trust="summary")
    memory = folded(proposal, seen, taken).memories["m1"]
    assert ("active", 2, 1) == (memory.status, memory.seen, memory.revision)
    assert [("s1", True), ("s2", False), ("s1", True)] == [(one.session, one.is_author) for one in memory.sources]
    assert (1, 2, 3) == memory.facts
    assert NOON + timedelta(hours=1) == memory.created


def test_what_takes_the_place_of_another_supersedes_it() -> None:
    book = folded(written("m1"), written("m2", "Run all tests first.", supersedes=["m1"]))
    assert {"m1": "superseded", "m2": "active"} == statuses(book)
    assert "m2" == book.memories["m1"].superseded_by


def test_what_is_written_again_ends_only_what_that_fact_names() -> None:
    """What it once took the place of may hold again since; what came later it cannot have meant."""
    restored = folded(written("m1"), written("m2", supersedes=["m1"]), MemoryRestored(memory="m1"), written("m2"))
    late = folded(written("m2", supersedes=["m1"]), written("m1"), written("m2"))
    assert {"m1": "active", "m2": "active"} == statuses(restored) == statuses(late)


def test_a_revision_has_new_words_and_a_source_and_its_id_outlives_it() -> None:
    revised = MemoryRevised(memory="m1", category="PROJECT_RULES", text="Run the linter first.", origin="s9")
    memory = folded(written(), revised).memories["m1"]
    assert ("Run the linter first.", 2) == (memory.text, memory.revision)
    assert ("s9", True) == (memory.sources[-1].session, memory.sources[-1].is_author)


def test_a_weight_is_no_revision() -> None:
    weighed = MemoryRevised(memory="m1", category="PROJECT_RULES", text="Run the tests first.", importance="high")
    memory = folded(written(), weighed).memories["m1"]
    assert ("high", 1, 1) == (memory.importance, memory.revision, len(memory.sources))


def test_a_merge_sums_what_was_seen_and_unites_where_it_came_from() -> None:
    facts = (
        written("m1", "Run the tests first.", origin="s1"),
        written("m2", "Tests come first.", origin="s2"),
        MemoryReinforced(memory="m2", origin="s3", effect="increment"),
        MemoryPinned(memory="m2"),
        MemoryMerged(memory="m1", sources=["m2", "m2", "m1", "m9"], category="PROJECT_RULES", text="Tests first."),
    )
    book = folded(*facts)
    memory = book.memories["m1"]
    assert {"m1": "active", "m2": "superseded"} == statuses(book)
    assert (3, 1, True) == (memory.seen, memory.reinforced, memory.is_pinned)
    assert (("m2",), ("m2",)) == (memory.supersedes, memory.merged)
    assert ["s1", "s2", "s3", ""] == [source.session for source in memory.sources]
    assert NOON + timedelta(hours=3) == memory.clock


def test_a_sighting_counts_and_renews_only_where_it_was_decided_so() -> None:
    book = folded(written(), MemoryReinforced(memory="m1", effect="blocked"))
    assert (2, 0, None) == (
        book.memories["m1"].seen,
        book.memories["m1"].reinforced,
        book.memories["m1"].reinforced_at,
    )
    renewed = folded(MemoryReinforced(memory="m1", effect="increment"), book=book, start=3).memories["m1"]
    assert (3, 1, renewed.clock) == (renewed.seen, renewed.reinforced, renewed.reinforced_at)
    refreshed = folded(MemoryReinforced(memory="m1", effect="refresh_only"), book=book, start=3).memories["m1"]
    assert (0, NOON + timedelta(hours=3)) == (refreshed.reinforced, refreshed.clock)


def test_a_quarantine_and_its_undoing_leave_all_as_it_was() -> None:
    before = folded(written("m1"), written("m2", "Run all tests.", supersedes=["m1"]), written("m3", "Be brief."))
    taken = folded(
        MemoryQuarantined(kind="session", value="s1", memories=["m2"], restored=["m1"]), book=before, start=4
    )
    assert {"m1": "active", "m2": "quarantined", "m3": "active"} == statuses(taken)
    assert ["session:s1"] == list(taken.quarantines)
    undone = MemoryReleased(kind="session", value="s1", memories=["m2"], restored=["m1"])
    after = folded(undone, book=taken, start=5)
    assert statuses(before) == statuses(after)
    assert "m2" == after.memories["m1"].superseded_by
    assert [] == list(after.quarantines)


def test_what_a_memory_had_overtaken_is_overtaken_again_though_it_was_written_twice() -> None:
    again = (written("m2", "Run them."), MemoryQuarantined(kind="session", value="s", memories=["m2"], restored=["m1"]))
    taken = folded(written("m1"), written("m2", "Run all tests.", supersedes=["m1"]), *again)
    released = folded(MemoryReleased(kind="session", value="s", memories=["m2"], restored=["m1"]), book=taken, start=5)
    assert ("superseded", "m2") == (released.memories["m1"].status, released.memories["m1"].superseded_by)


def test_what_is_archived_expired_and_restored() -> None:
    book = folded(written("m1"), MemoryArchived(memory="m1"))
    assert {"m1": "archived"} == statuses(book)
    assert {"m1": "active"} == statuses(folded(MemoryRestored(memory="m1"), book=book, start=3))
    assert {"m1": "rejected"} == statuses(folded(MemoryArchived(memory="m1", is_rejected=True), book=book, start=3))
    expired = MemoryExpired(memories=["m1", "m9"], at=NOON)
    assert {"m1": "expired"} == statuses(folded(expired, book=book, start=3))


def test_what_became_of_a_candidate_is_its_last_judgement() -> None:
    judged = [MemoryJudged(candidate="c1", verdict="retrying", attempt=number) for number in (1, 2)]
    assert Judgement("retrying", "", attempt=2, seq=2) == folded(*judged).candidates["c1"]


def test_notes_and_policy() -> None:
    book = folded(
        NoteWritten(note="n1", text="Look at the cache.", origin="s1"),
        NoteUpdated(note="n1", text="Look at the cache again.", condition="after the release"),
        NoteUpdated(note="n9", text="nobody's"),
        NoteWritten(note="n2", text="Ask Ada."),
        NoteDismissed(note="n2"),
        PolicyChanged(trust="summary", action="applied"),
    )
    assert {"n1": ("Look at the cache again.", "active"), "n2": ("Ask Ada.", "dismissed")} == {
        note.id: (note.text, note.status) for note in book.notes.values()
    }
    assert "after the release" == book.notes["n1"].condition
    assert {"summary": "applied"} == dict(book.policy)


def test_a_merged_memory_that_is_taken_up_again_still_holds_the_words_of_the_others() -> None:
    merged = MemoryMerged(memory="m1", sources=["m2"], category="PROJECT_RULES", text="Tests first.", origin="s3")
    archived = MemoryArchived(memory="m1")
    book = folded(written("m1"), written("m2", "Tests come first."), merged, archived, written("m1", "Tests first."))
    memory = book.memories["m1"]
    assert (("m2",), ("m2",)) == (memory.merged, memory.supersedes)
    assert ["s1", "s1", "s3", "s1"] == [source.session for source in memory.sources]


# Under which keys a memory is found.


def test_the_active_one_stands_under_a_key_before_others() -> None:
    text, other = "Dashboards are at https://graphs.test/a", "Look at https://graphs.test/a/ for load"
    key = identity_key("reference", text)
    active = written("m1", text, memory_class="reference")
    proposal = MemoryProposed(memory="m2", category="CONFIG_VALUES", text=other, memory_class="reference")
    assert "m1" == folded(active, proposal).identities[key]
    assert "m1" == folded(proposal, active).identities[key]
    assert "m2" == folded(active, MemoryArchived(memory="m1"), proposal).identities[key]
    assert "m1" == folded(active, MemoryArchived(memory="m1"), proposal, MemoryRestored(memory="m1")).identities[key]


def test_words_that_a_memory_had_before_lead_to_it_until_another_one_has_them() -> None:
    revised = MemoryRevised(memory="m1", category="PROJECT_RULES", text="Run the linter first.")
    key = exact_key("feedback", "Run the tests first.")
    book = folded(written("m1"), revised)
    assert "m1" == book.exact[key]
    assert "m2" == folded(written("m2"), book=book, start=3).exact[key]


def test_words_that_a_memory_gives_up_lead_to_the_one_that_has_them_too() -> None:
    """Such as one that was rejected: it must not come in again."""
    proposal = MemoryProposed(memory="m1", category="PROJECT_RULES", text="Run the tests first.")
    rejected = MemoryArchived(memory="m1", is_rejected=True)
    borrowed = MemoryRevised(memory="m2", category="PROJECT_RULES", text="Run the tests first.")
    returned = MemoryRevised(memory="m2", category="PROJECT_RULES", text="Run the linter first.")
    key = exact_key("feedback", "Run the tests first.")
    book = folded(proposal, rejected, written("m2", "Be brief."), borrowed)
    assert "m2" == book.exact[key]
    assert "m1" == folded(returned, book=book, start=5).exact[key]


def test_what_holds_no_longer_gives_its_key_to_one_that_does() -> None:
    text, other = "Dashboards are at https://graphs.test/a", "Look at https://graphs.test/a/ for load"
    both = (written("m1", text, memory_class="reference"), written("m2", other, memory_class="reference"))
    key = identity_key("reference", text)
    assert "m2" == folded(*both).identities[key]
    assert "m1" == folded(*both, MemoryArchived(memory="m2")).identities[key]


# Decisions that were cut short.


def test_a_decision_without_its_last_fact_is_unfinished() -> None:
    judged = MemoryJudged(candidate="c1", verdict="accepted", memory="m1")
    cut = evolve(Book(), judged, enveloped(judged, 1, cause="w1", last=False))
    assert ["w1"] == list(cut.unfinished)
    whole = evolve(cut, written(), enveloped(written(), 2, cause="w1"))
    assert [] == list(whole.unfinished)


# What the fold is, whatever its facts are.

NAMES = st.sampled_from(["m1", "m2", "m3"])
SOME = st.lists(NAMES, max_size=3)
TEXTS = st.sampled_from(["Run the tests first.", "See https://a.test/x", "https://a.test/x/ is down", "Use `a/b.py`"])
CLASSES = st.sampled_from(["feedback", "decision", "reference", "project"])
EVENTS = st.one_of(
    st.builds(MemoryProposed, memory=NAMES, category=st.just("NAMING"), text=TEXTS, memory_class=CLASSES),
    st.builds(
        MemoryProposed, memory=NAMES, category=st.just("NAMING"), text=TEXTS, change=st.just("merge"), targets=SOME
    ),
    st.builds(
        MemoryWritten, memory=NAMES, category=st.just("NAMING"), text=TEXTS, supersedes=SOME, memory_class=CLASSES
    ),
    st.builds(MemoryRevised, memory=NAMES, category=st.just("NAMING"), text=TEXTS, memory_class=CLASSES),
    st.builds(MemoryMerged, memory=NAMES, sources=SOME, category=st.just("NAMING"), text=TEXTS),
    st.builds(MemoryReinforced, memory=NAMES, origin=st.sampled_from("ab"), effect=st.sampled_from(["increment", ""])),
    st.builds(MemoryArchived, memory=NAMES),
    st.builds(MemoryRestored, memory=NAMES),
    st.builds(MemoryPinned, memory=NAMES, is_pinned=st.booleans()),
    st.builds(MemoryVerified, memory=NAMES, verification=st.just("stale")),
    st.builds(MemoryExpired, memories=SOME, at=st.just(NOON)),
    st.builds(MemoryPaused, since=st.just(NOON), until=st.just(NOON)),
    st.builds(MemoryQuarantined, kind=st.just("session"), value=st.sampled_from("ab"), memories=SOME, restored=SOME),
    st.builds(MemoryReleased, kind=st.just("session"), value=st.sampled_from("ab"), memories=SOME, restored=SOME),
    st.builds(MemoryJudged, candidate=st.sampled_from("xy"), verdict=st.just("held")),
    st.builds(NoteWritten, note=st.just("n1"), text=TEXTS),
    st.builds(NoteWritten, note=st.just("n1"), text=TEXTS, waits_for=st.just('{"kind":"file","path":"a"}')),
    st.builds(NoteUpdated, note=st.just("n1"), text=TEXTS, waits_for=st.just('{"kind":"newer"}') | st.just("{")),
    st.builds(NoteReadied, note=st.just("n1")),
    st.builds(NoteParked, note=st.just("n1"), code=st.just("off")),
    st.builds(NoteDismissed, note=st.just("n1")),
    st.builds(PolicyChanged, trust=st.just("summary"), action=st.just("held")),
    st.builds(SessionRenamed, title=st.just("of no concern")),
)


@given(st.lists(EVENTS, max_size=25), st.integers(0, 25))
def test_a_fold_in_pieces_is_the_fold(events: list[Event], cut: int) -> None:
    whole = folded(*events)
    assert whole == folded(*events[cut:], book=folded(*events[:cut]), start=min(cut, len(events)) + 1)


@given(st.lists(EVENTS, max_size=25), st.integers(0, 24), st.integers(0, 24))
def test_facts_that_come_again_change_nothing(events: list[Event], first: int, last: int) -> None:
    whole = folded(*events)
    assert whole == folded(*events[first:last], book=whole, start=first + 1)


@given(st.lists(EVENTS, max_size=25))
def test_an_active_memory_is_found_by_its_words_or_another_active_one_is(events: list[Event]) -> None:
    book = folded(*events)
    for memory in book.memories.values():
        if memory.is_active:
            found = book.memories[book.exact[exact_key(memory.memory_class, memory.text)]]
            about = book.memories[book.identities[identity_key(memory.memory_class, memory.text)]]
            assert {True} == {found.is_active, about.is_active}


def test_a_memory_that_is_seen_ten_thousand_times_does_not_grow() -> None:
    seen = MemoryReinforced(memory="m1", origin="s2")
    memory = folded(written(), *(seen for _ in range(10_000))).memories["m1"]
    assert 10_001 == memory.seen
    assert (True, MOST_SIGHTINGS + 1) == (memory.sources[0].is_author, len(memory.sources))
    assert (1, 10_001, MOST_FACTS) == (memory.facts[0], memory.facts[-1], len(memory.facts))
