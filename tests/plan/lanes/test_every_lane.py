"""What is true of every lane: over any session, and for what it has decided in a session in which all have work.

A new lane is tested here by being found. What its own sessions need is in its test, which is named after its module:
`EXAMPLES`, stories that once went wrong, and `HAPPENS`, a strategy of what else happens in sessions of that lane.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import takewhile
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events import PartRecorded
from schemas.inbox import Capability
from schemas.plan import AnyEdit
from services.domain.edits import apply, faults
from services.domain.limits import Limits
from services.plan.lanes import DROPS, LANES, TAGS, Lane
from tests.helpers import adding, random_sessions, stripping
from tests.helpers.every_lane import own_tests
from tests.helpers.every_lane import play as play_every_lane
from tests.helpers.harness import Call, Harness, ran, replace, text_part
from tests.helpers.random_sessions import (
    Act,
    Moment,
    Story,
    as_bytes,
    is_done_behind_a_rebase,
    is_steady,
    play,
    spares,
    wildly,
)
from tests.helpers.tool_calls import view_of

pytestmark = pytest.mark.slow

ABLE: tuple[Capability, ...] = ("accepts_empty_content",)
STRICT = {"clear_reasoning_age": 3, "smart_drops": True, "caveman": True, "auto_drop_tool_age": 4}
"""With these limits every lane finds work in a short session."""
NEED_MORE = {
    "drops": "what an agent or a person names goes, whatever it is",
    "images": "a picture that was seen goes whatever is protected, and may be in a person's message",
    "errors": "the beginning of a failure stays, so that it may be shortened near the end",
}
"""Lanes that empty parts and do not spare what others do -> why."""

WANT_MORE = {
    "history": "a cut changes which files are in sight, and the next head names them and a newer state of work"
}
"""Lanes that would decide more behind a rebase, if there was another one -> why."""


@st.composite
def stories(draw: st.DrawFn, happens: st.SearchStrategy[Act] | None) -> Story:
    """A session of any kind, with what else happens in those of a lane."""
    story = draw(st.one_of(random_sessions.STORIES, adding.STORIES, stripping.STORIES))
    if happens is None:
        return story
    more = st.lists(happens, max_size=4)
    return replace(story, around=[([*draw(more), *growth], chances) for growth, chances in story.around])


def played(lane: Lane, story: Story) -> tuple[list[Moment], Limits]:
    limits = replace(Limits(protected_tags=story.protected, min_reclaim=200), **STRICT)
    return play(story, *(() if lane in (TAGS, DROPS) else (lane,)), **STRICT), limits


@pytest.mark.parametrize("lane", LANES, ids=lambda lane: lane.name)
@wildly
@given(data=st.data())
def test_over_any_session_what_was_decided_stays_and_nothing_more_is_wanted(lane: Lane, data: st.DataObject) -> None:
    story = data.draw(stories(getattr(own_tests(lane), "HAPPENS", None)))
    moments, limits = played(lane, story)

    assert is_steady(moments)
    assert lane.name in WANT_MORE or is_done_behind_a_rebase(moments, lane, limits)
    assert not lane.empties or lane.name in NEED_MORE or spares(moments, lane, limits)


@pytest.mark.parametrize(
    ("lane", "story"),
    [
        pytest.param(lane, story, id=f"{lane.name}-{number}")
        for lane in LANES
        for number, story in enumerate(getattr(own_tests(lane), "EXAMPLES", ()))
    ],
)
def test_stories_that_went_wrong_once_go_well(lane: Lane, story: Story) -> None:
    moments, limits = played(lane, story)

    assert is_steady(moments)
    assert lane.name in WANT_MORE or is_done_behind_a_rebase(moments, lane, limits)
    assert not lane.empties or lane.name in NEED_MORE or spares(moments, lane, limits)


# A session in which every lane has decided something


def growing(harness: Harness) -> None:
    harness.assistant(ran("line\n" * 20, call=f"g{len(harness.log)}"))
    harness.user("On.")


def late(harness: Harness) -> None:
    """A count of the provider comes behind the call that it is of."""
    harness.use(9_000, f"late{len(harness.log)}")
    growing(harness)


def neighbour_gone(harness: Harness) -> None:
    """The harness lists a message no more, which a provider is then sent without, and goes on."""
    if len(harness.messages) == len(harness.known):
        harness.without(harness.messages[-1].message)
    growing(harness)


AFTERWARDS: Mapping[str, Callable[[Harness], object]] = {
    "growing": growing,
    "restart of the responder": Harness.restart,
    "restart of the harness": Harness.restart_harness,
    "late event": late,
    "neighbour gone": neighbour_gone,
}


class Passed(NamedTuple):
    """A pass behind another one, with the edits in force before it and behind it."""

    last: Call
    before: Mapping[str, AnyEdit]
    call: Call
    now: Mapping[str, AnyEdit]


@cache
def decided() -> tuple[Harness, Call]:
    """The session behind its last rebase."""
    harness, _ = play_every_lane(LANES, ABLE, LANES)
    harness.assistant(text_part("Yes."))
    harness.user("Then go on.")
    return harness, harness.step()


@cache
def afterwards(what: str) -> Sequence[Passed]:
    """Three passes in which this happens; what the harness itself takes out may be a reason for a rebase."""
    harness, call = decided()
    harness = harness.twin()
    found: list[Passed] = []
    for _ in range(3):
        AFTERWARDS[what](harness)
        before, last, call = dict(harness.edits), call, harness.step()
        found.append(Passed(last, before, call, dict(harness.edits)))
    assert harness.session == harness.folded()
    without_cause = [one for one in found if not one.call.causes]
    assert len(without_cause) == len(found) - (what == "neighbour gone")
    return without_cause


def test_in_this_session_something_of_every_lane_is_in_force() -> None:
    harness, _ = decided()
    assert {lane.name for lane in LANES} == {name for edit in harness.edits.values() for name in marks(edit)}


@pytest.mark.parametrize("what", AFTERWARDS)
def test_what_was_sent_is_sent_again(what: str) -> None:
    for last, before, call, _ in afterwards(what):
        both = zip(last.raw, call.raw, strict=False)
        common = [old for old, _ in takewhile(lambda pair: pair[0] == pair[1], both)]
        sent = as_bytes(apply(common, before.values()))
        assert as_bytes(call.served)[: len(sent)] == sent
        assert faults(call.served, ABLE) == []


@pytest.mark.parametrize("what", AFTERWARDS)
@pytest.mark.parametrize("lane", LANES, ids=lambda lane: lane.name)
def test_what_a_lane_has_decided_stays_in_force(lane: Lane, what: str) -> None:
    for _, before, _, now in afterwards(what):
        of_lane = {key: edit for key, edit in before.items() if lane.name in marks(edit)}
        assert of_lane == {key: edit for key, edit in now.items() if key in of_lane}


def marks(edit: AnyEdit) -> set[str]:
    """The lanes that have made an edit: several may have appended to the same text."""
    return {one.partition(":")[0] for one in (edit.lane or "tags").split("+")}


@pytest.mark.parametrize("lane", LANES, ids=lambda lane: lane.name)
def test_behind_a_rebase_a_lane_has_nothing_more_to_decide(lane: Lane) -> None:
    harness, calls = play_every_lane(LANES, ABLE, LANES)
    recorded = [event for _, event in harness.log if isinstance(event, PartRecorded)]
    texts = {event.part: event.output or event.text for event in recorded}

    assert calls[-1].made.kind == "rebase"
    for session in (harness.session, harness.folded()):
        assert lane.rebase(harness.seen(view_of(session, harness.limits, texts))).edits == ()
        assert [*lane.needs(harness.seen(view_of(session, harness.limits)))] == []
