"""When an agent is reminded of its notes: after a piece of work, not too often, and not if it has just read them."""

import pytest
from msgspec.structs import replace

from schemas.events import (
    HistoryAdvanced,
    HistoryRequested,
    NoteDismissed,
    NoteParked,
    NoteReadied,
    NoteUpdated,
    NoteWritten,
)
from schemas.inbox import PartSeen, Todo, TodoSeen
from services.domain.limits import Limits
from services.plan.lanes import DROPS, TAGS, Lane, View, history, note_reminder
from services.plan.lanes.hints import COOLDOWN
from tests.helpers.harness import ADDRESS, Harness, fold, text_part
from tests.helpers.historian_sessions import sealed
from tests.helpers.project_documents import Project
from tests.helpers.random_sessions import as_bytes
from tests.helpers.tool_calls import called, requested, returned

NOTE = NoteWritten(note="n1", text="Ask Ada.", origin=ADDRESS.session)
SAYS = "1 deferred note."


def lane(project: Project) -> Lane:
    """The lane with what a pass knows of the project's notes."""

    def with_notes(view: View) -> View:
        return replace(view, notes=note_reminder.status_of(view.session, project.remembered, ADDRESS.session))

    return replace(note_reminder.LANE, extend=lambda view, fresh: note_reminder.extend(with_notes(view), fresh))


def begun(*notes: NoteWritten) -> tuple[Project, Harness]:
    project = Project()
    harness = Harness(Limits(protected_tags=1, min_reclaim=1), (history.LANE, TAGS, DROPS, lane(project)))
    project.session = harness
    project.remembers(*(notes or (NOTE,)))
    harness.user("go")
    harness.step()
    return project, harness


def committed(command: str = "git commit -m done", exit_code: int | None = 0) -> PartSeen:
    return replace(called("bash", {"command": command}, call="c"), exit_code=exit_code)


def read(action: str = "read", call: str = "r") -> PartSeen:
    return called("annals_ctx_memory", {"action": action}, "- [n1] Ask Ada.", call=call)


def turn(harness: Harness, *answer: PartSeen, seconds: float = 1) -> bool:
    """The agent answers, and the person goes on; whether the agent is reminded behind that."""
    harness.assistant(*(answer or (text_part("Done."),)))
    harness.step()
    assert harness.session.milestones == fold(harness.log).milestones
    harness.wait(seconds)
    name = harness.user("next")
    assert harness.step().made.faults == ()
    edit = harness.edits.get(f"append:{name}.0")
    return edit is not None and SAYS in getattr(edit, "text", "")


@pytest.mark.parametrize("command", ["git commit -m done", "git -C web commit -qam done"])
def test_after_a_commit_the_agent_is_reminded_once_behind_the_next_message(command: str) -> None:
    _, harness = begun()
    assert not turn(harness)
    assert turn(harness, committed(command))
    assert not turn(harness, seconds=2 * COOLDOWN)


@pytest.mark.parametrize("answer", [committed(exit_code=1), committed("git status"), committed("git log")])
def test_what_is_no_commit_reminds_of_nothing(answer: PartSeen) -> None:
    _, harness = begun()
    assert not turn(harness, answer)


def test_for_15_minutes_nothing_is_repeated() -> None:
    _, harness = begun()
    assert turn(harness, committed())
    assert not turn(harness, committed(), seconds=COOLDOWN - 10)
    assert turn(harness, committed(), seconds=COOLDOWN)


def test_when_all_that_there_was_to_do_is_done_it_is_time_too() -> None:
    _, harness = begun()
    harness.report(TodoSeen((Todo("ship it", "in_progress", "high"), Todo("test it", "completed", "high"))))
    assert not turn(harness)
    harness.report(TodoSeen((Todo("ship it", "completed", "high"), Todo("test it", "cancelled", "high"))))
    assert turn(harness)
    harness.report(TodoSeen(()))
    assert not turn(harness, seconds=2 * COOLDOWN)


@pytest.mark.parametrize(("reason", "is_time"), [("wrapup", True), ("ahead", False)])
def test_when_history_was_made_it_is_time_unless_it_only_stands_ready(reason: str, is_time: bool) -> None:  # noqa: FBT001
    _, harness = begun()
    harness.append(HistoryRequested(run="r", reason=reason, first=1, last=2))
    harness.append(HistoryAdvanced(run="r", generation=0, first=1, last=1, done=False))
    assert not turn(harness)
    harness.append(HistoryAdvanced(run="r", generation=0, first=2, last=2))
    assert is_time is turn(harness)


def test_when_history_takes_the_place_of_messages_it_is_time() -> None:
    _, harness = begun()
    assert not turn(harness)
    harness.append(sealed(1, 2))
    harness.flush()
    assert turn(harness)


def test_notes_that_were_read_since_they_changed_are_not_announced_as_long_as_they_are_in_sight() -> None:
    project, harness = begun()
    turn(harness, committed())
    assert not turn(harness, read(), committed(), seconds=COOLDOWN)
    project.remembers(NoteUpdated(note="n1", text="Ask Ada twice."))
    assert turn(harness, committed(), seconds=COOLDOWN)
    assert not turn(harness, requested("ctx_memory", {"action": "read"}, call="p"), seconds=COOLDOWN)
    assert not turn(harness, returned("ctx_memory", call="p"), committed(), seconds=COOLDOWN)
    part = harness.session.milestones.read
    harness.drop(harness.session.conversation.parts[part].number)
    harness.assistant(text_part("Fine."))
    harness.flush()
    harness.user("on")
    harness.step()
    assert turn(harness, committed(), seconds=COOLDOWN)


