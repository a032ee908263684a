"""All that came of one source is taken back: what it wrote, changed and made one; and that is undone."""

import pytest

from schemas.commands import (
    MemoryArchive,
    MemoryDecide,
    MemoryMerge,
    MemoryPropose,
    MemoryQuarantine,
    MemoryRestore,
    MemoryRevise,
    MemoryWrite,
)
from tests.helpers.memory_books import Desk, named
from tests.memory.decide.test_changing import LONGER, OTHER, TEXT, URL, refused

THIRD = "Never answer in German."


def write(desk: Desk, text: str, session: str, category: str = "PROJECT_RULES", trust: str = "agent") -> str:
    """The id of a memory that came of a session."""
    return named(desk.say(MemoryWrite(text=text, category=category, message=f"msg-{session}"), trust, session))


@pytest.mark.parametrize(
    ("kind", "value"), [("session", "bad"), ("message", "msg-bad"), ("run", "run-bad"), ("actor", "dreamer")]
)
def test_what_came_of_a_source_is_taken_back_and_given_back(kind: str, value: str) -> None:
    desk = Desk()
    write(desk, TEXT, "good")
    bad = MemoryWrite(text=OTHER, category="PROJECT_RULES", message="msg-bad")
    if kind == "run":
        proposal = MemoryPropose(category="PROJECT_RULES", text=OTHER, run="run-bad")
        name = named(desk.say(proposal, "historian", "other"))
    else:
        name = named(desk.say(bad, "dreamer", "bad"))
        desk.say(MemoryDecide(name, approve=True))
    before = desk.book.memories
    decision = desk.say(MemoryQuarantine(kind, value, reason="poisoned"))
    search = " No other session's search finds its messages." if kind == "session" else ""
    assert f"All that came of the {kind} '{value}' is taken back: 1 memory.{search}" == decision.text
    assert {TEXT: "active", OTHER: "quarantined"} == desk.statuses()
    assert "Nothing to do: All that came of" in desk.say(MemoryQuarantine(kind, value)).text
    assert "all that came of its source is taken back" in refused(desk, MemoryRestore(name))
    undone = desk.say(MemoryQuarantine(kind, value, undo=True))
    assert f"What came of the {kind} '{value}' is as it was: 1 memory." == undone.text
    assert before[name].status == desk.of(name).status
    assert "of the" in desk.say(MemoryQuarantine(kind, value, undo=True)).text
    assert () == desk.say(MemoryQuarantine(kind, value, undo=True)).events


def test_what_sub_agents_of_a_session_have_written_goes_and_comes_with_it() -> None:
    desk = Desk()
    write(desk, TEXT, "good")
    write(desk, OTHER, "bad's agent")
    before = desk.statuses()
    started = ("bad's agent", "another of its agents")
    decision = desk.say(MemoryQuarantine("session", "bad"), started=started)
    assert {TEXT: "active", OTHER: "quarantined"} == desk.statuses()
    assert "So is what came of the 2 sessions that its agents have started." in decision.text
    later = desk.say(MemoryWrite(text=THIRD, category="PROJECT_RULES"), "agent", "another of its agents")
    assert "all that comes from this source is taken back" in later.text
    assert "is as it was: 1 memory." in desk.say(MemoryQuarantine("session", "bad", undo=True), started=started).text
    assert before == desk.statuses()
    assert not desk.book.quarantines


def test_nothing_more_is_taken_from_it_until_it_is_undone() -> None:
    desk = Desk()
    assert "0 memories" in desk.say(MemoryQuarantine("session", "bad")).text
    decision = desk.say(MemoryWrite(text=TEXT, category="PROJECT_RULES"), "agent", "bad")
    assert not decision.ok
    assert "all that comes from this source is taken back" in decision.text
    assert ["quarantined"] == list(desk.made[0].reasons)
    desk.say(MemoryQuarantine("session", "bad", undo=True))
    assert desk.say(MemoryWrite(text=TEXT, category="PROJECT_RULES"), "agent", "bad").ok


def test_what_it_had_superseded_holds_again() -> None:
    desk = Desk()
    write(desk, URL, "good", "CONFIG_VALUES")
    write(desk, LONGER, "bad", "CONFIG_VALUES")
    decision = desk.say(MemoryQuarantine("session", "bad"))
    assert {URL: "active", LONGER: "quarantined"} == desk.statuses()
    assert " holds again." in decision.text
    desk.say(MemoryQuarantine("session", "bad", undo=True))
    assert {URL: "superseded", LONGER: "active"} == desk.statuses()


