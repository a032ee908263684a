"""What must hold whatever comes together: causes, wishes, neighbours, models, modes, counts, faults and length."""

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from types import FrameType, ModuleType
from typing import NoReturn

import pytest

from schemas.events import HistoryRequested, UsageSampled
from schemas.inbox import ErrorSeen, Mode, UsageSeen
from schemas.plan import AppendText, PrefixText
from services.domain.edits import ServedMessage, apply, faults
from services.domain.limits import Limits
from services.edges.client.adapter import as_sent
from services.plan.lanes import DROPS, LANES, TAGS, Lane, View, reasoning
from services.plan.planner import compose, plan
from services.plan.planner.causes import causes
from services.plan.planner.plan import STUCK, decide
from services.plan.session.state import evolve
from tests.helpers import every_lane
from tests.helpers.cells import cells
from tests.helpers.harness import (
    LIMITS,
    Call,
    Harness,
    answered,
    asked,
    edits_of,
    extensions,
    ran,
    rebases,
    replace,
    text_part,
    thought,
)
from tests.helpers.random_sessions import as_bytes
from tests.helpers.tool_calls import called

pytestmark = pytest.mark.slow

BIG = "x" * 16_000
"""4,000 tokens."""
NAMES = [lane.name for lane in LANES]


def is_steady(calls: Sequence[Call]) -> bool:
    """See that without a rebase all that was sent is sent again byte for byte."""
    for before, now in pairwise(calls):
        sent = as_bytes(before.served)
        assert now.causes or as_bytes(now.served)[: len(sent)] == sent
    return True


def going_on(harness: Harness, calls: int = 3) -> Iterator[Call]:
    """Calls with a few messages more each; the service starts anew before each of them, and the harness before one."""
    for n in range(calls):
        harness.assistant(text_part(f"So {n}."), called("bash", {"command": f"echo {n}"}, call=f"on{len(harness.log)}"))
        harness.user(f"And {n}?")
        harness.restart()
        if n == 1:
            harness.restart_harness()
        yield harness.step()


# A rebase, and calls behind it


@pytest.mark.parametrize("name", [*NAMES, "all of them"])
def test_what_a_rebase_has_changed_is_served_again_over_restarts_while_the_conversation_grows(name: str) -> None:
    lanes = [lane for lane in LANES if name in (lane.name, "all of them") or lane in (TAGS, DROPS)]
    harness, calls = every_lane.play(lanes, ("accepts_empty_content",), lanes)
    after = [*going_on(harness)]

    assert [call.causes for call in after] == [(), (), ()]
    assert is_steady([*calls, *after])
    assert harness.session == harness.folded()


# What leaves the conversation


@cache
def every_lane_at_work() -> Harness:
    return every_lane.play(LANES, (), LANES)[0]


@cells("at", lambda: range(len(every_lane_at_work().messages)))
def test_whichever_message_is_removed_the_plan_stays_sound_and_steady(at: int) -> None:
    """The anchor of a list or of a reminder, the owner of a call, a neighbour of what was left out, a boundary."""
    harness = every_lane_at_work().twin()
    gone = harness.messages[at].message
    harness.without(gone)
    call = harness.step()
    after = [*going_on(harness)]

    assert "unlisted" in call.causes
    assert gone not in {message.id for message in call.served}
    assert [faults(one.served, ()) for one in (call, *after)] == [[]] * 4
    assert is_steady([call, *after])
    assert harness.session == harness.folded()


# What runs in the background


def test_need_does_not_wait_for_a_run_that_compresses_history() -> None:
    harness = working(limits=replace(LIMITS, auto_drop_tool_age=0))
    harness.append(HistoryRequested(run="r", reason="force", first=1, last=2))
    harness.use(85_000)
    harness.assistant(text_part("still at work"))

    assert harness.step().causes == ("force",)


