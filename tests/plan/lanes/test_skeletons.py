"""Of what was dropped long ago the call goes as well, where that costs no cache."""

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.inbox import Capability, PartSeen
from schemas.plan import AnyEdit, AppendText, SetHead
from services.domain.edits import faults
from services.domain.limits import Limits, Prices
from services.plan.lanes import DROPS, TAGS, Change, Lane, eviction, skeletons
from services.plan.lanes.skeletons import MAX_CALLS, MOST_WITH_ARGUMENTS
from services.plan.planner.causes import causes
from services.plan.planner.compose import collect
from services.plan.planner.economics import prices_of
from services.plan.provider_rules.signed_thinking import boundary, place
from tests.helpers.adding import cleaning
from tests.helpers.harness import Call, Harness, edits_of, rebases, replace, text_part, thought
from tests.helpers.random_sessions import (
    ABILITIES,
    CHANCES,
    GROWTH,
    Moment,
    Story,
    idling,
    is_done_behind_a_rebase,
    is_steady,
    play,
    spares,
    wildly,
)
from tests.helpers.tool_calls import IDLE, after_a_pause, called, requested, returned, view_of, with_lane

SKELETONS = skeletons.LANE
FEW = 2
KEEPS_FEW = replace(skeletons.LANE, rebase=partial(skeletons.rebase, count=FEW))
LINES = "line\n" * 800
LONG = {"command": "x" * 1100}


def worked(harness: Harness, *calls: PartSeen) -> None:
    """The agent says something and makes each call, and a person goes on."""
    for call in calls:
        harness.assistant(text_part("Let me see."), call)
    harness.user("so")
    harness.step()


def runs(count: int) -> list[PartSeen]:
    return [called("bash", {"command": f"echo {n}"}, LINES, call=f"c{n}") for n in range(count)]


def tag(harness: Harness, call: str) -> int:
    """The number of the output of this call."""
    names = [part.part for message in harness.messages for part in message.parts if part.call == call]
    return max(harness.session.conversation.parts[name].number for name in names)


def drop(harness: Harness, *calls: str) -> None:
    harness.drop(*(tag(harness, call) for call in calls))


def dropped(harness: Harness, *calls: str) -> Call:
    """They are dropped while no cache is left."""
    drop(harness, *calls)
    return after_a_pause(harness)


def pressed(harness: Harness) -> Call:
    """A person goes on, and 70 % of the window are full."""
    harness.context_limit = 20_000
    harness.use(14_000, f"p{len(harness.log)}")
    harness.user("go on")
    return harness.step()


def left(call: Call) -> list[str]:
    """The calls that are served, whatever became of their answers."""
    return [part.call for message in call.served for part in message.parts if part.kind in ("tool", "tool_call")]


def by_lane(call: Call) -> list[AnyEdit]:
    return [edit for edit in edits_of(call.made) if edit.lane == skeletons.NAME]


def waiting(*capabilities: Capability) -> Harness:
    """Five calls: the second and the third were dropped, and would go if two newer ones were."""
    harness = with_lane(KEEPS_FEW)
    harness.capabilities = ("accepts_empty_content", *capabilities)
    worked(harness, *runs(5))
    dropped(harness, "c1", "c2")
    return harness


# Which calls go


def test_the_newest_twenty_keep_their_arguments_and_the_older_ones_go() -> None:
    harness = with_lane(SKELETONS)
    worked(harness, *runs(MOST_WITH_ARGUMENTS + 5))
    call = dropped(harness, *(f"c{n}" for n in range(MOST_WITH_ARGUMENTS + 5)))
    calls_left = [part for message in call.served for part in message.parts if part.kind == "tool"]

    assert [part.input for part in calls_left] == [
        f'{{"command": "echo {n}"}}' for n in range(5, MOST_WITH_ARGUMENTS + 5)
    ]
    assert {part.output[:9] for part in calls_left} == {"[dropped "}
    assert [message.id for message in call.served] == [message.id for message in call.raw]


def test_what_was_dropped_before_goes_when_newer_drops_follow() -> None:
    harness = with_lane(SKELETONS)
    worked(harness, *runs(MOST_WITH_ARGUMENTS + 5))
    assert len(left(dropped(harness, *(f"c{n}" for n in range(MOST_WITH_ARGUMENTS))))) == MOST_WITH_ARGUMENTS + 5
    call = dropped(harness, *(f"c{n}" for n in range(MOST_WITH_ARGUMENTS, MOST_WITH_ARGUMENTS + 5)))

    assert left(call) == [f"c{n}" for n in range(5, MOST_WITH_ARGUMENTS + 5)]
    assert [event.dropped for event in rebases(call.made)] == [
        [tag(harness, f"c{n}") for n in range(MOST_WITH_ARGUMENTS, MOST_WITH_ARGUMENTS + 5)]
    ]


