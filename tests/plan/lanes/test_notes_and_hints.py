from collections.abc import Iterable, Sequence
from itertools import count

import pytest
from hypothesis import given

from schemas.inbox import Mode
from schemas.plan import AnyEdit, AppendText, Withdraw
from services.domain.conversation import Message
from services.domain.limits import Limits
from services.plan.lanes import DROPS, LANES, TAGS, Lane, View, head, reminders
from services.plan.lanes import note_reminder as reminder_lane
from services.plan.lanes import search_hint as hint_lane
from services.plan.lanes.hints import HintHit, NoteStatus, note_reminder, search_hint
from services.plan.session.state import with_edits
from tests.helpers.adding import BIG, STORIES, Story, edits_by, play, wildly
from tests.helpers.harness import Call, Harness, attached, edits_of, ran, replace, text_part
from tests.helpers.project_documents import Project
from tests.helpers.random_sessions import Moment, as_bytes, is_done_behind_a_rebase, is_steady
from tests.helpers.tool_calls import after_a_pause, called

pytestmark = pytest.mark.slow

FOUND = "the build needs node 22"
REMINDER = note_reminder(NoteStatus(deferred=2, triggered_in="u5", newest="u6"))
HINT = search_hint([HintHit(FOUND, 0.9, "u6")])
HEAD, REMINDERS, NOTES, HINTS = head.LANE, reminders.LANE, reminder_lane.LANE, hint_lane.LANE
BOTH = [NOTES, HINTS]


def noting(project: Project, name: str) -> None:
    """Two notes wait, and something has happened in this message's turn that makes it worth to look at them."""
    project.notes = NoteStatus(deferred=2, triggered_in=name)


def finding(project: Project, name: str) -> None:
    project.hits = (*project.hits, HintHit(FOUND, 0.9, message=name))


def begun(project: Project, *lanes: Lane) -> Harness:
    """A session whose first message was sent and answered."""
    harness = Harness(Limits(protected_tags=1, min_reclaim=1), (TAGS, DROPS, *lanes))
    harness.seen = project.seen
    harness.user("why does the build fail?")
    harness.step()
    harness.assistant(text_part("I will see."))
    return harness


def appended_to(harness: Harness) -> dict[str, str]:
    """Part -> what the harness holds for its end."""
    return {edit.part: edit.text for edit in harness.edits.values() if isinstance(edit, AppendText)}


def is_steady_after(harness: Harness, before: Call, calls: int = 3) -> bool:
    """See that what was sent is sent again while the session grows and the service starts anew."""
    sent = as_bytes(before.served)
    for n in range(calls):
        harness.restart()
        harness.assistant(ran("FILE", call=f"on{len(harness.log)}"))
        call = harness.step()
        assert call.causes == ()
        assert as_bytes(call.served)[: len(sent)] == sent
        harness.user(f"and {n}?")
    return True


# Notes


def test_notes_wait_for_the_turn_to_end_and_are_announced_behind_the_next_message() -> None:
    """A commit is seen while u5 is the newest; there is no notice in its turn, and u6 bears the reminder for ever."""
    project = Project()
    harness = begun(project, NOTES)
    harness.wait(1_200)
    u5 = harness.user("commit it")
    harness.step()
    noting(project, u5)
    harness.assistant(ran("committed", call="c"))
    harness.step()
    assert {} == appended_to(harness)
    harness.assistant(text_part("Done."))
    u6 = harness.user("next")
    call = harness.step()
    (edit,) = [edit for edit in edits_of(call.made) if isinstance(edit, AppendText)]
    at = int(harness.now.timestamp())
    seq = harness.session.conversation.parts[f"{u6}.0"].seq
    assert edit == AppendText(part=f"{u6}.0", text=REMINDER, by=(seq,), lane=f"notes:{at}")
    assert call.text[-1] == f"§6§ next{REMINDER}"
    project.notes = None
    assert is_steady_after(harness, call)
    assert {f"{u6}.0": REMINDER} == appended_to(harness)


