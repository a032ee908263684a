"""The mode of a session: its first step sets it, and it stays."""

from collections.abc import Sequence
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from schemas.events import StepOpened
from schemas.inbox import Mode, Seen, SessionSeen, StepSeen
from services.plan.lanes import LANES
from services.tagger.core.state import TaggedSession
from tests.helpers.examples import examples
from tests.helpers.given import Given
from tests.helpers.harness import Harness, text_part
from tests.tagger.test_decide import START, inbound, listing, message, opened, step, text

CHILD = SessionSeen(parent="another", mode="subagent")
MODES = st.sampled_from(get_args(Mode))


def in_mode(name: str, mode: Mode, messages: str = "u") -> StepSeen:
    return StepSeen(name, messages=listing(messages), count=len(messages), mode=mode)


def stepped(*modes: Mode, first: Sequence[Seen] = ()) -> Given[TaggedSession]:
    """A session with a step in each of these modes."""
    now = START.when(inbound(*first, message("u", text("u0"), role="user")))
    for number, mode in enumerate(modes, 1):
        now = now.when(inbound(in_mode(f"s{number}", mode)))
    return now


def modes(now: Given[TaggedSession]) -> list[str]:
    return [event.mode for event in now.log if isinstance(event, StepOpened)]


# The mode stays


@pytest.mark.parametrize("first", ["primary", "reduce_off", "subagent", "additive"])
@pytest.mark.parametrize("later", ["primary", "reduce_off", "additive"])
def test_the_mode_of_the_first_step_stays(first: Mode, later: Mode) -> None:
    """A list of tools that changes, an adapter that has forgotten, or another compactor, changes no session in work."""
    assert [first, first] == modes(stepped(first, later))


@pytest.mark.parametrize("first", ["primary", "reduce_off"])
def test_that_an_agent_leads_a_session_is_learned_once(first: Mode) -> None:
    assert [first, "subagent", "subagent", "subagent"] == modes(stepped(first, "subagent", first, "primary"))


def test_a_session_that_only_adds_goes_on_so_whoever_leads_it() -> None:
    assert ["additive", "additive"] == modes(stepped("additive", "subagent"))


def test_what_opened_a_session_says_that_an_agent_leads_it() -> None:
    assert ["subagent"] == modes(stepped("primary", first=[CHILD]))


def test_a_session_that_turns_out_to_be_an_agent_s_is_one_from_its_next_step_on() -> None:
    now = (
        stepped("primary")
        .when(inbound(CHILD))
        .when(inbound(in_mode("s2", "primary")))
        .when(inbound(in_mode("s3", "primary")))
    )

    assert ["primary", "subagent", "subagent"] == modes(now)


@settings(max_examples=examples(200), deadline=None)
@given_any(st.lists(MODES, min_size=1, max_size=8))
def test_over_any_steps_a_session_changes_its_mode_at_most_once(modes_seen: list[Mode]) -> None:
    found = modes(stepped(*modes_seen))

    own = [mode for mode in found if mode != "hidden"]
    changes = [(before, after) for before, after in pairwise(own) if before != after]
    assert changes in ([], [("primary", "subagent")], [("reduce_off", "subagent")])
    assert own[:1] == [mode for mode in modes_seen if mode != "hidden"][:1]


# Helpers


def test_a_helper_s_call_is_no_step_of_a_session_that_works() -> None:
    now = stepped("primary")

    now = now.when(inbound(message("v", text("v0"), role="user"), in_mode("h", "hidden", "uv")))
    assert not [event for event in now.made if isinstance(event, StepOpened)]
    now.when(inbound(step("s2", "uv", count=2))).then_only(StepOpened, opened("s2", 1, 2, 2, "s1"))


def test_a_session_of_a_helper_is_one_and_stays_open_for_others() -> None:
    assert ["hidden", "hidden", "primary", "primary"] == modes(stepped("hidden", "hidden", "primary", "reduce_off"))


def test_a_helper_s_call_in_between_leaves_the_plan_of_the_session_as_it_is() -> None:
    """Neither its prompt, nor its agent, nor its model is a reason to send anything anew."""
    harness = talking()
    before = harness.step()
    helper = StepSeen("h", mode="hidden", agent="title", model="small", system_digest="another", messages=listing(""))

    harness.report(helper)
    harness.assistant(text_part("on it"))
    harness.user("and now?")
    after = harness.step()

    assert () == after.causes
    assert after.served[: len(before.served)] == before.served
    assert 2 == harness.session.calls.count


def talking(mode: Mode = "primary") -> Harness:
    harness = Harness(lanes=LANES)
    harness.mode = mode
    harness.user("go")
    return harness


# What a change of mode means


def test_what_was_sent_stays_when_a_session_turns_out_to_be_an_agent_s() -> None:
    harness = talking()
    first = harness.step()
    harness.assistant(text_part("looking"))
    harness.report(CHILD)

    second = harness.step()

    assert "subagent" == second.opened.mode
    assert () == second.causes
    assert second.served[: len(first.served)] == first.served


def test_a_decision_on_facts_of_another_release_holds_without_a_mode() -> None:
    """Steps that were recorded before there were modes are those of a person's session."""
    assert "primary" == START.when(inbound(message("u", text("u0"), role="user"), step("s1", "u"))).state.mode