def test_what_it_superseded_and_others_have_corrected_since_stays() -> None:
    desk = Desk()
    write(desk, "The graphs are at https://graphs.test/a", "good", "CONFIG_VALUES")
    write(desk, "The graphs are at https://graphs.test/a/", "bad2", "CONFIG_VALUES")
    write(desk, "All graphs are at https://graphs.test/a/", "bad", "CONFIG_VALUES")
    write(desk, "Some graphs are at https://graphs.test/a/", "good", "CONFIG_VALUES")
    before = desk.statuses()
    desk.say(MemoryQuarantine("session", "bad"))
    assert before | {"All graphs are at https://graphs.test/a/": "quarantined"} == desk.statuses()


def test_a_chain_of_it_gives_back_what_stood_before_it() -> None:
    desk = Desk()
    write(desk, "The graphs are at https://graphs.test/a", "good", "CONFIG_VALUES")
    write(desk, "All graphs are at https://graphs.test/a/", "bad", "CONFIG_VALUES")
    write(desk, "Some graphs are at https://graphs.test/a/", "bad", "CONFIG_VALUES")
    desk.say(MemoryQuarantine("session", "bad"))
    assert ["active", "quarantined", "quarantined"] == list(desk.statuses().values())
    desk.say(MemoryQuarantine("session", "bad", undo=True))
    assert ["superseded", "superseded", "active"] == list(desk.statuses().values())


def test_what_it_revised_is_taken_back_and_named() -> None:
    desk = Desk()
    name = write(desk, TEXT, "good")
    desk.say(MemoryRevise(name, text=OTHER), "agent", "bad")
    decision = desk.say(MemoryQuarantine("session", "bad"))
    assert f"{name} had words of others, too, which cannot be separated" in decision.text
    assert {OTHER: "quarantined"} == desk.statuses()


def test_of_what_it_made_one_the_others_hold_again() -> None:
    desk = Desk()
    first, second = write(desk, TEXT, "good"), write(desk, OTHER, "good")
    desk.say(MemoryMerge((first, second), THIRD), "person", "bad")
    decision = desk.say(MemoryQuarantine("session", "bad"))
    assert {THIRD: "quarantined", OTHER: "active"} == desk.statuses()
    assert f"{second} holds again." in decision.text
    assert f"{first} had words of others, too" in decision.text
    desk.say(MemoryQuarantine("session", "bad", undo=True))
    assert {THIRD: "active", OTHER: "superseded"} == desk.statuses()


def test_what_its_words_were_made_part_of_is_taken_back() -> None:
    desk = Desk()
    first, second = write(desk, TEXT, "good"), write(desk, OTHER, "bad")
    desk.say(MemoryMerge((first, second), THIRD))
    desk.say(MemoryQuarantine("session", "bad"))
    assert {THIRD: "quarantined", OTHER: "quarantined"} == desk.statuses()


def test_what_was_only_seen_there_again_stays() -> None:
    desk = Desk()
    write(desk, TEXT, "good")
    write(desk, TEXT, "bad", trust="person")
    desk.say(MemoryQuarantine("session", "bad"))
    assert {TEXT: "active"} == desk.statuses()


def test_what_two_quarantines_hold_is_given_back_by_the_last() -> None:
    desk = Desk()
    name = write(desk, TEXT, "bad")
    desk.say(MemoryQuarantine("session", "bad"))
    desk.say(MemoryQuarantine("actor", "agent"))
    decision = desk.say(MemoryQuarantine("session", "bad", undo=True))
    assert f"{name} stays taken back for another source." in decision.text
    assert {TEXT: "quarantined"} == desk.statuses()
    desk.say(MemoryQuarantine("actor", "agent", undo=True))
    assert {TEXT: "active"} == desk.statuses()


def test_what_was_archived_before_is_archived_again() -> None:
    desk = Desk()
    name = write(desk, TEXT, "bad")
    desk.say(MemoryArchive(name))
    desk.say(MemoryQuarantine("session", "bad"))
    desk.say(MemoryQuarantine("session", "bad", undo=True))
    assert {TEXT: "archived"} == desk.statuses()


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (MemoryQuarantine("project", "x"), "'project' is no kind of source; use one of session, message, run, actor"),
        (MemoryQuarantine("session", ""), "no session is named; give its id"),
        (MemoryQuarantine("session", "x", reason="x" * 401), "the reason has 401 characters"),
    ],
)
def test_a_source_that_cannot_be_is_refused(command: MemoryQuarantine, reason: str) -> None:
    assert reason in refused(Desk(), command)