def working(limits: Limits = LIMITS, *, outputs: int = 4, lanes: Sequence[Lane] = LANES) -> Harness:
    """A session in the middle of a turn with large outputs, all of them sent."""
    harness = Harness(limits, lanes)
    harness.user("go")
    for n in range(outputs):
        harness.assistant(ran(BIG, call=f"c{n}"))
        harness.step()
    return harness


# Threshold, turn and force


def test_at_65_percent_room_is_made_between_turns_and_at_85_at_once() -> None:
    """Of 200,000 tokens: 2,000 new, 118,000 read from the cache and 10,000 written to it."""
    harness = working()
    harness.context_limit = 200_000
    harness.report(UsageSeen("a", input=2_000, cache_read=118_000, cache_write=10_000))
    harness.assistant(text_part("and on"))
    assert harness.step().causes == ()
    harness.report(UsageSeen("b", input=2_000, cache_read=158_000, cache_write=10_000))
    harness.assistant(text_part("and on"))
    call = harness.step()
    assert call.causes == ("force",)
    (event,) = rebases(call.made)
    assert (event.used, event.window, event.threshold) == (170_000, 200_000, 65.0)


def test_six_calls_of_a_session_change_what_was_sent_once() -> None:
    """Pressure in a turn waits for its end, all that waits is served then, and a pause after that changes nothing."""
    harness = Harness(LIMITS, LANES)
    harness.user("u3")
    harness.assistant(*(ran(BIG, call=f"a{n}") for n in range(5)))
    before = harness.step()
    harness.use(61_000, "p0")
    harness.user("u4")
    p1 = harness.step()
    harness.drop(2, 3, 4)
    harness.use(66_000, "p1")
    harness.assistant(ran("FILE", call="b1"))
    p2 = harness.step()
    harness.use(70_000, "p2")
    harness.assistant(ran("FILE", call="b2"))
    p3 = harness.step()
    harness.use(71_000, "p3")
    harness.assistant(text_part("done"))
    harness.user("u5")
    p4 = harness.step()
    harness.use(52_000, "p4")
    harness.assistant(ran("FILE", call="b3"))
    p5 = harness.step()
    harness.use(53_000, "p5")
    harness.assistant(text_part("done"))
    harness.wait(420)
    harness.add_message("user", replace(text_part("a task has ended"), synthetic=True))
    p6 = harness.step()

    assert [call.causes for call in (p1, p2, p3, p4, p5, p6)] == [
        (), (), (), ("pressure",), (), (),
    ]  # fmt: skip
    assert [event.dropped[:3] for event in rebases(p4.made)] == [[2, 3, 4]]
    assert is_steady([before, p1, p2, p3, p4, p5, p6])


# Pauses


def test_a_pause_is_rendered_behind_the_tag_and_stays_when_what_was_before_it_goes() -> None:
    harness = Harness(LIMITS, LANES)
    harness.user("hello")
    harness.wait(10)
    answer = harness.assistant(text_part("hi"))
    harness.step()
    harness.wait(8_100)
    harness.user("next")
    texts = harness.step().text
    harness.without(answer)

    assert texts == ["§1§ hello", "§2§ hi", "§3§ <!-- +2h 15m -->\nnext"]
    assert harness.step().text == ["§1§ hello", "§3§ <!-- +2h 15m -->\nnext"]
    harness.restart()
    harness.user("so")
    assert harness.step().text == ["§1§ hello", "§3§ <!-- +2h 15m -->\nnext", "§4§ so"]


# Calls and their ids


def test_an_id_that_comes_back_names_another_call_whose_output_stays() -> None:
    """Two answers call with one id; of the two results only the first is dropped."""
    harness = Harness()
    harness.user("go")
    harness.assistant(asked("grep:1"))
    harness.add_message("tool", answered("grep:1", "FIRST " * 50))
    harness.assistant(asked("grep:1"))
    harness.add_message("tool", answered("grep:1", "SECOND"))
    harness.user("on")
    harness.step()
    harness.drop(2)
    harness.flush()

    assert harness.step().text == ["§1§ go", "", "[dropped §2§]", "", "§3§ SECOND", "§4§ on"]


