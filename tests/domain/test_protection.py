"""One rule of protection: what the desk names as protected stays, unless room is short, as its sentence says."""

import pytest
from hypothesis import given as given_any

from schemas.commands import DropQueue
from services.desk.core.commands import decide
from services.desk.core.session import DeskSession
from services.desk.core.tags import Tags, evolve
from services.domain.decision import CommandContext
from services.domain.protection import protected
from services.plan.lanes import LANES
from services.plan.lanes.base import PRESSING
from tests.helpers.given import given
from tests.helpers.harness import Harness, ran, rebases, replace
from tests.helpers.random_sessions import STORIES, Moment, Story, play, wildly
from tests.plan.planner.test_check import OTHERS

PROTECTED = 20
BIG = "x" * 48_000
"""12,000 tokens."""


def desk(moment: Moment | Harness) -> Tags:
    facts = moment.log if isinstance(moment, Harness) else moment.facts
    return given(evolve, Tags(), *(event for _, event in facts)).state


def overfull(outputs: int) -> Harness:
    """A session with so many outputs of 12,000 tokens each, all of them among the newest tags."""
    harness = Harness(replace(Harness().limits, protected_tags=PROTECTED), LANES)
    harness.context_limit = 60_000
    harness.user("go")
    for n in range(outputs):
        harness.assistant(ran(BIG, call=f"c{n}"))
        harness.step()
    return harness


def test_where_the_model_would_refuse_the_prompt_what_was_asked_for_goes_although_it_is_protected() -> None:
    harness = overfull(3)
    harness.drop(2, 4)
    harness.assistant(ran(BIG, call="more"), ran(BIG, call="and more"))
    call = harness.step()
    assert {2, 4} <= set(harness.session.drops.dropped)
    assert [] == [*harness.session.drops.queued]
    assert call.served[-1].parts[-1].output.endswith(BIG)


def test_the_desk_says_that_room_comes_first() -> None:
    harness = overfull(3)
    decision = decide(DeskSession(desk(harness)), DropQueue("2"), CommandContext(protected=PROTECTED))
    assert decision.text == "Queued, and kept while among the newest 20 and there is room for it: 2."


@pytest.mark.slow
@wildly
@given_any(STORIES)
def test_what_the_desk_calls_protected_stays_unless_room_is_short(story: Story) -> None:
    for moment in play(story, *OTHERS, auto_drop_tool_age=3, smart_drops=True):
        in_protection = protected(moment.call.state.conversation, story.protected)
        for rebase in rebases(moment.call.made):
            is_pressing = PRESSING.intersection(rebase.causes)
            assert is_pressing or in_protection.isdisjoint(rebase.dropped)