def test_drops_that_left_nothing_are_counted_and_what_was_not_dropped_is_not() -> None:
    harness = with_lane(KEEPS_FEW)
    worked(harness, *runs(4), called("bash", LONG, call="c4"), called("bash", {}, call="c5"))

    assert left(dropped(harness, "c1", "c3", "c4")) == ["c0", "c2", "c3", "c5"]


def test_words_are_no_calls() -> None:
    harness = with_lane(KEEPS_FEW)
    worked(harness, *runs(2))
    harness.drop(1, 2, 4)

    assert left(dropped(harness, "c0", "c1")) == ["c0", "c1"]


def test_what_is_appended_to_an_answer_keeps_it() -> None:
    def appending(_: object, fresh: Sequence[object]) -> tuple[AnyEdit, ...]:
        return (AppendText(part="m2.1", text="Look!"),) if fresh else ()

    harness = with_lane(KEEPS_FEW)
    harness.lanes = (*harness.lanes, Lane("appending", rebase=lambda _: Change(), extend=appending))
    worked(harness, *runs(1))
    harness.lanes = harness.lanes[:-1]
    worked(harness, *runs(4)[1:])

    assert left(dropped(harness, "c0", "c1", "c2", "c3")) == ["c0", "c2", "c3"]


def test_of_very_many_some_wait_for_the_next_rebase() -> None:
    harness = with_lane(SKELETONS, prices={"default": Prices(read=0.0)})  # no rebase is made for what reading costs
    harness.context_limit = 1_000_000
    harness.capabilities = ("accepts_empty_content", "caches_exact_prefix")
    harness.assistant(text_part("Let me see."), *runs(MAX_CALLS + MOST_WITH_ARGUMENTS + 5))
    harness.user("so")
    harness.step()
    call = dropped(harness, *(f"c{n}" for n in range(MAX_CALLS + MOST_WITH_ARGUMENTS + 5)))

    assert len(left(call)) == MOST_WITH_ARGUMENTS + 5
    assert len(left(after_a_pause(harness))) == MOST_WITH_ARGUMENTS


# When they go


def test_under_pressure_what_stands_behind_another_change_goes_along() -> None:
    harness = waiting()
    drop(harness, "c0", "c3", "c4")
    call = pressed(harness)

    assert call.causes == ("pressure",)
    assert left(call) == ["c3", "c4"]


def test_under_pressure_what_stands_before_every_other_change_waits_for_a_pause() -> None:
    """It is no reason for a rebase by itself, either, however full the window is."""
    harness = waiting()
    drop(harness, "c3", "c4")
    call = pressed(harness)
    alone = pressed(harness)
    harness.use(19_000, "full")
    harness.assistant(text_part("so"))
    full = harness.step()

    assert (call.causes, alone.causes, full.causes) == (("pressure",), (), ())
    assert left(call) == left(alone) == left(full) == ["c0", "c1", "c2", "c3", "c4"]
    paused = after_a_pause(harness)
    assert left(paused) == ["c0", "c3", "c4"]
    assert by_lane(paused) == edits_of(paused.made)


def test_a_flush_takes_them_out() -> None:
    harness = waiting()
    drop(harness, "c3", "c4")
    harness.flush()

    assert left(harness.step()) == ["c0", "c3", "c4"]


def test_under_pressure_a_new_head_takes_them_along() -> None:
    harness = waiting()
    head = Lane("head", rebase=lambda _: Change((SetHead(slot=0, text="news", lane="head"),)))
    harness.lanes = (head, *harness.lanes)
    drop(harness, "c3", "c4")
    call = pressed(harness)

    assert call.causes == ("pressure",)
    assert left(call) == ["c0", "c3", "c4"]


@pytest.mark.parametrize(("gone", "goes"), [(0, True), (-1, False)])
def test_where_the_harness_removes_a_message_only_what_is_behind_it_goes(gone: int, *, goes: bool) -> None:
    harness = waiting()
    drop(harness, "c3", "c4")
    pressed(harness)
    harness.without(harness.messages[gone].message)
    call = harness.step()

    assert call.causes == ("unlisted",)
    assert left(call) == (["c0", "c3", "c4"] if goes else ["c0", "c1", "c2", "c3", "c4"])