def test_an_id_that_comes_back_in_one_part_with_its_result_does_not_take_over_a_drop() -> None:
    harness = Harness()
    harness.user("go")
    harness.assistant(ran("FIRST " * 50, call="read:32"))
    harness.user("again")
    harness.step()
    harness.drop(2)
    harness.flush()
    harness.step()
    harness.assistant(ran("SECOND", call="read:32"))
    harness.user("on")

    assert harness.step().text == ["§1§ go", "[dropped §2§]", "§3§ again", "§4§ SECOND", "§5§ on"]


LONG = '{"path": "' + "a" * 1100 + '"}'
"""Arguments that a dropped call does not keep."""


@pytest.mark.parametrize("is_split", [True, False])
def test_of_parallel_calls_one_is_dropped_and_none_is_torn(*, is_split: bool) -> None:
    """One of them has failed, and in one part with its result another has not ended."""
    harness = Harness()
    harness.user("go")
    if is_split:
        harness.assistant(text_part("so"), *(asked(call, LONG) for call in "abc"))
        harness.add_message(
            "tool", answered("a", BIG), answered("b", BIG), replace(answered("c", "no"), status="error")
        )
    else:
        failed = replace(ran("no", LONG, call="c"), status="error")
        harness.assistant(text_part("so"), ran(BIG, LONG, call="a"), ran(BIG, LONG, call="b"), failed)
        harness.assistant(text_part("late"), ran("", LONG, call="d", pending=True))
    harness.user("on")
    harness.step()
    harness.drop(4)
    harness.flush()
    call = harness.step()

    assert [event.dropped for event in rebases(call.made)] == [[4]]
    assert faults(call.served, ()) == []
    assert [text for text in call.text if BIG in text] == ["§3§ " + BIG]


# Models


def test_a_switch_of_the_model_and_back_takes_along_what_waits_each_time() -> None:
    harness = working()
    harness.drop(2)
    harness.model = "sonnet"
    assert harness.step().causes == ("model",)
    harness.assistant(text_part("so"))
    assert harness.step().causes == ()
    harness.drop(3)
    harness.model = "opus"
    assert harness.step().causes == ("model",)


def test_reasoning_that_one_model_requires_comes_back_with_it_and_goes_with_the_other() -> None:
    lane = reasoning.LANE
    harness = Harness(replace(LIMITS, clear_reasoning_age=1, min_reclaim=1), (TAGS, DROPS, lane))
    harness.user("go")
    harness.assistant(thought("because " * 100), ran("FILE"))
    for _ in range(3):
        harness.assistant(ran(BIG, call=f"c{len(harness.messages)}"))
        harness.user("on")
    harness.step()
    kinds = []
    for model, able, number in (("a", (), 3), ("b", ("requires_reasoning_on_tool_calls",), 5), ("c", (), 7)):
        harness.model, harness.capabilities = model, ("accepts_empty_content", *able)
        harness.drop(number)
        kinds.append([part.kind for part in harness.step().served[1].parts])

    assert kinds == [["tool"], ["reasoning", "tool"], ["tool"]]


def test_another_way_to_reason_is_another_cache() -> None:
    harness = working()
    state = harness.session
    assert state.step is not None
    assert state.calls.before is not None
    deeper = replace(state, calls=replace(state.calls, step=replace(state.step, variant="high")))
    both = replace(state, calls=replace(state.calls, step=replace(state.step, variant="high", model="sonnet")))

    assert causes(state, LIMITS).free == ()
    assert causes(deeper, LIMITS).free == ("variant",)
    assert causes(both, LIMITS).free == ("model",)


