"""Who answers a question of a room: the first harness, once; and an answer that was paid for is not paid for again."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.commands import Command
from schemas.events import (
    Event,
    QuestionAnswered,
    QuestionPut,
    QuestionTaken,
    QuestionWithdrawn,
    SessionIdled,
)
from schemas.question_commands import QuestionAnswer, QuestionRequest, QuestionTake, QuestionWithdraw
from services.desk.core.commands import decide
from services.desk.core.questions import LEASE, MEMORY, MOST_OPEN, MOST_TEXT, Questions, evolve
from services.domain.decision import CommandContext, Decision
from tests.helpers import examples as number_of
from tests.helpers.given import Given, given

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=100)
ROOM = CommandContext(trust="historian", now=NOON)
HARNESS = CommandContext(trust="agent", now=NOON)


def project(*events: Event) -> Given[Questions]:
    return given(evolve, Questions(), *events)


def request(name: str = "q", until: datetime = LATER) -> QuestionRequest:
    return QuestionRequest(name, "historian", "small", "You count.", "How many sheep?", 100, until, "s1")


def put(name: str = "q", until: datetime = LATER) -> QuestionPut:
    return QuestionPut(name, "historian", "small", "You count.", "How many sheep?", 100, until, "s1")


def taken(taker: str = "a", at: datetime = NOON, name: str = "q") -> QuestionTaken:
    return QuestionTaken(name, taker, at + LEASE)


def answered(taker: str = "a", failure: str = "", name: str = "q") -> QuestionAnswered:
    return QuestionAnswered(name, taker, "" if failure else "3", failure, origin="s1")


def at(moment: datetime, context: CommandContext = HARNESS) -> CommandContext:
    return replace(context, now=moment)


def decided(before: Given[Questions], command: Command, context: CommandContext = HARNESS) -> Decision:
    return decide(before.state, command, context)


def test_a_question_is_put_with_the_session_that_it_is_for() -> None:
    assert Decision(ok=True, text="Asked.", events=(put(),)) == decided(project(), request(), ROOM)


def test_a_question_that_is_open_is_not_put_twice() -> None:
    assert (True, (), 1) == _short(decided(project(put()), request(), ROOM))
    assert (True, (), 1) == _short(decided(project(put(), taken()), request(until=LATER + LEASE), ROOM))


def test_a_question_that_nobody_has_taken_is_put_anew_for_a_longer_time() -> None:
    longer = LATER + timedelta(seconds=50)
    before = project(put())
    assert (put(until=longer),) == decided(before, request(until=longer), ROOM).events
    assert [2] == [one.seq for one in before.and_given(put(until=longer)).state.offered(LATER)]


def test_an_answer_that_was_paid_for_answers_the_same_question_again() -> None:
    assert (True, (), 3) == _short(decided(project(put(), taken(), answered()), request(), ROOM))


@pytest.mark.parametrize("end", [answered(failure="busy"), QuestionWithdrawn("q")])
def test_what_was_not_answered_may_be_asked_again(end: Event) -> None:
    before = project(put(), taken(), end)
    assert (put(),) == decided(before, request(), ROOM).events
    assert [] == [*before.state.offered(NOON)]
    assert [4] == [one.seq for one in before.and_given(put()).state.offered(NOON)]


def test_an_answer_that_could_not_be_used_is_withdrawn_and_asked_for_anew() -> None:
    before = project(put(), taken(), answered())
    decision = decided(before, QuestionWithdraw("q", "it is no JSON"), ROOM)
    assert (QuestionWithdrawn("q", "it is no JSON"),) == decision.events
    assert (put(),) == decided(before.and_given(*decision.events), request(), ROOM).events


def test_a_question_whose_time_is_over_is_not_put() -> None:
    assert "Nothing was asked: it is over already." == decided(project(), request(until=NOON), ROOM).text


def test_of_many_open_questions_one_more_is_refused() -> None:
    many = project(*(put(f"q{number}") for number in range(MOST_OPEN)))
    decision = decided(many, request("one more"), ROOM)
    assert (False, ()) == (decision.ok, decision.events)
    assert "64 questions of this project wait already; ask again later." in decision.text
    assert decided(many, request("one more", until=LATER + LEASE), at(LATER, ROOM)).ok


def test_the_first_harness_takes_a_question_and_others_are_refused_while_that_holds() -> None:
    decision = decided(project(put()), QuestionTake("q", "a"))
    assert Decision(ok=True, text="Taken: answer it until 12:03:00 UTC.", events=(taken(),)) == decision
    before = project(put(until=LATER + LEASE), taken())
    assert (True, (), 2) == _short(decided(before, QuestionTake("q", "a")))
    assert "Nothing was taken: another harness was faster" in decided(before, QuestionTake("q", "b")).text
    assert (taken("b", NOON + LEASE),) == decided(before, QuestionTake("q", "b"), at(NOON + LEASE)).events


@pytest.mark.parametrize(
    ("taker", "begun", "moment", "expected"),
    [
        ("a", (), NOON, [1, 2]),
        ("a", ("q",), NOON, [2]),
        ("a", ("r",), NOON, [1, 2]),
        ("b", (), NOON, [2]),
        ("", (), NOON, [2]),
        ("a", ("q",), NOON + LEASE, [1, 2]),
        ("b", (), NOON + LEASE, [1, 2]),
        ("a", (), NOON + 2 * LEASE, []),
    ],
)
def test_a_question_is_offered_to_who_may_take_it_and_to_its_taker_until_that_one_has_begun(
    taker: str, begun: Sequence[str], moment: datetime, expected: Sequence[int]
) -> None:
    before = project(put(until=NOON + 2 * LEASE), put("r", until=NOON + 2 * LEASE), taken())
    assert expected == [one.seq for one in before.state.offered(moment, taker, frozenset(begun))]


@pytest.mark.parametrize(
    ("before", "moment", "why"),
    [
        (project(), NOON, "this question is not known, or no longer"),
        (project(put()), LATER, "the time for this question is over"),
        (project(put(), taken(), answered()), NOON, "this question is answered already"),
        (project(put(), QuestionWithdrawn("q")), NOON, "this question was withdrawn"),
    ],
)
def test_what_is_over_cannot_be_taken(before: Given[Questions], moment: datetime, why: str) -> None:
    decision = decided(before, QuestionTake("q", "a"), at(moment))
    assert (False, (), None) == _short(decision)
    assert decision.text.startswith(f"Nothing was taken: {why}; ask for another one")


def test_an_answer_is_stored_once_with_what_it_cost() -> None:
    command = QuestionAnswer("q", "a", "3", model="anthropic/small", tokens_in=9, tokens_out=1, cached=4, usd=0.01)
    decision = decided(project(put(), taken()), command)
    event = QuestionAnswered("q", "a", "3", "", "anthropic/small", 9, 1, 4, 0.01, "s1")
    assert Decision(ok=True, text="Stored.", events=(event,)) == decision
    assert (True, (), 3) == _short(decided(project(put(), taken(), event), command))


def test_a_late_answer_counts_as_long_as_nobody_else_has_taken_the_question() -> None:
    before = project(put(), taken())
    assert decided(before, QuestionAnswer("q", "a", "3"), at(NOON + 2 * LEASE)).events
    assert not decided(before.and_given(taken("b")), QuestionAnswer("q", "a", "3")).ok


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (project(), "this question is not known, or no longer"),
        (project(put()), "only who has taken a question may answer it"),
        (project(put(), taken("b")), "only who has taken a question may answer it"),
        (project(put(), taken("b"), answered("b")), "this question is answered already"),
        (project(put(), taken(), QuestionWithdrawn("q")), "this question was withdrawn"),
    ],
)
def test_nobody_else_answers(before: Given[Questions], why: str) -> None:
    decision = decided(before, QuestionAnswer("q", "a", "3"))
    assert (False, (), None) == _short(decision)
    assert decision.text.startswith(f"Nothing was stored: {why}")


@pytest.mark.parametrize(
    "command",
    [
        QuestionAnswer("q", "a", "x" * (MOST_TEXT + 1)),
        QuestionAnswer("q", "a", failure="x" * 2001),
        QuestionAnswer("q", "a", "3", model="x" * 201),
        QuestionAnswer("q", "a", "3", tokens_in=-1),
        QuestionAnswer("q", "a", "3", tokens_out=10**13),
        QuestionAnswer("q", "a", "3", usd=-1.0),
        QuestionAnswer("q", "a", "3", usd=1e12),
    ],
)
def test_an_answer_beyond_all_measure_is_refused_with_what_would_be_right(command: QuestionAnswer) -> None:
    decision = decided(project(put(), taken()), command)
    assert (False, ()) == (decision.ok, decision.events)
    assert decided(project(put(), taken()), QuestionAnswer("q", "a", "x" * MOST_TEXT)).ok


@pytest.mark.parametrize(
    "command", [request(""), request("x" * 201), QuestionTake("q", ""), QuestionTake("q", "x" * 201)]
)
def test_an_id_has_a_length(command: Command) -> None:
    context = ROOM if isinstance(command, QuestionRequest) else HARNESS
    assert "of 1 to 200 characters" in decided(project(put()), command, context).text


def test_nobody_withdraws_what_is_not_known() -> None:
    assert (False, (), None) == _short(decided(project(), QuestionWithdraw("q"), ROOM))
    assert (True, (), 2) == _short(decided(project(put(), QuestionWithdrawn("q")), QuestionWithdraw("q"), ROOM))


@pytest.mark.parametrize("command", [QuestionTake("q", "a"), QuestionAnswer("q", "a", "3")])
@pytest.mark.parametrize("trust", ["", "person", "historian", "dreamer", "desk"])
def test_only_a_harness_takes_and_answers(command: Command, trust: str) -> None:
    assert (
        f"{command.TYPE} is for harnesses alone" in decided(project(put()), command, CommandContext(trust=trust)).text
    )


@pytest.mark.parametrize("command", [request(), QuestionWithdraw("q")])
@pytest.mark.parametrize("trust", ["", "person", "agent", "desk"])
def test_only_a_room_puts_and_withdraws(command: Command, trust: str) -> None:
    assert f"{command.TYPE} is for rooms alone" in decided(project(put()), command, CommandContext(trust=trust)).text


def test_what_was_answered_is_forgotten_after_a_week() -> None:
    before = project(put(), taken(), answered())
    assert "q" in before.and_given(put("r", LATER + MEMORY)).state.closed
    assert "q" not in before.and_given(put("r", LATER + MEMORY + LEASE)).state.closed


def test_only_the_newest_open_questions_stay_in_memory() -> None:
    state = project(*(put(f"q{number}") for number in range(MOST_OPEN + 3))).state
    assert [*range(4, MOST_OPEN + 4)] == [one.seq for one in state.offered(NOON)]


def test_a_question_that_was_taken_is_offered_when_that_is_over() -> None:
    state = project(put(until=LATER + LEASE), taken(), put("r", LATER + LEASE)).state
    assert [3] == [one.seq for one in state.offered(NOON)]
    assert NOON + LEASE == state.next_free(NOON)
    assert [1, 3] == [one.seq for one in state.offered(NOON + LEASE)]
    assert state.next_free(NOON + LEASE) is None


def test_other_facts_change_nothing() -> None:
    assert Questions() == project(SessionIdled(), taken(), answered(), QuestionWithdrawn("q")).state


def _short(decision: Decision) -> tuple[bool, tuple[Event, ...], int | None]:
    return decision.ok, decision.events, decision.seq


STEPS = st.lists(
    st.tuples(
        st.one_of(
            st.builds(request, st.sampled_from("qr")),
            st.builds(QuestionTake, question=st.sampled_from("qr"), taker=st.sampled_from("abc")),
            st.builds(
                QuestionAnswer,
                question=st.sampled_from("qr"),
                taker=st.sampled_from("abc"),
                text=st.just("3"),
                failure=st.sampled_from(["", "busy"]),
            ),
            st.builds(QuestionWithdraw, question=st.sampled_from("qr")),
        ),
        st.integers(0, 200),
    ),
    max_size=30,
)


@settings(max_examples=number_of.examples(200), deadline=None)
@given_any(STEPS)
def test_every_answer_is_of_the_one_who_had_the_question_alone(steps: Sequence[tuple[Command, int]]) -> None:
    """Whatever is sent in whichever order, a question that was put is answered once at most."""
    now, moment = project(), NOON
    for step, seconds in steps:
        moment += timedelta(seconds=seconds)
        command = replace(step, until=moment + LEASE) if isinstance(step, QuestionRequest) else step
        trust = ROOM if isinstance(command, QuestionRequest | QuestionWithdraw) else HARNESS
        now = now.and_given(*decided(now, command, at(moment, trust)).events)
    for name in "qr":
        taker = ""
        for event in now.log:
            match event:
                case QuestionTaken(question=one, taker=by) if one == name:
                    taker = by
                case QuestionAnswered(question=one, taker=by) if one == name:
                    assert taker == by != ""
                    taker = ""
                case QuestionWithdrawn(question=one) if one == name:
                    taker = ""
    assert now.state == project(*now.log).state


def test_a_question_whose_time_is_over_gives_way_before_one_that_waits() -> None:
    over = [put(f"q{number}", datetime(2000, 1, 1, tzinfo=UTC)) for number in range(MOST_OPEN - 1)]
    state = project(put("long"), *over, put("newest")).state
    assert MOST_OPEN == len(state.open)
    assert {"long", "newest"} <= {*state.open}
