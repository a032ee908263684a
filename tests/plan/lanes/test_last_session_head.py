"""What the last session left open at the head of a new one: recorded by its first plan, and the same bytes since."""

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.events import MemoryQuarantined, MemoryReleased, PlanExtended, PlanRebased
from schemas.inbox import Mode
from schemas.plan import CutBefore, SetHead
from services.domain.limits import MemoryLimits
from services.plan.head.last_session import last_session_section
from services.plan.lanes import head
from services.plan.planner import pages
from services.plan.session.predecessor import Predecessor, recorded_predecessor
from tests.helpers.examples import examples
from tests.helpers.harness import Call, Harness, edits_of, extensions, ran, rebases, replace
from tests.helpers.project_documents import Project, headed, session, written
from tests.plan.lanes.test_head import ACTS, perform
from tests.plan.lanes.test_memory_head import RULE, rebased

LEFT = Predecessor("before", ("file a.py (edited)", "open error [test] <x> failed"), ("", "b7"), (0, 7))
SECTION = last_session_section(LEFT.lines)


def new_session(project: Project, left: Predecessor = LEFT) -> Harness:
    """A session that has not begun, after one that left something open."""
    harness = session(project)
    harness.predecessor = left
    harness.user("hello")
    return harness


def begun(project: Project, left: Predecessor = LEFT) -> Harness:
    harness = new_session(project, left)
    harness.step()
    return harness


def quarantine(kind: str = "session", value: str = "before") -> MemoryQuarantined:
    return MemoryQuarantined(kind=kind, value=value, memories=[], restored=[], reason="a leak")


def recorded(harness: Harness) -> list[Predecessor]:
    """The predecessors that the log names, one for each plan that names one."""
    planned = [event for _, event in harness.log if isinstance(event, PlanExtended | PlanRebased)]
    return [recorded_predecessor(event) for event in planned if event.predecessor]


def test_the_first_plan_ends_its_head_with_what_the_last_session_left_open_and_records_it() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = new_session(project)
    project.remembers(written("m1", RULE))
    call = harness.step()
    assert call.text[0].endswith(f"</memories>\n\n{SECTION}\n</project>")
    assert "- open error [test] &lt;x&gt; failed" in SECTION
    (event,) = extensions(call.made)
    assert ("before", [*LEFT.lines], ["", "b7"], [0, 7]) == (
        event.predecessor, event.left_open, event.left_open_in, event.left_open_at,
    )  # fmt: skip
    (made,) = [edit for edit in edits_of(call.made) if isinstance(edit, SetHead)]
    assert (project.documents[0].seq, project.remembered.book.seq, 7) == made.by
    assert LEFT == harness.session.predecessor == harness.folded().predecessor


def test_where_nothing_was_left_open_the_head_is_as_before() -> None:
    with_nothing, harness = (
        begun(Project(ARCHITECTURE="# Rooms"), Predecessor()),
        begun(Project(ARCHITECTURE="# Rooms")),
    )
    assert headed(harness) == headed(with_nothing).replace("\n</project>", f"\n\n{SECTION}\n</project>")
    assert [] == recorded(with_nothing)
    without = begun(Project(), Predecessor())
    assert "" == headed(without)


def test_it_alone_is_reason_enough_for_a_head() -> None:
    harness = begun(Project())
    assert headed(harness).endswith(f"\n\n{SECTION}\n</project>")
    assert [LEFT] == recorded(harness)


def alike(before: Call, after: Call) -> bool:
    return after.served[: len(before.served)] == before.served


def test_no_byte_changes_with_a_growing_tail_a_restart_a_removed_neighbour_and_a_late_event() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = new_session(project)
    calls = [harness.step()]
    harness.predecessor = Predecessor("other", ("open error [lint] y",), ("o1",), (9,))  # found again: never looked at
    for turn in range(3):
        harness.assistant(ran("x" * 400, call=f"c{turn}"))
        harness.user(f"more {turn}")
        calls.append(harness.step())
    harness.restart()
    harness.restart_harness()
    calls.append(harness.step())
    project.remove("ARCHITECTURE.md")  # what stands next to it in the head is gone
    harness.user("on")
    calls.append(harness.step())
    harness.user("late")
    calls.append(harness.step(meanwhile=[quarantine()]))
    project.remembers(quarantine())
    harness.user("and on")
    calls.append(harness.step())
    assert all(alike(before, after) for before, after in pairwise(calls))
    assert not any(call.causes for call in calls)
    assert [LEFT] == recorded(harness)
    assert harness.session == replace(harness.folded(), seq=harness.session.seq)


