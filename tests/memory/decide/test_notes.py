"""Notes that wait for something: what they are given, and what comes of a look at it."""

import pytest

from schemas.commands import (
    MemoryRevise,
    MemoryWrite,
    NoteDismiss,
    NotePark,
    NoteReady,
    NoteTranslate,
    NoteUpdate,
    NoteWrite,
)
from schemas.conditions import CommandCondition, FileCondition, MergeCondition, encode_condition
from schemas.events import NoteParked, NoteReadied, NoteTranslated, NoteUpdated, NoteWritten
from schemas.offered import ACTIONS, TOOLS
from schemas.tools import MEMORY
from services.memory.entry import Note
from tests.helpers.memory_books import Desk

PASSED: dict[str, object] = {"kind": "passed", "command": "make test"}
MAP: dict[str, object] = {"kind": "file", "path": "docs/map.md"}


def noted(desk: Desk, condition: dict[str, object] | str = PASSED) -> Note:
    answer = desk.say(NoteWrite("Ship it.", condition=condition), "agent", "s1")
    assert answer.ok, answer.text
    return newest(desk)


def newest(desk: Desk) -> Note:
    return max(desk.book.notes.values(), key=lambda note: note.seq)


@pytest.mark.parametrize("given", [PASSED, encode_condition(CommandCondition("make test"))])
def test_a_note_waits_for_what_can_be_looked_at(given: dict[str, object] | str) -> None:
    desk = Desk()
    answer = desk.say(NoteWrite("Ship it.", condition=given), "agent", "s1", cause="w1")
    note = newest(desk)
    assert f"Noted as {note.id}. It is announced once `make test` has passed in a session." == answer.text
    assert (CommandCondition("make test"), note.seq, note.changed) == (note.waits_for, note.since, note.asked)
    assert (
        NoteWritten(
            note=note.id,
            text="Ship it.",
            origin="s1",
            condition="`make test` has passed in a session",
            waits_for='{"kind":"passed","command":"make test"}',
        ),
    ) == tuple(desk.made)


@pytest.mark.parametrize(
    "wrong", [{"kind": "file", "path": "../x"}, {"kind": "shell"}, {"kind": "date", "at": "soon"}, '{"kind": "file"']
)
def test_a_wrong_condition_is_refused_with_the_right_form_and_nothing_is_written(
    wrong: dict[str, object] | str,
) -> None:
    desk = Desk()
    answer = desk.say(NoteWrite("Ship it.", condition=wrong), "agent", "s1")
    assert not answer.ok
    assert '{"kind": ' in answer.text
    assert not desk.log


def test_agents_are_offered_conditions_behind_all_other_parameters() -> None:
    (tool,) = [tool for tool in TOOLS if tool.name == MEMORY]
    properties = tool.parameters["properties"]
    assert isinstance(properties, dict)
    assert "condition" == [*properties][-1]
    assert "note.write" == ACTIONS["note"].subject


def test_what_it_waited_for_comes_once() -> None:
    desk = Desk()
    note = noted(desk)
    ready = NoteReady(note.id, note.since, "it passed")
    assert f"{note.id} is ready." == desk.say(ready, "dreamer").text
    assert (NoteReadied(note=note.id, reason="it passed"),) == tuple(desk.made)
    assert f"Nothing to do: {note.id} is ready." == desk.say(ready, "dreamer").text
    assert () == tuple(desk.made)
    found = newest(desk)
    assert ("ready", 2, 2, "it passed") == (found.stage, found.readied, found.announced, found.reason)


def test_a_condition_that_cannot_be_looked_at_is_recorded_once_and_may_come_true_after_all() -> None:
    desk = Desk()
    note = noted(desk, MAP)
    for code in ("no_tree", "off"):
        assert desk.say(NotePark(note.id, note.since, code, "no files"), "dreamer").ok
    assert [NoteParked(note=note.id, code="no_tree", reason="no files")] == [
        event for event, _ in desk.log if isinstance(event, NoteParked)
    ]
    assert ("parked", "no_tree", 2) == (newest(desk).stage, newest(desk).code, newest(desk).announced)
    assert desk.say(NoteReady(note.id, note.since), "dreamer").ok
    assert ("ready", "", 3) == (newest(desk).stage, newest(desk).code, newest(desk).announced)


def test_a_look_at_a_condition_that_it_has_no_more_changes_nothing() -> None:
    desk = Desk()
    note = noted(desk)
    assert desk.say(NoteUpdate(note.id, condition=MAP), "agent", "s1").ok
    for command in (NoteReady(note.id, note.since), NotePark(note.id, note.since, "off")):
        assert f"Nothing to do: {note.id} waits for something else by now." == desk.say(command, "dreamer").text
    desk.say(NoteDismiss(note.id), "agent", "s1")
    since = newest(desk).since
    for command in (NoteReady(note.id, since), NotePark(note.id, since, "off")):
        assert f"Nothing to do: {note.id} is dismissed." == desk.say(command, "dreamer").text
    words = noted(desk, "after the release")
    assert "waits for something else" in desk.say(NoteReady(words.id, words.since), "dreamer").text


