"""What time does to a book is written down, once, and the same whoever asks."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from schemas.commands import MemoryExpire, MemoryPin, MemoryPropose, MemoryRestore, MemoryVerify, MemoryWrite
from schemas.events import MemoryExpired, MemoryPaused, MemoryWritten
from services.memory.book import Book, evolve
from services.memory.decide.expiring import dormant_spans
from tests.helpers.memory_books import DAY, NOON, Desk, named
from tests.memory.decide.test_changing import OTHER, TEXT, refused

GRACE = 14 * DAY


def test_what_is_due_expires_in_one_fact() -> None:
    desk = Desk()
    due = [named(desk.say(MemoryWrite(text=text, category="KNOWN_ISSUES"))) for text in (TEXT, OTHER)]
    desk.say(MemoryWrite(text="The port is 8080.", category="WORKFLOW_RULES"))
    desk.say(MemoryPin(due[0]))
    at = NOON + 30 * DAY
    assert () == desk.say(MemoryExpire(at - timedelta(seconds=1)), "desk").events
    (event,) = desk.say(MemoryExpire(at), "desk").events
    assert isinstance(event, MemoryExpired)
    assert (sorted(due), at) == (sorted(event.memories), event.at)
    assert ["expired", "expired", "active"] == list(desk.statuses().values())
    assert "Nothing to do: nothing has expired." == desk.say(MemoryExpire(at), "desk").text


def test_a_replay_needs_no_clock() -> None:
    """Also when it is replayed much later, or cut anywhere."""
    desk = Desk()
    desk.say(MemoryWrite(text=TEXT, category="KNOWN_ISSUES"))
    desk.say(MemoryExpire(NOON + 40 * DAY), "desk")
    book = Book()
    for event, envelope in desk.log:
        book = evolve(book, event, envelope)
    assert desk.book == book


def test_a_moment_to_come_is_refused() -> None:
    desk = Desk()
    desk.say(MemoryWrite(text=TEXT, category="KNOWN_ISSUES"))
    text = refused(desk, MemoryExpire(NOON + 90 * DAY), now=NOON)
    assert "2026-06-05T12:00:00+00:00 is still to come" in text


def test_a_rest_of_the_project_is_written_down_once() -> None:
    desk = Desk()
    desk.say(MemoryWrite(text=TEXT, category="PROJECT_RULES"))
    rests = ((NOON + 20 * DAY, NOON + 30 * DAY), (NOON - 40 * DAY, NOON - 20 * DAY))
    for _ in range(2):
        desk.say(MemoryExpire(NOON + 31 * DAY), "desk", dormant=rests)
    assert [MemoryPaused(since=rests[0][0], until=rests[0][1])] == [
        event for event, _ in desk.log if isinstance(event, MemoryPaused)
    ]


def test_a_project_without_memories_rests_unseen() -> None:
    desk = Desk()
    desk.say(MemoryExpire(NOON), "desk", dormant=((NOON - 2 * DAY, NOON),))
    assert [] == desk.log


def test_a_rest_is_longer_than_its_grace_and_without_it() -> None:
    days = [NOON + day * DAY for day in (0, 1, 15, 29.5, 20, 60)]
    assert [(NOON + 29 * DAY, NOON + 29.5 * DAY), (NOON + 43.5 * DAY, NOON + 60 * DAY)] == dormant_spans(days, GRACE)
    assert [] == dormant_spans([NOON, NOON + 14 * DAY], GRACE)


@given(st.lists(st.integers(0, 200), max_size=30), st.integers(0, 30))
def test_rests_are_the_same_however_they_are_read(days: list[int], cut: int) -> None:
    works = [NOON + day * DAY for day in days]
    last: datetime | None = max(works[:cut], default=None)
    assert dormant_spans(works, GRACE) == dormant_spans(works[:cut], GRACE) + dormant_spans(works[cut:], GRACE, last)


LISTS = (
    "`src/quay/`: openQuay quay.py closeQuay",
    "`docs/`: TideTable LockPlan berths.md",
    "`lib/`: aQuay bQuay cQuay",
)


def remembering_lists(*more: str) -> Desk:
    """A book as an earlier release has left it: with lists of names that it read off sessions."""
    desk = Desk()
    for number, text in enumerate((*LISTS, *more)):
        name = f"m{number:010}"
        event = MemoryWritten(memory=name, category="CONFIG_VALUES", text=text, trust="historian", origin="s1")
        desk.write([event], desk.context("historian"))
    return desk


def test_lists_of_names_that_an_earlier_release_remembered_expire_once() -> None:
    desk = remembering_lists(
        "The work is checked with `make lint`.", "`src/quay/`: modules are generated, never edit them."
    )
    desk.say(MemoryPin("m0000000001"))
    (event,) = desk.say(MemoryExpire(NOON + DAY), "desk").events
    assert MemoryExpired(memories=["m0000000000", "m0000000002"], at=NOON + DAY, reason="listing") == event
    assert ["expired", "active", "expired", "active", "active"] == list(desk.statuses().values())
    desk.say(MemoryRestore("m0000000002"))
    assert () == desk.say(MemoryExpire(NOON + 2 * DAY), "desk").events
    assert "active" == desk.of("m0000000002").status, "what a person wants back stays"


def test_a_list_that_a_person_has_looked_at_stays() -> None:
    desk = remembering_lists()
    for number in range(3):
        desk.say(MemoryVerify(f"m{number:010}", "verified"))
    assert () == desk.say(MemoryExpire(NOON + DAY), "desk").events


def test_what_a_person_wrote_stays_however_it_reads() -> None:
    desk = Desk()
    desk.say(MemoryWrite(LISTS[0]))
    assert () == desk.say(MemoryExpire(NOON + DAY), "desk").events


def test_a_list_of_names_is_not_taken_in_again() -> None:
    desk = remembering_lists()
    desk.say(MemoryExpire(NOON + DAY), "desk")
    for trust in ("historian", "agent", "dreamer"):
        answer = desk.say(MemoryPropose("CONFIG_VALUES", LISTS[0], "s2"), trust, "s2")
        assert (False, True) == (answer.ok, "listing" in answer.text)
    assert "expired" == desk.of("m0000000000").status