def test_a_call_before_the_first_change_stays_with_a_result_behind_it() -> None:
    harness = with_lane(KEEPS_FEW)
    harness.assistant(text_part("so"), requested("bash", {"command": "ls"}, call="c0"))
    result = harness.add_message("tool", returned("bash", call="c0"))
    worked(harness, *runs(3)[1:])
    dropped(harness, "c0")
    drop(harness, "c1", "c2")
    pressed(harness)
    harness.change(f"{result}.0", output="late")
    call = harness.step()

    assert call.causes == ("changed",)
    assert left(call) == ["c0", "c1", "c2"]
    assert left(after_a_pause(harness)) == ["c1", "c2"]


def test_a_pause_whose_rebase_had_to_wait_is_no_free_moment_any_more() -> None:
    """The pause comes in the middle of a turn with signed thinking; at its end the cache is alive again."""
    harness = waiting("binds_signed_thinking")
    drop(harness, "c3", "c4")
    pressed(harness)
    harness.assistant(thought(signed=True), text_part("so"))
    harness.use(10_000, "a")
    harness.step()
    harness.use(10_000, "b")
    harness.wait(IDLE)
    harness.assistant(text_part("well"))
    assert harness.step().causes == ()
    assert harness.session.waits.causes == {"idle"}
    harness.use(10_000, "c")
    harness.assistant(text_part("done"))
    harness.user("on")
    call = harness.step()

    assert causes(call.state, harness.limits).pressure == ("idle",)
    assert left(call) == ["c0", "c1", "c2", "c3", "c4"]


# What goes with them, and what keeps them


def test_a_message_that_only_thought_and_called_goes_whole() -> None:
    harness = with_lane(KEEPS_FEW)
    harness.assistant(thought(), *runs(2))
    worked(harness, *(replace(call, call=f"d{n}") for n, call in enumerate(runs(2))))

    call = dropped(harness, "c0", "c1", "d0", "d1")
    assert [message.id for message in call.served] == ["m1", "m3", "m4", "m5"]


def test_signed_thinking_of_an_older_turn_goes_with_its_calls() -> None:
    harness = with_lane(KEEPS_FEW)
    harness.assistant(thought(signed=True), *runs(1))
    worked(harness, *runs(3)[1:])

    call = dropped(harness, "c0", "c1", "c2")
    assert [message.id for message in call.served] == ["m1", "m3", "m4", "m5"]


@pytest.mark.parametrize("words", [(), (text_part("so"),)])
def test_signed_thinking_of_the_running_turn_keeps_the_calls_next_to_it(words: tuple[PartSeen, ...]) -> None:
    harness = with_lane(KEEPS_FEW)
    harness.assistant(thought(signed=True), *words, *runs(1))
    harness.assistant(text_part("so"), *runs(4)[1:])
    harness.assistant(text_part("and on"))
    harness.step()

    assert left(dropped(harness, "c0", "c1", "c2", "c3")) == ["c0", "c2", "c3"]


def test_a_mark_of_the_harness_keeps_the_call_next_to_it() -> None:
    harness = with_lane(KEEPS_FEW)
    harness.assistant(PartSeen(message="", type="compaction", text="summary"), *runs(1))
    worked(harness, *runs(3)[1:])

    assert left(dropped(harness, "c0", "c1", "c2")) == ["c0", "c1", "c2"]


def test_call_and_result_in_two_messages_go_together() -> None:
    harness = with_lane(KEEPS_FEW)
    for n in range(3):
        harness.assistant(text_part("so"), requested("bash", {"command": "ls"}, call=f"c{n}"))
        harness.add_message("tool", returned("bash", call=f"c{n}"))
    harness.user("on")
    harness.step()
    call = dropped(harness, "c0", "c1", "c2")

    assert [message.id for message in call.served] == ["m1", "m2", "m4", "m5", "m6", "m7", "m8"]
    assert faults(call.served, ()) == []


def test_what_would_part_another_call_from_its_result_stays() -> None:
    harness = with_lane(KEEPS_FEW)
    parted(harness, "c0", "c1")
    worked(harness, *runs(4)[2:])
    call = dropped(harness, "c0", "c2", "c3")

    assert faults(call.served, ()) == []
    assert left(call) == ["c0", "c1", "c2", "c3"]


def test_what_stays_keeps_its_thinking() -> None:
    """The first two could go together. But the third cannot go, and then the first is looked at alone."""
    harness = with_lane(KEEPS_FEW)
    parted(harness, "c0", "c1")
    parted(harness, "c2", "c3")
    worked(harness, *runs(6)[4:])
    call = dropped(harness, "c0", "c1", "c2", "c4", "c5")

    assert faults(call.served, ()) == []
    assert left(call) == ["c0", "c2", "c3", "c4", "c5"]
    assert thinks_where_it_calls(call)
    assert left(after_a_pause(harness)) == ["c2", "c3", "c4", "c5"]