def test_another_condition_begins_anew_and_other_words_do_not() -> None:
    desk = Desk()
    note = noted(desk)
    desk.say(NoteReady(note.id, note.since, "it passed"), "dreamer")
    desk.say(NoteUpdate(note.id, text="Ship it now."), "agent", "s1")
    assert ("ready", note.since) == (newest(desk).stage, newest(desk).since)
    desk.say(MemoryRevise(note.id, condition=MAP), "agent", "s1")
    found = newest(desk)
    assert ("active", FileCondition("docs/map.md"), found.seq) == (found.stage, found.waits_for, found.since)
    assert ("docs/map.md is there", "", 0) == (found.condition, found.reason, found.announced)


def test_the_same_condition_again_has_it_looked_at_anew_where_that_had_ended() -> None:
    desk = Desk()
    note = noted(desk, MAP)
    assert (
        f"Nothing to do: {note.id} says that now." == desk.say(NoteUpdate(note.id, condition=MAP), "agent", "s1").text
    )
    desk.say(NotePark(note.id, note.since, "barred", "a link"), "dreamer")
    assert f"{note.id} says that now." in desk.say(NoteUpdate(note.id, condition=MAP), "agent", "s1").text
    assert ("active", "", 3) == (newest(desk).stage, newest(desk).code, newest(desk).since)
    assert desk.say(NoteReady(note.id, 3), "dreamer").ok
    assert isinstance(desk.made[0], NoteReadied)


def test_words_in_the_place_of_a_condition_are_stored() -> None:
    desk = Desk()
    note = noted(desk)
    desk.say(NoteUpdate(note.id, condition="after the release"), "agent", "s1")
    assert (NoteUpdated(note=note.id, text="Ship it.", condition="after the release"),) == tuple(desk.made)
    assert None is newest(desk).waits_for


@pytest.mark.parametrize("sender", ["agent", "person", "historian"])
def test_only_the_dreamer_says_what_has_come(sender: str) -> None:
    desk = Desk()
    note = noted(desk)
    for command in (NoteReady(note.id, note.since), NotePark(note.id, note.since, "off")):
        assert not desk.say(command, sender, "s1").ok
    assert "active" == newest(desk).stage


def test_a_note_that_is_announced_to_all_sessions_may_be_dismissed_by_all() -> None:
    desk = Desk()
    note = noted(desk)
    assert "of another session" in desk.say(NoteDismiss(note.id), "agent", "s2").text
    desk.say(NoteReady(note.id, note.since), "dreamer")
    assert desk.say(NoteDismiss(note.id), "agent", "s2").ok
    assert ("dismissed", 0) == (newest(desk).stage, newest(desk).announced)


def test_a_memory_has_no_condition() -> None:
    desk = Desk()
    desk.say(MemoryWrite(text="Run the tests before you push, because the pipeline is slow.", category="CONSTRAINTS"))
    (name,) = desk.book.memories
    assert "notes have conditions" in desk.say(MemoryRevise(name, text="x", condition=MAP), "agent", "s1").text


def test_the_default_branch_is_added_once_to_a_merge_that_names_one_branch_and_nothing_else_is() -> None:
    desk = Desk()
    send = desk.say
    note = noted(desk, {"kind": "merged", "branch": "quay"})
    assert "quay is merged into the default branch" == note.condition
    assert send(NotePark(note.id, note.since, "no_branch", "none"), "dreamer", "").ok
    whole = encode_condition(MergeCondition("quay", "main"))
    for wrong in (
        encode_condition(MergeCondition("pier", "main")),
        encode_condition(MergeCondition("quay")),
        encode_condition(MergeCondition("quay", "quay")),
        encode_condition(CommandCondition("make test")),
        "when quay is merged",
        "",
    ):
        assert not send(NoteTranslate(note.id, note.since, wrong), "dreamer", "").ok
    assert not send(NoteTranslate(note.id, note.since, whole), "agent", "s1").ok
    assert f"{note.id} is announced once quay is merged into main." == (
        send(NoteTranslate(note.id, note.since, whole), "dreamer", "").text
    )
    assert (NoteTranslated(note=note.id, waits_for=whole),) == tuple(desk.made)
    other = encode_condition(MergeCondition("quay", "master"))
    assert "Nothing to do" in send(NoteTranslate(note.id, note.since, other), "dreamer", "").text
    after = newest(desk)
    assert (MergeCondition("quay", "main"), note.since, "active") == (after.waits_for, after.since, after.stage)