def test_what_happens_before_a_message_is_sent_and_another_follows_it_is_announced_behind_that() -> None:
    project = Project()
    harness = begun(project, NOTES)
    noting(project, harness.user("commit it"))
    name = harness.user("and then?")
    harness.step()
    assert [f"{name}.0"] == [*appended_to(harness)]


def test_of_two_messages_in_a_row_the_last_one_bears_it() -> None:
    project = Project()
    harness = begun(project, NOTES)
    noting(project, harness.messages[0].message)
    harness.user("next")
    name = harness.user("or rather")
    harness.step()
    assert [f"{name}.0"] == [*appended_to(harness)]


def again(harness: Harness, project: Project, seconds: float, *, since: str = "") -> str:
    """Something happens in the turn of the newest message or that one, and the person speaks so much later."""
    noting(project, since or harness.messages[-1].message)
    harness.assistant(text_part("Done."))
    harness.wait(seconds)
    name = harness.user("next")
    assert harness.step().made.faults == ()
    return name


@pytest.mark.parametrize(("seconds", "is_shown"), [(899, False), (900, True)])
def test_for_15_minutes_there_is_no_other_reminder(seconds: float, is_shown: bool) -> None:  # noqa: FBT001 - parametrized
    project = Project()
    harness = begun(project, NOTES)
    harness.user("commit it")
    first = again(harness, project, 1)
    harness.restart()
    second = again(harness, project, seconds)
    assert [f"{first}.0", *([f"{second}.0"] if is_shown else [])] == [*appended_to(harness)]


def test_what_was_cancelled_is_not_announced_later() -> None:
    project = Project()
    harness = begun(project, NOTES)
    harness.user("commit it")
    first = again(harness, project, 1)
    again(harness, project, 60)
    triggered = project.notes
    harness.assistant(text_part("Done."))
    harness.wait(2_000)
    harness.user("on")
    harness.step()
    assert project.notes == triggered
    assert [f"{first}.0"] == [*appended_to(harness)]


@pytest.mark.parametrize("notes", [NoteStatus(deferred=0), NoteStatus(deferred=2, is_read=True)])
def test_notes_that_were_read_and_notes_that_there_are_not_are_not_announced(notes: NoteStatus) -> None:
    project = Project()
    harness = begun(project, NOTES)
    u1, _ = harness.messages
    project.notes = replace(notes, triggered_in=u1.message)
    harness.user("next")
    harness.step()
    assert {} == appended_to(harness)


def test_what_happened_in_a_message_that_has_gone_is_not_announced() -> None:
    project = Project()
    harness = begun(project, NOTES)
    u2 = harness.user("commit it")
    harness.step()
    noting(project, u2)
    harness.without(u2)
    harness.user("never mind")
    harness.step()
    harness.messages.clear()
    harness.user("from the beginning")
    harness.step()
    assert {} == appended_to(harness)


def test_a_reminder_that_was_not_sent_does_not_count() -> None:
    project = Project()
    harness = begun(project, NOTES)
    noting(project, harness.messages[0].message)
    lost = harness.user("next")
    assert REMINDER not in harness.step(takes=0).text[-1]
    harness.assistant(ran("FILE", call="c"))
    assert Withdraw(what=f"append:{lost}.0") in edits_of(harness.step().made)
    name = again(harness, project, 60, since=lost)
    assert [f"{name}.0"] == [*appended_to(harness)]


def test_a_reminder_that_shares_its_place_counts() -> None:
    project = Project()
    harness = begun(project, NOTES, HINTS)
    harness.user("commit it")
    noting(project, harness.messages[-1].message)
    first = harness.user("next")
    finding(project, first)
    harness.step()
    assert {f"{first}.0": REMINDER + HINT} == appended_to(harness)
    again(harness, project, 60)
    assert [f"{first}.0"] == [*appended_to(harness)]


