import pytest

from schemas.plan import AppendText
from services.domain.limits import Limits
from services.plan.lanes import View, notices
from services.plan.session.state import with_edits
from tests.helpers.harness import LIMITS, Harness, attached, edits_of, ran, replace, text_part
from tests.helpers.project_documents import Project, headed, noticed, session

NOTICE = """

<instruction name="project_changed">
These files of the project were changed while this session is going on:
- ARCHITECTURE.md
Where the copy at the beginning of this conversation says something else, the file is right: read it before you rely \
on it. This is a notice of the service that keeps your context, and no request.
</instruction>"""


def begun(project: Project, limits: Limits = LIMITS) -> Harness:
    harness = session(project, limits)
    harness.user("hello")
    harness.step()
    return harness


def turn(harness: Harness, text: str = "next") -> str:
    """A message of a person with the notice that its step has put behind it."""
    name = harness.user(text)
    harness.step()
    edit = noticed(harness).get(f"{name}.0")
    return edit.text if edit else ""


def test_a_change_is_announced_behind_the_next_message_of_the_person() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    position = project.write("ARCHITECTURE.md", "# House")
    name = harness.user("next")
    call = harness.step()
    (edit,) = [edit for edit in edits_of(call.made) if isinstance(edit, AppendText)]
    assert edit == AppendText(part=f"{name}.0", text=NOTICE, by=(position,), lane="notices")
    assert call.text[-1] == f"§2§ next{NOTICE}"
    assert "# Rooms" in headed(harness)


def test_it_is_announced_once_and_stays_where_it_was_announced() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    project.write("ARCHITECTURE.md", "# House")
    assert NOTICE == turn(harness)
    assert "" == turn(harness)
    harness.restart()
    harness.restart_harness()
    assert "" == turn(harness)
    assert [NOTICE] == [edit.text for edit in noticed(harness).values()]


def test_another_change_is_announced_again_and_only_that() -> None:
    project = Project(ARCHITECTURE="# Rooms", STRUCTURE="src/")
    harness = begun(project)
    project.write("ARCHITECTURE.md", "# House")
    assert "- ARCHITECTURE.md\n" in turn(harness)
    project.write("STRUCTURE.md", "lib/")
    served = turn(harness)
    assert ("- STRUCTURE.md\n" in served, "ARCHITECTURE" in served) == (True, False)
    project.write("ARCHITECTURE.md", "# Palace")
    assert "- ARCHITECTURE.md\n" in turn(harness)


def test_several_changes_are_announced_together_in_the_order_of_importance() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    project.write("STRUCTURE.md", "src/")
    project.remove("ARCHITECTURE.md")
    assert ":\n- ARCHITECTURE.md (removed)\n- STRUCTURE.md\nWhere" in turn(harness)


def test_what_is_not_in_the_head_by_choice_is_not_announced() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    project.write("AGENTS.md", "Be nice.")
    assert "" == turn(harness)


def test_a_session_without_a_head_gets_no_notice() -> None:
    project = Project()
    harness = begun(project)
    project.write("ARCHITECTURE.md", "# Rooms")
    assert "" == turn(harness)
    off = begun(project, replace(LIMITS, head=False))
    project.write("ARCHITECTURE.md", "# House")
    assert "" == turn(off)


def test_a_head_that_was_switched_off_is_not_followed_up() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    harness.limits = replace(LIMITS, head=False)
    project.write("ARCHITECTURE.md", "# House")
    assert "" == turn(harness)


def test_while_only_the_agent_works_a_notice_waits_for_the_person() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    project.write("ARCHITECTURE.md", "# House")
    harness.assistant(ran("FILE"))
    harness.step()
    assert {} == noticed(harness)
    assert NOTICE == turn(harness)


def test_a_notice_stands_behind_what_the_person_wrote() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    project.write("ARCHITECTURE.md", "# House")
    synthetic = replace(text_part("added by the harness"), synthetic=True)
    harness.add_message(
        "user",
        attached(),
        text_part("hidden", ignored=True),
        text_part(""),
        synthetic,
        text_part("look"),
        text_part("here"),
    )
    harness.add_message("user", attached())
    harness.step()
    assert ["m2.4"] == list(noticed(harness))


def test_a_first_step_announces_nothing_since_the_head_is_new() -> None:
    harness = begun(Project(ARCHITECTURE="# Rooms"))
    assert {} == noticed(harness)


def test_what_others_append_to_the_same_text_does_not_hide_that_it_was_announced() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    position = project.write("ARCHITECTURE.md", "# House")
    turn(harness)
    harness.user("more")
    harness.report_step()
    shared = AppendText(part="m2.0", text="...", by=(7, position, 9), lane="hints+notices")
    assert () == extended(harness, project, shared)
    other = AppendText(part="m2.0", text="...", by=(7,), lane="hints")
    assert [NOTICE] == [edit.text for edit in extended(harness, project, other)]


def extended(harness: Harness, project: Project, instead: AppendText) -> tuple[AppendText, ...]:
    """What the lane wants at this step, were this in the place of the notice."""
    state = with_edits(harness.session, [instead])
    view = replace(View(state, LIMITS), documents=project.documents)
    return tuple(
        edit for edit in notices.extend(view, list(state.conversation.after(2))) if isinstance(edit, AppendText)
    )


def test_a_notice_is_repeated_only_when_it_is_far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "MAX_BACK", 6)
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    project.write("ARCHITECTURE.md", "# House")
    assert [NOTICE, "", "", "", "", "", NOTICE, ""] == [turn(harness) for _ in range(8)]


def test_a_change_between_a_message_and_its_step_is_announced_behind_that_message_and_once() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    name = harness.user("next")
    harness.report(harness.messages[-1])
    position = project.write("ARCHITECTURE.md", "# House")
    harness.step()
    assert [(f"{name}.0", (position,))] == [(edit.part, edit.by) for edit in noticed(harness).values()]
    assert "" == turn(harness)


def test_a_message_that_is_sent_anew_keeps_the_notice_that_it_has() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    project.write("ARCHITECTURE.md", "# House")
    assert NOTICE == turn(harness)
    project.write("STRUCTURE.md", "src/")
    harness.without("m1")
    assert ("unlisted",) == harness.step().causes
    assert [NOTICE] == [edit.text for edit in noticed(harness).values()]


def test_a_message_that_is_sent_anew_is_not_announced_twice() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    project.write("ARCHITECTURE.md", "# House")
    assert NOTICE == turn(harness)
    before = harness.session.plan.ends
    harness.change("m2.0", text="other words")
    assert ("changed",) == harness.step().causes
    assert before["m2.0"] == harness.session.plan.ends["m2.0"]
    assert 1 == len(noticed(harness))


def test_the_next_rebase_folds_the_change_into_the_head_and_ends_the_matter() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    harness.assistant(ran("x" * 40_000))
    harness.user("so")
    harness.step()
    project.write("ARCHITECTURE.md", "# House")
    turn(harness)
    harness.drop(2)
    harness.flush()
    call = harness.step()
    harness.user("on")
    call = call if call.causes else harness.step()
    assert ("flush",) == call.causes
    assert "# House" in headed(harness)
    assert "" == turn(harness)
    assert [NOTICE] == [edit.text for edit in noticed(harness).values()]