def test_a_cache_that_stays_warm_for_ever_never_dies() -> None:
    harness = working(replace(LIMITS, cache_ttls={"opus": "never"}))
    harness.drop(2)
    harness.use(10_000)
    harness.wait(10**6)

    assert harness.step().causes == ()


# Modes


def test_without_the_tool_to_drop_there_are_numbers_that_nobody_sees_and_room_is_made_all_the_same() -> None:
    """At 66 % of the window."""
    harness = Harness(LIMITS, LANES)
    harness.mode = "reduce_off"
    harness.user("go")
    harness.assistant(*(ran(BIG, call=f"c{n}") for n in range(8)))
    harness.user("on")
    harness.step()
    harness.use(66_000)
    harness.user("more")
    call = harness.step()

    assert "pressure" in call.causes
    assert harness.session.conversation.last_number == 11
    assert [edit for edit in edits_of(call.made) if isinstance(edit, PrefixText | AppendText)] == []


def test_the_one_long_turn_of_a_sub_agent_does_not_wait_and_loses_only_what_is_old() -> None:
    """At 90 %: of 130 outputs the newest hundred stay, and nothing stands at the head."""
    harness = Harness(LIMITS, LANES)
    harness.mode = "subagent"
    harness.user("find it")
    seen: list[Call] = []
    for n in range(130):
        harness.assistant(ran("line\n" * 200, call=f"c{n}"))
        seen.append(harness.step())
    harness.use(70_000, "a")
    harness.assistant(text_part("on it"))
    early = harness.step()
    harness.use(90_000, "b")
    harness.assistant(text_part("nearly"))
    late = harness.step()

    assert (early.causes, late.causes) == (("cost", "pressure"), ())
    made = [*rebases(early.made), *rebases(late.made)]
    assert [number for event in made for number in event.dropped] == [*range(2, 33)]
    assert not any(key.startswith("head:") for key in harness.edits)
    assert is_steady([*seen, early, late])


def test_who_turns_out_to_be_a_sub_agent_keeps_what_it_was_sent() -> None:
    harness = working()
    before = harness.step()
    harness.mode = "subagent"
    harness.user("on")
    call = harness.step()

    assert as_bytes(call.served)[: len(before.served)] == as_bytes(before.served)
    assert call.text[-1] == "on"


# Counts of providers


def test_a_count_reported_twice_or_late_makes_one_rebase() -> None:
    harness = working()
    harness.use(90_000, "a3")
    harness.use(90_000, "a3")
    harness.assistant(text_part("so"))
    assert harness.step().causes == ("force",)
    harness.use(90_000, "a3")
    harness.use(86_000, "a1")
    harness.assistant(text_part("so"))
    assert harness.step().causes == ()


def test_a_count_of_nothing_moves_no_clock() -> None:
    harness = working()
    harness.drop(2)
    harness.use(10_000)
    harness.wait(200)
    harness.report(UsageSeen("placeholder", input=0))
    harness.wait(200)

    assert [event.message for _, event in harness.log if isinstance(event, UsageSampled)] == ["a4"]
    assert harness.step().causes == ("idle",)


# Refusals because of length


def refused(harness: Harness, words: str = "prompt is too long: 110000 tokens > 100000 maximum") -> None:
    harness.report(ErrorSeen(words))


@pytest.mark.parametrize("mode", ["primary", "reduce_off", "subagent"])
def test_a_prompt_that_was_refused_is_made_shorter_at_once_at_any_price(mode: Mode) -> None:
    """In the middle of a turn, with an older count far below the threshold."""
    harness = long_work().twin()
    harness.mode = mode
    harness.use(61_000)
    refused(harness)
    call = harness.step()

    assert call.causes == ("overflow",)
    assert [event.tokens_after < event.tokens_before - 10_000 for event in rebases(call.made)] == [True]
    assert harness.step().made.kind == "replay"


@cache
def long_work() -> Harness:
    return working(outputs=130)


