"""No thought is served behind other bytes than it was thought behind, and none again whose signature was refused."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.events import DropRequested, SignatureRefused
from schemas.inbox import ErrorSeen, MessageGone, PartGone
from services.plan.lanes import LANES, Lane
from tests.helpers.bound_thinking import refusals, thoughts
from tests.helpers.examples import examples
from tests.helpers.harness import ALL, BASIC, Call, Harness, edits_of, ran, rebases, replace, text_part, thought

BIG = "line\n" * 5_000
REFUSAL = "messages.1.content.0: Invalid `signature` in `thinking` block"


def thinking() -> Harness:
    """A session of a model that binds its thinking."""
    harness = Harness()
    harness.capabilities = ("accepts_empty_content", "binds_signed_thinking")
    harness.context_limit = 10**6
    harness.user("Read the log.")
    return harness


def answers(harness: Harness, *, call: str = "") -> str:
    """The agent thinks, and calls a tool or ends its turn."""
    ends = ran("FILE", call=call) if call else text_part("Done.")
    return harness.assistant(thought(signed=True), ends)


def drops(harness: Harness) -> None:
    harness.drop(2)
    harness.flush()


def begun(harness: Harness) -> list[Call]:
    """A turn with the large output, and the prompt of the next one; the drop of the output waits."""
    first = harness.step()
    harness.assistant(thought(signed=True), ran(BIG, call="big"))
    second = harness.step()
    answers(harness)
    harness.user("And now?")
    drops(harness)
    return [first, second]


def turn(harness: Harness, *, steps: int, lost: int = 0, name: str = "t") -> list[Call]:
    """A turn of so many calls, of which the first `lost` are made without their plan; the last one ends it."""
    calls = []
    for number in range(steps):
        calls.append(harness.step(takes=0 if number < lost else ALL))
        harness.wait(1)
        answers(harness, call=f"{name}.{number}" if number < steps - 1 else "")
    harness.user("Go on.")
    return calls


def signed(call: Call) -> list[str]:
    return thoughts(call.served)


# A rebase that comes late


@pytest.mark.parametrize("lost", [1, 2, 3])
@pytest.mark.parametrize("restart", [Harness.restart, Harness.restart_harness, lambda _: None])
def test_a_late_rebase_leaves_out_what_was_thought_meanwhile(lost: int, restart: Callable[[Harness], object]) -> None:
    harness = thinking()
    calls = begun(harness)
    calls += turn(harness, steps=3, lost=lost)
    restart(harness)
    late = harness.step()
    calls.append(late)

    assert "thinking" in late.causes
    assert "[dropped §2§]" in late.text
    assert signed(late) == []
    assert refusals(calls) == []


def test_what_a_late_rebase_leaves_out_stays_out_and_new_thoughts_stay_in() -> None:
    harness = thinking()
    calls = [*begun(harness), *turn(harness, steps=2, lost=1), *turn(harness, steps=3, name="u")]
    harness.restart()
    calls += turn(harness, steps=2, name="v")

    assert refusals(calls) == []
    assert len(signed(calls[-1])) == 4
    assert [len(rebases(call.made)) for call in calls[5:]] == [0] * len(calls[5:])


def test_a_rebase_lost_in_two_turns_leaves_out_the_thoughts_of_both() -> None:
    harness = thinking()
    calls = [*begun(harness), *turn(harness, steps=3, lost=1)]
    calls += turn(harness, steps=2, lost=1, name="u")
    calls.append(harness.step())

    assert refusals(calls) == []
    assert "[dropped §2§]" in calls[-1].text


def test_a_second_rebase_does_not_carry_a_lost_one_before_thoughts_of_the_running_turn() -> None:
    """What the harness itself changes stands behind those thoughts."""
    harness = thinking()
    calls = begun(harness)
    calls.append(harness.step(takes=0))
    answers(harness, call="a")
    calls.append(harness.step())
    unfinished = harness.assistant(text_part("I"))
    calls.append(harness.step())
    harness.without(unfinished)
    calls.append(harness.step())

    assert rebases(calls[-1].made)[0].causes == ["unlisted"]
    assert BIG in "".join(calls[-1].text)
    answers(harness)
    harness.user("Go on.")
    calls.append(harness.step())
    assert "[dropped §2§]" in calls[-1].text
    assert refusals(calls) == []


def test_thoughts_before_what_a_late_rebase_changes_stay() -> None:
    harness = thinking()
    calls = turn(harness, steps=1, name="a")
    calls.append(harness.step())
    harness.assistant(thought(signed=True), ran(BIG, call="big"))
    calls.append(harness.step())
    harness.user("And now?")
    harness.drop(4)
    harness.flush()
    calls += turn(harness, steps=2, lost=1, name="b")
    calls.append(harness.step())

    assert "[dropped §4§]" in calls[-1].text
    assert signed(calls[-1]) == ["m2.0"]
    assert refusals(calls) == []


# What the harness changes itself


def test_a_message_deleted_in_an_earlier_turn_takes_the_thoughts_behind_it_along() -> None:
    harness = thinking()
    calls = [*turn(harness, steps=2), *turn(harness, steps=2, name="u")]
    harness.without(harness.messages[0].message)
    calls.append(harness.step())

    assert signed(calls[-1]) == []
    assert refusals([calls[-1]]) == []


def test_nothing_before_thoughts_that_hold_is_changed_with_what_the_harness_changed_behind_them() -> None:
    harness = thinking()
    calls = begun(harness)
    calls.append(harness.step())
    harness.assistant(thought(signed=True), ran(BIG, call="a"))
    calls.append(harness.step())
    harness.drop(harness.session.conversation.last_number)
    harness.flush()
    cut_off = harness.assistant(text_part("I"))
    calls.append(harness.step())
    harness.without(cut_off)
    calls.append(harness.step())

    assert calls[-1].causes == ("unlisted",)
    assert refusals(calls) == []
    assert harness.session.waits.flush
    answers(harness)
    harness.user("Go on.")
    calls.append(harness.step())
    assert "flush" in calls[-1].causes
    assert refusals(calls) == []


def test_thoughts_that_a_change_voided_in_their_own_turn_go_when_it_is_over() -> None:
    harness = thinking()
    calls = turn(harness, steps=1)
    calls.append(harness.step())
    answers(harness, call="a")
    calls.append(harness.step())
    harness.without(harness.messages[0].message)
    harness.step()
    harness.restart()
    ended = answers(harness)
    harness.user("Go on.")
    after = harness.step()

    assert "thinking" in after.causes
    assert signed(after) == []  # what was thought last goes, too: the thoughts before it have left a gap
    assert ended in {message.id for message in after.served}


@pytest.mark.parametrize("field", ["system", "agent"])
def test_another_system_prompt_takes_all_older_thoughts_along(field: str) -> None:
    harness = thinking()
    turn(harness, steps=2)
    setattr(harness, field, "another")
    if field == "agent":
        harness.system = ""
    call = harness.step()

    assert "thinking" in call.causes
    assert signed(call) == []


# A signature that is refused


def refused(harness: Harness, words: str = REFUSAL) -> None:
    """The provider refuses the call."""
    harness.report(ErrorSeen(words))


def test_after_a_refused_signature_all_thinking_of_earlier_turns_is_left_out_once() -> None:
    harness = thinking()
    calls = [*turn(harness, steps=3), harness.step()]
    refused(harness)
    harness.user("Hello?")
    after = harness.step()
    calls += [after, harness.step()]

    assert signed(calls[-3]) != []
    assert after.causes == ("signature",)
    assert signed(after) == signed(calls[-1]) == []
    assert calls[-1].causes == ()
    assert harness.folded() == harness.session


def test_in_the_running_turn_the_newest_answer_that_calls_keeps_its_thinking() -> None:
    harness = thinking()
    turn(harness, steps=2)
    harness.step()
    answers(harness, call="a")
    harness.step()
    newest = answers(harness, call="b")
    harness.step()
    refused(harness)
    again = harness.step()

    assert signed(again) == [f"{newest}.0"]
    refused(harness)
    harness.user("Hello?")
    after = harness.step()
    assert signed(after) == []


def test_thinking_without_a_known_signature_is_left_out_after_a_refusal_too() -> None:
    harness = thinking()
    harness.step()
    harness.assistant(thought("hm"), text_part("so"))
    harness.user("Go on.")
    harness.step()
    refused(harness)
    harness.user("Hello?")
    assert [part.kind for message in harness.step().served for part in message.parts] == ["text"] * 4


def test_what_was_left_out_for_its_signature_is_never_sent_again() -> None:
    harness = thinking()
    turn(harness, steps=3)
    harness.step()
    refused(harness)
    harness.user("Hello?")
    calls = [harness.step()]
    gone = {edit.part for edit in edits_of(calls[0].made) if edit.lane == "signature"}
    calls += turn(harness, steps=2, name="u")
    harness.drop(2)
    harness.flush()
    harness.restart()
    calls += turn(harness, steps=2, name="v")
    harness.restart_harness()
    calls += turn(harness, steps=1, name="w")

    assert gone
    assert all(gone.isdisjoint(signed(call)) for call in calls)


def test_a_refusal_with_nothing_left_to_leave_out_changes_nothing() -> None:
    harness = thinking()
    harness.step()
    harness.assistant(text_part("Done."))
    harness.user("Go on.")
    harness.step()
    refused(harness)
    assert harness.step().causes == ()


def test_a_lost_answer_to_a_refusal_comes_with_the_next_call() -> None:
    harness = thinking()
    turn(harness, steps=2)
    harness.step()
    refused(harness)
    harness.user("Hello?")
    lost = harness.step(takes=0)
    again = harness.step()

    assert lost.made.kind == "rebase"
    assert signed(again) == []


def test_a_refused_signature_is_of_the_model_that_refused_it() -> None:
    harness = thinking()
    harness.step()
    refused(harness)
    found = [event for _, event in harness.log if isinstance(event, SignatureRefused)]
    assert found == [SignatureRefused(text=REFUSAL, provider="anthropic", model="opus")]
    assert replace(found[0], text="") != found[0]


# Where the running turn begins


def queued_behind(harness: Harness) -> list[Call]:
    """A prompt that came while the agent was at work, behind the thoughts of the running turn, and was deleted."""
    calls = begun(harness)
    harness.append(DropRequested(tags=[1]))
    calls.append(harness.step())
    answers(harness, call="a")
    late = harness.user("Wait.")
    calls.append(harness.step())
    harness.report(MessageGone(message=late))
    harness.without(late)
    return calls


def test_a_deleted_prompt_begins_no_turn() -> None:
    harness = thinking()
    calls = queued_behind(harness)
    calls.append(harness.step())
    answers(harness, call="c")
    harness.flush()
    calls.append(harness.step())

    assert harness.session.turn == harness.session.conversation.messages["m4"].ordinal
    assert calls[-1].causes == ()
    assert refusals(calls) == []
    assert harness.folded() == harness.session


def test_a_prompt_that_loses_its_words_begins_no_turn() -> None:
    harness = thinking()
    turn(harness, steps=1)
    harness.step()
    ordinal = harness.session.turn
    newest = harness.messages[-1]
    harness.report(PartGone(message=newest.message, part=newest.parts[0].part))
    assert 0 < harness.session.turn < ordinal


def test_without_a_persons_words_the_turn_begins_with_what_a_user_sent() -> None:
    """A summary has taken the place of all prompts, and the agent goes on."""
    harness = thinking()
    turn(harness, steps=2)
    harness.step()
    harness.messages = []
    summary = harness.add_message("user", replace(text_part("Go on."), synthetic=True))
    answers(harness, call="a")
    harness.step()
    answers(harness, call="b")
    harness.flush()
    waiting_call = harness.step()

    assert harness.session.turn == harness.session.conversation.messages[summary].ordinal
    assert (waiting_call.causes, len(signed(waiting_call))) == ((), 2)


# Whatever happens

Act = Callable[[Harness], list[Call]]
ACTS: dict[str, Act] = {
    "a call": lambda harness: [harness.step()],
    "a call without its plan": lambda harness: [harness.step(takes=0)],
    "a call that nobody asks for": lambda harness: [harness.step(asks=False)],
    "a call that nobody hears of": lambda harness: [harness.step_unreported()],
    "a restart": lambda harness: _nothing(harness.restart()),
    "a restart of the harness": lambda harness: _nothing(harness.restart_harness()),
    "an idle hour": lambda harness: _nothing(harness.use(1_000, f"u{len(harness.log)}"), harness.wait(3_600)),
    "a flush": lambda harness: _nothing(harness.flush()),
    "a drop": lambda harness: _nothing(
        harness.drop(len(harness.log) % (harness.session.conversation.last_number or 1) + 1)
    ),
    "a refusal": lambda harness: _nothing(refused(harness), harness.user("Hello?")),
    "pressure": lambda harness: _nothing(harness.use(90_000, f"u{len(harness.log)}")),
}
"""What may happen between two messages; a message comes only behind a call."""
MESSAGES: dict[str, Callable[[Harness], str]] = {
    "thinks and reads": lambda harness: harness.assistant(thought(signed=True), ran(BIG, call=f"c{len(harness.log)}")),
    "reads": lambda harness: harness.assistant(ran(BIG, call=f"c{len(harness.log)}")),
    "thinks and ends": lambda harness: harness.assistant(thought(signed=True), text_part("Done.")),
    "only thinks": lambda harness: harness.assistant(thought(signed=True)),
    "asks": lambda harness: harness.user("Go on."),
}


def _nothing(*_: object) -> list[Call]:
    return []


@given(
    st.lists(st.tuples(st.sampled_from([*MESSAGES]), st.lists(st.sampled_from([*ACTS]), max_size=4)), max_size=14),
    st.sampled_from([BASIC, LANES]),
)
@settings(max_examples=examples(120), deadline=None, suppress_health_check=list(HealthCheck))
def test_no_thought_is_ever_served_behind_other_bytes(
    story: list[tuple[str, list[str]]], lanes: tuple[Lane, ...]
) -> None:
    harness = thinking()
    harness.lanes, harness.context_limit = lanes, 100_000
    calls = [harness.step()]
    for message, acts in story:
        MESSAGES[message](harness)
        for act in acts:
            calls += ACTS[act](harness)
            harness.wait(1)
        calls.append(harness.step())

    assert refusals(calls) == []
    assert harness.folded() == harness.session


def test_where_nobody_thought_no_thought_is_void_when_the_system_prompt_changes() -> None:
    harness = thinking()
    for system in ("v1", "v2"):
        harness.system = system
        harness.assistant(text_part("I see."))
        harness.step()
    assert harness.session.calls.system_changed
    assert harness.session.thinking.void is None