def test_a_reminder_is_repeated_when_the_last_one_is_far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reminder_lane, "MAX_BACK", 3)
    project = Project()
    harness = begun(project, NOTES)
    harness.user("commit it")
    appended = [again(harness, project, 60) for _ in range(4)]
    assert [f"{name}.0" for name in appended[::2]] == [*appended_to(harness)]


# What was found


def test_what_was_found_about_a_message_is_announced_behind_it() -> None:
    project = Project()
    harness = begun(project, HINTS)
    name = harness.user("and on arm?")
    project.hits = (HintHit(FOUND, 0.7, name), HintHit("arm has no wheel", 0.9, name), HintHit("last", 0.2, name))
    call = harness.step()
    (edit,) = [edit for edit in edits_of(call.made) if isinstance(edit, AppendText)]
    seq = harness.session.conversation.parts[f"{name}.0"].seq
    assert edit == AppendText(part=f"{name}.0", text=search_hint(project.hits), by=(seq,), lane="hints")
    assert call.text[-1].startswith('§3§ and on arm?\n\n<instruction name="search_hint">\n')
    assert "2 things that may bear on this message:\n- arm has no wheel\n- the build needs node 22\n" in call.text[-1]
    project.hits = ()
    assert is_steady_after(harness, call)
    assert {f"{name}.0": edit.text} == appended_to(harness)


@pytest.mark.parametrize("score", [0.0, 0.5999])
def test_what_is_not_near_enough_is_not_announced_and_that_stays_so(score: float) -> None:
    project = Project()
    harness = begun(project, HINTS)
    name = harness.user("and on arm?")
    project.hits = (HintHit(FOUND, score, name),)
    call = harness.step()
    finding(project, name)
    assert is_steady_after(harness, call)
    assert {} == appended_to(harness)


def test_what_was_found_about_an_older_message_is_not_announced_behind_a_newer_one() -> None:
    project = Project()
    harness = begun(project, HINTS)
    finding(project, harness.messages[0].message)
    harness.user("next")
    harness.step()
    assert {} == appended_to(harness)


def test_what_stands_in_the_head_is_not_announced() -> None:
    project = Project(ARCHITECTURE=f"# Build\n\nMind that {FOUND}\nor later, < 24.\n")
    harness = begun(project, HEAD, HINTS)
    name = harness.user("and on arm?")
    other = HintHit("arm has no wheel", 0.7, name)
    project.hits = (HintHit(FOUND, 0.9, name), HintHit("node 22 or later, < 24", 0.9, name), other)
    harness.step()
    assert {f"{name}.0": search_hint([other])} == appended_to(harness)


# Both


@pytest.mark.parametrize("lane", BOTH)
def test_only_the_newest_message_bears_it_and_only_if_a_person_wrote_it(lane: Lane) -> None:
    project = Project()
    harness = begun(project, lane)
    knows(project, harness)
    asked = harness.user("next")
    harness.assistant(text_part("Yes?"))
    harness.step()
    noting(project, asked)
    for part in (attached(), replace(text_part("added by the harness"), synthetic=True), text_part(" \n")):
        harness.add_message("user", part)
        harness.step()
    assert {} == appended_to(harness)


def knows(project: Project, harness: Harness) -> None:
    """What waits for the next message of the person, whichever it is."""
    noting(project, harness.messages[0].message)
    project.hits = tuple(HintHit(FOUND, 0.9, message=f"m{n}") for n in range(1, 99))


def test_with_nothing_known_nothing_is_announced() -> None:
    project = Project()
    harness = begun(project, *BOTH)
    harness.user("next")
    harness.step()
    assert {} == appended_to(harness)


@pytest.mark.parametrize("lane", BOTH)
def test_it_stands_behind_the_first_text_that_the_person_wrote(lane: Lane) -> None:
    project = Project()
    harness = begun(project, lane)
    knows(project, harness)
    synthetic = replace(text_part("added by the harness"), synthetic=True)
    name = harness.add_message(
        "user", attached(), text_part("hidden", ignored=True), text_part(""), synthetic, text_part("a"), text_part("b")
    )
    harness.step()
    assert [f"{name}.4"] == [*appended_to(harness)]