def test_the_limit_that_a_refusal_reports_holds_from_then_on() -> None:
    harness = long_work().twin()
    harness.context_limit = 400_000
    refused(harness, "prompt token count of 150000 exceeds the limit of 128000")
    assert [event.window for event in rebases(harness.step().made)] == [128_000]
    harness.use(60_000, "later")
    harness.assistant(*(ran(BIG, call=f"d{n}") for n in range(16)))

    assert [event.window for event in rebases(harness.step().made)] == [128_000]


def test_where_nothing_more_can_go_a_refusal_is_reported_to_the_person_once() -> None:
    harness = Harness(LIMITS, LANES)
    harness.user("y" * 10**6)
    harness.step()
    refused(harness)
    harness.assistant(text_part("?"))
    call = harness.step()

    assert (call.causes, call.made.notices) == ((), (STUCK,))
    assert [event.delays for event in extensions(call.made)] == [["overflow"]]
    harness.user("and now?")
    assert harness.step().made.notices == ()


# Faults


STAGES = [
    (plan, "causes"), (plan, "prices_of"), (plan, "collect"), (plan, "extension"), (plan, "last_wins"),
    (plan, "served_tokens"), (plan, "revisions_of"), (plan, "new_faults"), (compose, "new_faults"),
    (compose, "with_edits"), (compose, "indexed"), (compose, "weigh"), (compose, "guarded"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "stage"), STAGES, ids=lambda one: getattr(one, "__name__", one))
def test_a_stage_that_breaks_leaves_no_half_of_a_plan(
    module: ModuleType, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call goes out with a whole plan, or with the one that the harness holds; the next one makes up for it."""
    harness = working(outputs=6)
    before = harness.step()
    harness.drop(2, 3)
    harness.flush()
    harness.assistant(thought("[cleared]"), called("ctx_reduce", {"drop": "2,3"}, call="r"))
    harness.user("on")
    with monkeypatch.context() as broken:
        broken.setattr(module, stage, out_of_order)
        is_whole, served = outcome(harness)
    after = harness.step()

    assert faults(served, harness.capabilities) == faults(after.served, harness.capabilities) == []
    assert is_whole or as_bytes(served)[: len(before.served)] == as_bytes(before.served)
    assert {2, 3} <= set(harness.session.drops.dropped)
    assert sorted(harness.session.drops.queued) == []
    assert harness.session == harness.folded()


def out_of_order(*_: object, **__: object) -> NoReturn:
    raise ValueError("out of order")


def outcome(harness: Harness) -> tuple[bool, Sequence[ServedMessage]]:
    """Whether a plan was made, and what is served: without one, what the harness holds."""
    known = harness.revision, dict(harness.edits)
    try:
        call = harness.step()
    except ValueError:
        assert (harness.revision, harness.edits) == known
        return False, apply([as_sent(message) for message in harness.messages], harness.edits.values())
    return True, call.served


# Length


def test_a_pass_costs_the_same_however_long_the_session_is() -> None:
    """In calls of functions, since no clock is fair."""
    short, long = (calls_of_a_pass(turns) for turns in (60, 1200))

    assert long <= 1.1 * short


def calls_of_a_pass(turns: int) -> int:
    """To take in the facts of a step with two new messages, and to decide on it."""
    harness = Harness(replace(LIMITS, protected_tags=20), LANES)
    for n in range(turns):
        harness.user(f"Question {n}")
        harness.assistant(text_part(f"Answer {n}"), ran("FILE", call=f"c{n}"))
    harness.step()
    state, known = harness.session, len(harness.log)
    harness.user("And now?")
    harness.assistant(text_part("So."), ran("FILE", call="new"))
    harness.report_step()
    count = 0

    def counted(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    for envelope, event in harness.log[known:]:
        state = evolve(state, event, envelope)
    made = decide(View(state, harness.limits))
    sys.setprofile(None)
    assert made.kind == "extend"
    return count