def test_a_later_rebase_shows_what_the_first_plan_recorded() -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    before = headed(harness)
    harness.predecessor = Predecessor("other", ("open error [lint] y",), ("o1",), (9,))
    harness.restart()
    project.write("ARCHITECTURE.md", "# House")
    assert rebased(harness)
    assert before.replace("# Rooms", "# House") == headed(harness)
    assert [LEFT] == recorded(harness)


@pytest.mark.parametrize("source", [("session", "before"), ("message", "b7")])
def test_a_later_rebase_leaves_out_what_was_taken_back(source: tuple[str, str]) -> None:
    project = Project(ARCHITECTURE="# Rooms")
    harness = begun(project)
    before = headed(harness)
    project.remembers(quarantine(*source))
    harness.user("on")
    assert not harness.step().causes
    assert before == headed(harness)
    assert rebased(harness)
    assert before.replace(f"\n\n{SECTION}", "") == headed(harness)
    project.remembers(MemoryReleased(kind=source[0], value=source[1], memories=[], restored=[]))
    assert rebased(harness)
    assert before == headed(harness)


def test_where_roles_must_alternate_nothing_is_rendered_and_nothing_recorded() -> None:
    harness = new_session(Project())
    harness.capabilities = ("requires_alternation", "accepts_empty_content")
    assert ["§1§ hello"] == harness.step().text
    assert [] == recorded(harness)


@pytest.mark.parametrize("mode", ["subagent", "additive", "hidden"])
def test_sessions_without_a_head_get_nothing(mode: Mode) -> None:
    harness = new_session(Project())
    harness.mode = mode
    assert ["hello"] == [text.partition("§ ")[2] or text for text in harness.step().text]
    assert [] == recorded(harness)


@pytest.mark.parametrize("memory", [MemoryLimits(enabled=False), MemoryLimits(last_session=False)])
def test_a_person_may_switch_it_off(memory: MemoryLimits) -> None:
    project = Project(ARCHITECTURE="# Rooms")
    project.memory = memory
    harness = new_session(project)
    harness.step()
    assert ("# Rooms" in headed(harness), SECTION in headed(harness)) == (True, False)


def test_it_alone_makes_no_session_late_that_began_before_anybody_answered() -> None:
    late = replace(LEFT, positions=(0, -500))
    harness = new_session(Project(), late)
    harness.step(asks=False)
    for turn in range(3):
        harness.user(f"again {turn}")
        assert () == harness.step().causes
    assert "" == headed(harness)


def test_a_session_that_is_late_for_its_documents_gets_it_with_them() -> None:
    harness = new_session(Project(ARCHITECTURE="# Rooms"))
    harness.step(asks=False)
    harness.user("again")
    call = harness.step()
    assert ("late",) == call.causes
    assert SECTION in headed(harness)
    assert ["before"] == [event.predecessor for event in rebases(call.made)]
    assert LEFT == harness.folded().predecessor


def test_a_copy_goes_on_with_what_its_origin_recorded() -> None:
    origin = begun(Project(ARCHITECTURE="# Rooms"))
    copy = origin.fork()
    copy.predecessor = Predecessor("other", ("open error [lint] y",), ("o1",), (9,))
    copy.user("another way")
    copy.step()
    assert headed(origin) == headed(copy)
    assert [LEFT] == recorded(copy)
    assert LEFT == copy.folded().predecessor


def test_of_several_revisions_the_first_alone_records_it() -> None:
    decision = replace(PlanExtended(revision=1, step="s", as_of=1), **LEFT.fields)
    edits = [CutBefore(message="m" * (pages.MAX_BYTES // 2)) for _ in range(4)]
    found = pages.revisions_of(decision, edits)
    assert [1, 2, 3, 4] == [one.revision for one in found]
    assert ["before", "", "", ""] == [one.predecessor for one in found]
    assert [2, 0, 0, 0] == [len(one.left_open) for one in found]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.sampled_from((*ACTS, "take back")), st.integers(0, 9)), min_size=5, max_size=40),
    st.sampled_from([True, True, False]),
)
def test_outside_of_rebases_no_byte_changes_that_was_sent(acts: list[tuple[str, int]], asks: bool) -> None:  # noqa: FBT001 - an example
    project = Project(ARCHITECTURE="# Rooms")
    harness = new_session(project)
    sent = harness.step(asks=asks).served
    for act, n in acts:
        if act == "take back":
            project.remembers(quarantine())
        else:
            perform(harness, project, act, n)
        assert harness.session == harness.folded()
        call = harness.step()
        assert not call.made.faults
        if not call.causes:
            assert call.served[: len(sent)] == sent
        sent = call.served
        harness.wait(1)
    assert recorded(harness) in ([], [LEFT])
    assert head.SLOT == 0