@pytest.mark.parametrize("lane", BOTH)
def test_what_becomes_known_after_a_message_was_sent_is_never_announced_behind_it(lane: Lane) -> None:
    """Not in its turn, not after a restart, not when a neighbour goes, and not when it was gone and comes back."""
    project = Project()
    harness = begun(project, lane)
    name = harness.user("next")
    harness.step()
    knows(project, harness)
    assert () == harness.step().causes
    harness.restart()
    harness.without("m2")
    assert ("unlisted",) == harness.step().causes
    back = harness.messages.pop()
    harness.step()
    assert name == back.message
    harness.messages.append(back)
    call = harness.step()
    assert name == call.raw[-1].id
    harness.change(f"{name}.0", text="other words")
    harness.step()
    more = replace(text_part("and more"), message=name, part=f"{name}.1", position=1)
    harness.messages[-1] = replace(harness.messages[-1], parts=(*harness.messages[-1].parts, more))
    assert "§4§ and more" == harness.step().text[-1]
    assert {} == appended_to(harness)


@pytest.mark.parametrize("lane", BOTH)
def test_a_message_that_was_sent_without_a_plan_stays_as_it_is(lane: Lane) -> None:
    project = Project()
    harness = begun(project, lane)
    knows(project, harness)
    harness.user("next")
    harness.step(asks=False)
    harness.step()
    assert {} == appended_to(harness)


@pytest.mark.parametrize("lane", BOTH)
def test_what_was_announced_stays_when_other_things_are_known_later(lane: Lane) -> None:
    project = Project()
    harness = begun(project, lane)
    knows(project, harness)
    name = harness.user("next")
    before = harness.step()
    appended = appended_to(harness)
    project.notes = NoteStatus(deferred=7, triggered_in=harness.messages[0].message)
    project.hits = (HintHit("something else", 1.0, message=name),)
    harness.without("m2")
    harness.restart()
    harness.restart_harness()
    after = harness.step()
    assert [f"{name}.0"] == [*appended]
    assert appended == appended_to(harness)
    assert before.served[-1] == after.served[-1]


@pytest.mark.parametrize("lane", BOTH)
def test_it_goes_with_its_message_and_comes_back_with_it(lane: Lane) -> None:
    project = Project()
    harness = begun(project, lane)
    knows(project, harness)
    harness.user("next")
    before = harness.step()
    back = harness.messages.pop()
    gone = harness.step()
    assert not any("</instruction>" in text for text in gone.text)
    harness.messages.append(back)
    assert before.served == harness.step().served


@pytest.mark.parametrize("lane", BOTH)
def test_it_is_announced_at_a_rebase_as_well_and_no_rebase_takes_it_back(lane: Lane) -> None:
    project = Project()
    harness = begun(project, lane)
    harness.assistant(called("read", {"filePath": "a.py"}, BIG))
    harness.user("so")
    harness.step()
    harness.drop(3)
    harness.use(1_000)
    harness.wait(301)
    project.hits = tuple(HintHit(FOUND, 0.9, message=f"m{n}") for n in range(1, 99))
    noting(project, harness.messages[-1].message)
    name = harness.user("next")
    assert "idle" in harness.step().causes
    appended = appended_to(harness)
    assert [f"{name}.0"] == [*appended]
    harness.drop(2)
    assert "idle" in after_a_pause(harness).causes
    assert appended == appended_to(harness)


