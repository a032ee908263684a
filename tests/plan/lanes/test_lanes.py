"""How lanes are found, and what they look for together."""

import re
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from msgspec.structs import replace

from schemas.plan import ReplaceText
from services.domain.limits import Limits
from services.plan import lanes
from services.plan.lanes import LANES
from services.plan.lanes.base import Change, Lane, View, emptying, finders_of
from services.plan.lanes.index import in_order, indexed
from services.plan.session.state import Session, with_edits
from tests.helpers.random_sessions import STORIES, Story, play, wildly

NAMES = [lane.name for lane in LANES]
"""The names that stand in the log."""


def test_all_lanes_are_found_and_asked_in_the_order_that_they_declare() -> None:
    folder = Path(lanes.__file__).parent
    declared = [file.stem for file in folder.glob("*.py") if re.search("^LANE = ", file.read_text(), re.MULTILINE)]
    assert declared
    assert {name.replace("_", " ") for name in declared} == {*lanes.PUBLIC_NAMES.values()}
    assert {*NAMES} == {*lanes.PUBLIC_NAMES}
    assert sorted({lane.order for lane in LANES}) == [lane.order for lane in LANES]


def test_the_order_is_the_same_in_every_process() -> None:
    code = f"from {lanes.__name__} import LANES; print(*(lane.name for lane in LANES))"
    found = [
        subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in ("1", "2")
    ]
    assert {" ".join(NAMES)} == {one.stdout.decode().strip() for one in found}


def test_a_lane_that_the_settings_do_not_want_is_not_asked() -> None:
    (lane,) = [lane for lane in LANES if lane.name == "superseded"]
    view = View(limits=Limits(smart_drops=True), session=Session())
    assert lane.works(view)
    assert not lane.works(View(limits=Limits(smart_drops=False), session=view.session))


def test_what_a_lane_has_emptied_is_served_no_more_and_each_lane_says_whether_it_empties() -> None:
    session = with_edits(Session(), [ReplaceText(part="a.0", text="", lane="mine")])
    mine, other = Lane("mine", lambda _: Change(), empties=True), Lane("other", lambda _: Change(), empties=True)
    assert not View(session, Limits(), emptying=emptying([mine, other])).is_served("a.0")
    assert View(session, Limits(), emptying=emptying([replace(mine, empties=False), other])).is_served("a.0")
    assert {"drops", "spent", "superseded", "duplicates", "images", "errors", "eviction"} <= emptying(LANES)


@wildly
@given(STORIES)
def test_a_message_knows_its_parts_as_the_conversation_does(story: Story) -> None:
    for moment in play(story):
        conversation = moment.session.conversation
        for message in conversation.messages.values():
            assert message.known == tuple(conversation.parts[name] for name in message.parts)


@wildly
@given(STORIES)
def test_the_index_holds_what_each_finder_would_find_alone(story: Story) -> None:
    session = play(story)[-1].session
    finders = finders_of(LANES)
    index = indexed(session, finders)
    assert [*in_order(session)] == [*index.placed]
    for lane, finder in finders.items():
        is_meant = finder.predicate(session)
        wanted = [
            (placed.ordinal, part)
            for placed in index.placed
            for part in placed.parts
            if finder.role in ("", placed.role)
            and (not finder.kinds or part.recorded.kind in finder.kinds)
            and (
                (finder.with_dropped and part.number in session.drops.dropped)
                or (finder.with_queued and part.number in session.drops.queued)
                or (is_meant is not None and is_meant(part))
            )
        ]
        assert wanted == [(seen.placed.ordinal, seen.part) for seen in index.parts(lane)]
        ordinals = [ordinal for ordinal, _ in wanted]
        assert list(dict.fromkeys(ordinals)) == [placed.ordinal for placed in index.messages(lane)]