def test_who_looks_after_its_notes_is_not_reminded_of_that_piece_of_work() -> None:
    _, harness = begun()
    assert not turn(harness, committed(), read("note"))
    assert turn(harness, committed(), read("write"))


def test_notes_of_the_project_and_with_a_condition_count_and_those_of_others_do_not() -> None:
    for note in (replace(NOTE, origin=""), replace(NOTE, condition="after the release")):
        _, harness = begun(note)
        assert turn(harness, committed())
    _, harness = begun(replace(NOTE, origin="s2"))
    assert not turn(harness, committed())
    project, harness = begun()
    project.remembers(NoteDismissed(note="n1"))
    assert not turn(harness, committed())


def test_a_notice_stays_where_it_was_given() -> None:
    project, harness = begun()
    assert turn(harness, committed())
    sent = as_bytes(harness.step().served)
    for act in (harness.restart, lambda: project.remembers(NoteDismissed(note="n1")), harness.restart_harness):
        act()
        harness.assistant(text_part("On."))
        harness.user("more")
        served = as_bytes(harness.step().served)
        assert served[: len(sent)] == sent
        sent = served


# News of notes that wait for something.

WAITING = replace(NOTE, origin="s2", waits_for='{"kind":"file","path":"docs/map.md"}')
NEWS = "What the note n1 waited for has come."


def appended(harness: Harness) -> str:
    """What stands behind the newest message of the person, once the agent has answered and the person went on."""
    harness.assistant(text_part("Done."))
    harness.step()
    harness.wait(1)
    name = harness.user("next")
    assert harness.step().made.faults == ()
    return str(getattr(harness.edits.get(f"append:{name}.0"), "text", ""))


def test_a_ready_note_is_announced_once_to_each_session_at_its_next_message() -> None:
    project, harness = begun(WAITING)
    assert not appended(harness)
    project.remembers(NoteReadied(note="n1", reason="docs/map.md was looked at"))
    assert NEWS in appended(harness)
    assert not appended(harness)
    harness.restart()
    assert not appended(harness)
    other = Harness(Limits(protected_tags=1, min_reclaim=1), (history.LANE, TAGS, DROPS, lane(project)))
    project.session = other
    other.user("go")
    other.step()
    assert NEWS in str(other.edits)
    assert not appended(other)


def test_news_are_announced_between_two_messages_of_a_person_and_nowhere_in_a_turn() -> None:
    project, harness = begun(WAITING)
    project.remembers(NoteReadied(note="n1"))
    before = as_bytes(harness.step().served)
    harness.assistant(committed())
    assert as_bytes(harness.step().served)[: len(before)] == before
    assert NEWS not in str(harness.edits)
    assert NEWS in appended(harness)


def test_news_of_several_notes_and_of_what_cannot_be_looked_at_are_one_notice() -> None:
    project, harness = begun(*(replace(WAITING, note=f"n{number}") for number in range(1, 13)))
    project.remembers(*(NoteReadied(note=f"n{number}") for number in range(1, 11)), NoteParked(note="n11", code="off"))
    news = appended(harness)
    assert "the notes n1, n2, n3, n4, n5, n6, n7, n8 and 2 more waited for has come" in news
    assert "What the note n11 waits for cannot be looked at." in news
    project.remembers(NoteReadied(note="n11"), NoteDismissed(note="n1"))
    assert "What the note n11 waited for has come." in appended(harness)
    assert not appended(harness)


def test_news_and_the_reminder_of_a_piece_of_work_follow_one_another() -> None:
    project, harness = begun(NOTE, replace(WAITING, note="n2"))
    project.remembers(NoteReadied(note="n2"))
    harness.assistant(committed())
    harness.step()
    name = harness.user("next")
    harness.step()
    news = getattr(harness.edits[f"append:{name}.0"], "text", "")
    assert ("n2 waited for has come" in news, SAYS in news) == (True, True)
    assert news.index("n2 waited") < news.index(SAYS)


def test_a_note_that_begins_to_wait_anew_is_announced_anew() -> None:
    project, harness = begun(WAITING)
    project.remembers(NoteParked(note="n1", code="no_tree"))
    assert "cannot be looked at" in appended(harness)
    project.remembers(NoteUpdated(note="n1", text=WAITING.text, waits_for=WAITING.waits_for))
    assert not appended(harness)
    project.remembers(NoteReadied(note="n1"))
    assert NEWS in appended(harness)


def test_news_stay_where_they_were_announced_and_cause_no_rebase() -> None:
    """Over passes with a growing tail, a restart, the removal of a neighbour, and a fact that comes late."""
    project, harness = begun(WAITING, replace(WAITING, note="n2"))
    project.remembers(NoteReadied(note="n1"))
    assert NEWS in appended(harness)
    sent = as_bytes(harness.step().served)
    for act in (
        harness.restart,
        lambda: project.remembers(NoteDismissed(note="n1")),
        lambda: project.remembers(NoteReadied(note="n2")),
        harness.restart_harness,
        lambda: project.remembers(NoteParked(note="n1", code="off"), NoteUpdated(note="n2", text="Later.")),
    ):
        act()
        harness.assistant(text_part("On."))
        harness.user("more")
        call = harness.step()
        served = as_bytes(call.served)
        assert (sent, ()) == (served[: len(sent)], call.causes)
        sent = served