def test_what_several_lanes_say_of_a_message_stands_behind_it_in_their_order() -> None:
    project = Project()
    harness = begun(project, REMINDERS, *BOTH)
    for n in range(5):
        harness.assistant(called("read", {"filePath": f"{n}.py"}, BIG[:4_000], call=f"c{n}"))
    knows(project, harness)
    name = harness.user("next")
    call = harness.step()
    at = int(harness.now.timestamp())
    (edit,) = [edit for edit in edits_of(call.made) if isinstance(edit, AppendText)]
    assert f"reminders+notes:{at}+hints" == edit.lane
    assert edit.text.endswith(REMINDER + HINT)
    assert 3 == edit.text.count("<instruction ") == len(edit.by)
    assert is_steady_after(harness, call)
    assert f"{name}.0" in appended_to(harness)


@pytest.mark.parametrize("lane", BOTH)
@pytest.mark.parametrize(("mode", "is_shown"), [("primary", True), ("reduce_off", True), ("subagent", False)])
def test_the_person_speaks_only_in_sessions_of_their_own(lane: Lane, mode: Mode, is_shown: bool) -> None:  # noqa: FBT001
    project = Project()
    harness = begun(project, lane)
    harness.mode = mode
    knows(project, harness)
    harness.user("next")
    harness.step()
    assert is_shown == (appended_to(harness) != {})


@pytest.mark.parametrize("lane", BOTH)
def test_as_long_as_nothing_is_known_they_are_silent(lane: Lane) -> None:
    harness = Harness(lanes=LANES)
    harness.user("why does the build fail?")
    for _ in range(3):
        harness.step()
        harness.assistant(ran("committed", call="c"))
        harness.user("commit it")
    assert lane in LANES
    assert {} == appended_to(harness)


def test_where_something_was_announced_already_nothing_is_announced_over_it() -> None:
    project = Project()
    harness = begun(project, *BOTH)
    knows(project, harness)
    name = harness.user("next")
    harness.report_step()
    fresh = [harness.session.conversation.messages[name]]
    view = View(harness.session, harness.limits, notes=project.notes, hits=project.hits)
    other = with_edits(harness.session, [AppendText(part=f"{name}.0", text="!", lane="other")])
    assert [1, 1] == [len(extend(view, fresh)) for extend in (reminder_lane.extend, hint_lane.extend)]
    assert [(), ()] == [
        extend(replace(view, session=other), fresh) for extend in (reminder_lane.extend, hint_lane.extend)
    ]


# Anything


def restless(lane: Lane) -> Lane:
    """The lane, to which something else is known at every look: of some messages, and at times that notes wait."""
    looks = count()

    def extend(view: View, fresh: Sequence[Message]) -> Iterable[AnyEdit]:
        look = next(looks)
        names = [*view.session.conversation.order.values()]
        hits = tuple(HintHit(f"what look {look} has found", 0.9, name) for name in names[look % 3 == 0 :] if look % 2)
        place = view.session.conversation.messages.get(names[-1 - look % len(names)]) if names else None
        notes = NoteStatus(deferred=look, triggered_in=place.recorded.message) if place else None
        return lane.extend(replace(view, notes=notes, hits=hits), fresh)

    return replace(lane, extend=extend)


def is_appended_once(moments: Sequence[Moment], name: str) -> bool:
    """Assert that it is behind a person's message at the end of a list that is the first to hold it, and once."""
    sent: set[str] = set()
    appended: set[str] = set()
    for moment in moments:
        for edit in edits_by([moment], name):
            assert isinstance(edit, AppendText)
            message, _, _ = edit.part.rpartition(".")
            newest = moment.call.raw[-1]
            assert (newest.id, newest.role) == (message, "user")
            assert message not in sent | appended
            appended.add(message)
        sent |= {message.id for message in moment.call.raw}
    return True


@pytest.mark.parametrize("lane", BOTH)
@wildly
@given(STORIES)
def test_over_any_session_it_is_steady_and_announced_once(lane: Lane, story: Story) -> None:
    moments = play(story, restless(lane))
    assert is_steady(moments)
    assert is_done_behind_a_rebase(moments, lane, Limits(protected_tags=story.protected, min_reclaim=200))
    assert is_appended_once(moments, lane.name)
