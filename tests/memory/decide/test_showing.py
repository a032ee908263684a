"""What a session was shown, and what a rebuild reads again, is no new sighting."""

import pytest

from schemas.commands import MemoryPropose, MemoryWrite
from schemas.events import MemoryJudged, MemoryReinforced
from services.memory.decide.context import FirstHead
from tests.helpers.memory_books import DAY, NOON, Desk

TEXT = "Always run `make check` before a commit."


def remembered() -> Desk:
    """A book with one memory, which another session has shown; its fact is the second one."""
    desk = Desk()
    desk.say(MemoryPropose("PROJECT_RULES", TEXT, evidence=(3, 4), run="r1"), "historian", "s1")
    return desk


def again(
    desk: Desk, trust: str = "agent", *, known_to: int = 2, shows_it: bool = True, session: str = "s2"
) -> list[object]:
    command = MemoryWrite(text=TEXT, category="PROJECT_RULES")
    head = FirstHead(known_to, frozenset({desk.only().id} if shows_it else ()))
    decision = desk.say(command, trust, session, at=NOON + DAY, head=head)
    assert decision.ok
    return [*desk.made]


def test_what_stood_in_the_head_of_the_session_is_no_sighting() -> None:
    desk = remembered()
    (judged,) = again(desk)
    assert isinstance(judged, MemoryJudged)
    assert ("absorbed", desk.only().id, ["shown"]) == (judged.verdict, judged.memory, judged.reasons)
    assert 1 == desk.only().seen


def test_what_came_into_force_since_the_session_began_was_announced_to_it() -> None:
    desk = remembered()
    assert 1 == len(again(desk, known_to=1, shows_it=False))


def test_what_found_no_room_in_the_head_is_seen_again() -> None:
    desk = remembered()
    assert [MemoryReinforced] == [
        type(one) for one in again(desk, shows_it=False) if not isinstance(one, MemoryJudged)
    ][-1:]
    assert 2 == desk.only().seen


def test_a_session_that_was_shown_nothing_sees_it_again() -> None:
    desk = remembered()
    desk.say(MemoryWrite(text=TEXT, category="PROJECT_RULES"), "agent", "s2")
    assert 2 == desk.only().seen


def test_a_person_who_says_it_again_means_it() -> None:
    desk = remembered()
    again(desk, "person")
    assert (2, "person") == (desk.only().seen, desk.only().trust)


@pytest.mark.parametrize(
    ("session", "evidence", "seen"), [("s1", (4, 5), 1), ("s1", (9,), 2), ("s2", (3, 4), 2), ("s1", (), 2)]
)
def test_what_a_rebuild_reads_again_is_no_sighting(session: str, evidence: tuple[int, ...], seen: int) -> None:
    desk = remembered()
    decision = desk.say(MemoryPropose("PROJECT_RULES", TEXT, evidence=evidence, run="r2"), "historian", session)
    assert decision.ok
    assert seen == desk.only().seen