def parted(harness: Harness, *calls: str) -> None:
    """Words stand with the first result: without it they would stand between the second call and its own."""
    harness.assistant(thought(), *(requested("bash", {"command": "ls"}, call=call) for call in calls))
    harness.add_message("tool", returned("bash", call=calls[0]), text_part("there"))
    harness.add_message("tool", returned("bash", call=calls[1]))


def test_where_roles_must_alternate_no_message_goes_since_its_neighbour_may_go_later() -> None:
    harness = with_lane(KEEPS_FEW)
    harness.capabilities = ("requires_alternation", "merges_adjacent_assistants")
    harness.assistant(*runs(1))
    worked(harness, *runs(4)[1:])
    call = dropped(harness, "c0", "c1", "c2", "c3")
    for message in harness.messages[2:5]:
        harness.without(message.message)

    assert left(call) == ["c0", "c2", "c3"]
    assert faults(harness.step().served, harness.capabilities) == []


# What was decided


def test_a_neighbour_that_goes_a_late_answer_and_a_message_that_comes_back_change_nothing_of_it() -> None:
    harness = with_lane(KEEPS_FEW)
    worked(harness, *runs(5))
    dropped(harness, *(f"c{n}" for n in range(5)))
    harness.change("m2.1", output="late")
    assert left(harness.step()) == ["c3", "c4"]
    neighbour, itself = harness.messages[1], harness.messages[2]
    harness.without(neighbour.message)
    assert left(harness.step()) == ["c3", "c4"]
    harness.without(itself.message)
    harness.step()
    harness.messages += [neighbour, itself]

    assert left(harness.step()) == ["c3", "c4"]


# Anything


STORIES = st.builds(
    Story,
    around=st.lists(
        st.tuples(
            st.lists(GROWTH, max_size=4),
            st.lists(st.one_of(CHANCES, st.just(idling), st.just(cleaning(by_the_agent=False))), max_size=3),
        ),
        min_size=3,
        max_size=12,
    ),
    abilities=st.one_of(ABILITIES, st.just(("requires_reasoning_on_tool_calls",))),
    protected=st.sampled_from([1, 3]),
)
EVICTION = eviction.LANE


@wildly
@given(STORIES, st.sampled_from([(), (EVICTION,)]))
def test_whatever_happens_what_was_decided_stays_and_costs_no_cache(story: Story, others: tuple[Lane, ...]) -> None:
    limits = Limits(protected_tags=story.protected, auto_drop_tool_age=6, min_reclaim=200)
    moments = play(story, *others, KEEPS_FEW, auto_drop_tool_age=6)

    assert is_steady(moments)
    assert is_done_behind_a_rebase(moments, KEEPS_FEW, limits)
    assert spares(moments, KEEPS_FEW, limits)
    for moment in moments:
        why = causes(moment.call.state, limits)
        if why.free and not boundary(moment.call.state):
            assert moment.call.made.kind != "rebase" or rest(moment, limits).edits == ()
        elif by_lane(moment.call):
            assert first(by_lane(moment.call), moment) >= first_of_others(moment, limits, (TAGS, DROPS, *others))
        if "requires_reasoning_on_tool_calls" in story.abilities:
            assert thinks_where_it_calls(moment.call)


def rest(moment: Moment, limits: Limits) -> Change:
    """What the lane wants after the call, if any message may change."""
    return KEEPS_FEW.rebase(replace(view_of(moment.session, limits), is_free=True))


def first(edits: Sequence[AnyEdit], moment: Moment) -> int:
    step = moment.call.state.step
    return min(place(moment.call.state, edit) for edit in edits) if step else 0


def first_of_others(moment: Moment, limits: Limits, lanes: Sequence[Lane]) -> int:
    """Where what was sent changes without this lane; behind its end, where nothing does."""
    state, opened = moment.call.state, moment.call.opened
    why = causes(state, limits)
    view = view_of(state, limits, causes=why.names)
    view = replace(view, target=why.target, excess=why.excess, tail=why.tail)
    made = collect(view, lanes, prices_of(opened, limits))
    assert made.edits or why.forced
    return min([opened.unchanged + 1, *(found for edit in made.edits if (found := place(state, edit)))])


def thinks_where_it_calls(call: Call) -> bool:
    """See that a message with a call shows all that it thought."""
    thought_of = {message.id: [part for part in message.parts if part.kind == "reasoning"] for message in call.raw}
    calling = [message for message in call.served if any(part.kind in ("tool", "tool_call") for part in message.parts)]
    return all([part for part in one.parts if part.kind == "reasoning"] == thought_of[one.id] for one in calling)
