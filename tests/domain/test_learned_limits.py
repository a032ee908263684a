"""What one session learns of a model's limit holds for all sessions of that model, and for no other model."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given as check
from hypothesis import settings
from hypothesis import strategies as st

from schemas.codec import encode
from schemas.events import (
    CompartmentSealed,
    Event,
    HistoryFailed,
    LimitLearned,
    LimitWithdrawn,
    OverflowDetected,
    SessionIdled,
    StepOpened,
    UsageSampled,
)
from schemas.inbox import ErrorSeen, Inbound, MessageSeen, Seen, StepSeen, UsageSeen
from schemas.plan import SetHead
from schemas.subjects import Address
from services.domain import learned_limits, window
from services.domain.fold import fold
from services.domain.limits import Limits
from services.domain.window import NOTHING, Learned, Model, Window
from services.plan.head.documents import Document
from services.plan.lanes import View, head, history
from services.responder.answers.session_report import report
from services.tagger.core import decide as tagger
from services.tagger.core import state as tagger_state
from services.tagger.core.overflow import unknown_limits
from tests.helpers.examples import examples
from tests.helpers.given import Given, drafted, given
from tests.helpers.harness import LIMITS, Call, Harness, ran, rebases, replace, text_part

OPUS, HAIKU = ("anthropic", "opus"), ("anthropic", "haiku")
HERE = Address("harbour", "s1")
SHARED = given(learned_limits.evolve, NOTHING)
AT = datetime(2026, 1, 1, tzinfo=UTC)
BIG = "x" * 16_000
"""4,000 tokens."""


def step(model: Model = OPUS, context: int = 400_000, output: int = 0) -> StepOpened:
    return StepOpened(step="s", provider=model[0], model=model[1], context_limit=context, output_limit=output)


def refused(limit: int, model: Model = ("", "")) -> OverflowDetected:
    return OverflowDetected(limit=limit, provider=model[0], model=model[1])


def answered(used: int, model: Model = ("", "")) -> UsageSampled:
    return UsageSampled(message="m", input=used, provider=model[0], model=model[1])


def own(*events: Event) -> Learned:
    """What a session has learned."""
    return fold(window.evolve, events, NOTHING)


def learned(limit: int, model: Model = OPUS) -> LimitLearned:
    return LimitLearned(
        provider=model[0], model=model[1], limit=limit, in_project=HERE.project, in_session=HERE.session
    )


def withdrawn(limit: int, accepted: int, model: Model = OPUS) -> LimitWithdrawn:
    return LimitWithdrawn(
        provider=model[0],
        model=model[1],
        limit=limit,
        accepted=accepted,
        in_project=HERE.project,
        in_session=HERE.session,
    )


def teach(*events: Event) -> Callable[[Learned], Sequence[Event]]:
    """A session of these facts shares what it has learned with all sessions."""
    return lambda known: unknown_limits(known, own(*events), HERE)


def known(*events: Event) -> Learned:
    """What all sessions have learned."""
    return SHARED.and_given(*events).state


# What a session teaches


def test_a_limit_that_one_session_has_learned_is_known_to_all() -> None:
    now = SHARED.when(teach(step(), refused(128_000))).then(learned(128_000))
    assert {OPUS: 128_000} == dict(now.state.limits.items())


def test_what_is_known_is_not_learned_again() -> None:
    now = SHARED.when(teach(step(), refused(128_000)))
    now.when(teach(step(), refused(128_000))).then()
    now.when(teach(step(), refused(200_000))).then()


def test_of_two_limits_the_smaller_holds() -> None:
    now = SHARED.when(teach(step(), refused(128_000))).when(teach(step(), refused(64_000))).then(learned(64_000))
    assert {OPUS: 64_000} == dict(now.state.limits.items())
    assert known(learned(64_000), learned(128_000)).limits == known(learned(128_000), learned(64_000)).limits


def test_a_longer_prompt_that_was_answered_anywhere_takes_a_limit_back() -> None:
    now = SHARED.when(teach(step(), refused(128_000)))
    now.when(teach(step(), answered(128_000))).then()
    now.when(teach(step(), answered(128_001))).then(withdrawn(128_000, 128_001))


def test_a_limit_that_was_taken_back_is_not_learned_again_and_a_larger_one_is() -> None:
    now = SHARED.and_given(learned(128_000), withdrawn(128_000, 150_000))
    now.when(teach(step(), refused(128_000))).then()
    now.when(teach(step(), refused(180_000))).then(learned(180_000))


def test_a_limit_below_what_the_session_itself_was_answered_says_nothing_to_others() -> None:
    SHARED.when(teach(step(), answered(150_000), refused(128_000))).then()


def test_the_answer_that_takes_a_limit_back_comes_before_the_larger_limit() -> None:
    facts = [withdrawn(100_000, 150_000), learned(200_000)]
    SHARED.and_given(learned(100_000)).when(teach(step(), answered(150_000), refused(200_000))).then(*facts)


@pytest.mark.parametrize("model", [("", "opus"), ("anthropic", ""), ("", "")])
def test_of_a_model_without_a_full_name_only_its_session_learns(model: Model) -> None:
    session = own(step(model), refused(128_000))
    assert 128_000 == window.window(step(model), session, LIMITS).context
    assert [] == unknown_limits(NOTHING, session, HERE)


def test_a_limit_and_its_withdrawal_mean_the_same_in_either_order() -> None:
    assert known(learned(100_000), withdrawn(90_000, 150_000)) == known(withdrawn(90_000, 150_000), learned(100_000))
    assert known(learned(200_000), withdrawn(90_000, 150_000)) == known(withdrawn(90_000, 150_000), learned(200_000))
    assert {} == dict(known(learned(100_000), withdrawn(90_000, 150_000)).limits.items())
    assert {} == dict(known(withdrawn(90_000, 150_000), withdrawn(90_000, 95_000), learned(100_000)).limits.items())


# Whose answer it was


def test_a_fact_that_names_its_model_is_not_counted_for_the_one_in_work() -> None:
    session = own(step(HAIKU), refused(128_000, OPUS), answered(300_000, HAIKU))
    assert {OPUS: 128_000} == dict(session.limits.items())
    assert {HAIKU: 300_000} == dict(session.accepted.items())
    assert 400_000 == window.window(step(HAIKU), session, LIMITS).context


def test_names_that_are_written_alike_are_not_the_same_model() -> None:
    session = own(refused(128_000, ("a/b", "c")))
    assert 400_000 == window.window(step(("a", "b/c")), session, LIMITS).context
    assert 128_000 == window.window(step(("a/b", "c")), session, LIMITS).context


def test_a_limit_reported_after_a_longer_answer_is_in_force_until_the_next_longer_answer() -> None:
    session = own(step(), answered(300_000), refused(200_000))
    assert 200_000 == window.window(step(), session, LIMITS).context
    assert (
        400_000
        == window.window(step(), own(step(), answered(300_000), refused(200_000), answered(250_000)), LIMITS).context
    )


def test_a_count_that_no_prompt_can_have_proves_nothing() -> None:
    assert own(step(), refused(128_000)) == own(step(), refused(128_000), answered(10_000_001))


def tagging(*items: Seen) -> Callable[[tagger_state.TaggedSession], list[Event]]:
    inbound = Inbound(encode(items).decode(), AT, items)
    context = tagger.InboundContext("pi", inbound)
    return lambda session: drafted(tagger_state.evolve, session, lambda draft: tagger.decide(draft, context))


def opened(model: Model, name: str = "s1") -> StepSeen:
    return StepSeen(name, provider=model[0], model=model[1])


def tagged() -> Given[tagger_state.TaggedSession]:
    return given(tagger_state.evolve, tagger_state.TaggedSession())


def test_an_answer_and_a_refusal_say_whose_they_are() -> None:
    session = tagged().when(tagging(opened(OPUS)))
    session.when(tagging(UsageSeen("a", 5))).then(UsageSampled(message="a", input=5, provider=OPUS[0], model=OPUS[1]))
    words = "exceeds the limit of 128000"
    session.when(tagging(ErrorSeen(words))).then_only(
        OverflowDetected, OverflowDetected(text=words, limit=128_000, provider=OPUS[0], model=OPUS[1])
    )


def test_a_message_that_names_its_model_knows_better_than_the_step() -> None:
    late = MessageSeen("a", "assistant", provider=HAIKU[0], model=HAIKU[1])
    session = tagged().when(tagging(late, opened(OPUS)))
    session.when(tagging(UsageSeen("a", 5))).then_only(
        UsageSampled, UsageSampled(message="a", input=5, provider=HAIKU[0], model=HAIKU[1])
    )
    session.when(tagging(ErrorSeen("exceeds the limit of 128000", "a"))).then_only(
        OverflowDetected,
        OverflowDetected(
            message="a", text="exceeds the limit of 128000", limit=128_000, provider=HAIKU[0], model=HAIKU[1]
        ),
    )


def test_a_count_reported_again_under_another_model_is_no_new_one() -> None:
    session = tagged().when(tagging(opened(OPUS), UsageSeen("a", 5))).when(tagging(opened(HAIKU, "s2")))
    session.when(tagging(UsageSeen("a", 5))).then()
    session.when(tagging(UsageSeen("a", 6))).then(UsageSampled(message="a", input=6, provider=OPUS[0], model=OPUS[1]))


def test_facts_from_before_they_named_a_model_are_of_the_model_in_work() -> None:
    assert {OPUS: 128_000} == dict(own(step(), refused(128_000)).limits.items())
    assert {} == dict(own(refused(128_000), answered(5)).limits.items())


# The window of another session


def seen(*events: Event, shared: Learned, limits: Limits = LIMITS, opened: StepOpened | None = None) -> Window:
    now = opened or step()
    return window.window(now, own(now, *events).with_shared(shared), limits)


def test_ex_11a_another_session_of_the_model_knows_it_at_its_first_call() -> None:
    found = seen(shared=known(learned(128_000)))
    assert (Window(128_000, 0, "learned"), 93.75) == (found, found.percent(120_000))
    assert Window(128_000, 32_000, "learned") == seen(shared=known(learned(128_000)), opened=step(output=64_000))
    assert Window(400_000, 0, "harness") == seen(shared=known(learned(128_000)), opened=step(HAIKU))
    assert Window(400_000, 0, "harness") == seen(shared=known(learned(128_000)), opened=step(("bedrock", "opus")))


def test_ex_11c_what_a_subagent_has_learned_its_parent_knows() -> None:
    found = known(*unknown_limits(NOTHING, own(step(), refused(128_000)), Address("harbour", "child")))
    assert Window(128_000, 0, "learned") == seen(shared=found)


def test_a_person_knows_better_than_other_sessions_and_the_own_refusal_better_than_a_person() -> None:
    limits = Limits(context_limits={"anthropic/opus": 300_000})
    assert Window(300_000, 0, "settings") == seen(shared=known(learned(128_000)), limits=limits)
    assert Window(200_000, 0, "learned") == seen(refused(200_000), shared=known(learned(128_000)), limits=limits)


def test_what_a_session_has_learned_itself_comes_before_what_others_have_learned() -> None:
    assert Window(200_000, 0, "learned") == seen(refused(200_000), shared=known(learned(128_000)))


def test_a_longer_prompt_that_was_answered_here_counts_more_than_what_others_have_learned() -> None:
    assert Window(400_000, 0, "harness") == seen(answered(150_000), shared=known(learned(128_000)))
    assert Window(128_000, 0, "learned") == seen(answered(100_000), shared=known(learned(128_000)))


def test_a_larger_limit_changes_nothing_but_where_nobody_knows_one() -> None:
    assert Window(400_000, 0, "harness") == seen(shared=known(learned(1_000_000)))
    assert Window(1_000_000, 0, "learned") == seen(shared=known(learned(1_000_000)), opened=step(context=0))


def test_no_fold_takes_in_what_others_have_learned() -> None:
    before = own(step()).with_shared(known(learned(128_000)))
    for event in (step(HAIKU), refused(200_000), answered(5), learned(64_000), withdrawn(128_000, 5)):
        assert before.shared == window.evolve(before, event).shared


def test_a_report_says_who_knows_of_the_window() -> None:
    harness = session()
    assert "opus, window 100,000 tokens, of which 100,000 for" in report(harness.session, LIMITS, 0)
    assert "opus, window (learned from a refusal) 50,000 tokens" in report(
        harness.session, LIMITS, 0, known(learned(50_000))
    )
    chosen = Limits(context_limits={"opus": 60_000})
    assert "opus, window (as set) 60,000 tokens" in report(harness.session, chosen, 0, known(learned(50_000)))
    harness.use(150_000)
    assert "opus, window (learned from an answer) 150,000 tokens" in report(harness.session, LIMITS, 0)


# Plans


def session() -> Harness:
    """One that has made a call of some 40,000 tokens, most of them in old tools."""
    harness = Harness(replace(LIMITS, protected_tags=2))
    for number in range(10):
        harness.user("go")
        harness.assistant(ran(BIG, call=f"c{number}"), text_part("done"))
    harness.user("on")
    harness.step()
    harness.use(40_000)
    return harness


def test_a_limit_learned_elsewhere_makes_room_at_the_next_call_and_the_plan_says_why() -> None:
    harness = session()
    harness.drop(*range(2, 20))
    harness.user("more")
    harness.shared = known(learned(50_000))
    call = harness.step()
    (rebase,) = rebases(call.made)
    assert (["pressure"], 50_000, "learned") == (rebase.causes, rebase.window, rebase.window_source)


def test_in_a_window_that_others_know_to_be_small_the_head_and_history_are_small() -> None:
    wide, narrow = (headed(known(*facts)) for facts in ((), (learned(50_000),)))
    assert all(len(small) < 0.8 * len(large) for small, large in zip(narrow, wide, strict=True))


def headed(shared: Learned) -> list[str]:
    """What stands at the head of a prompt: the project, and history."""
    harness = session()
    for place in range(1, 19):
        harness.append(sealed(place))
    document = Document(
        "ARCHITECTURE.md", "d", "\n\n".join(f"## Room {n}\n\nIt has a door. " * 3 for n in range(600)), 1
    )
    view = View(harness.session, harness.limits, frozenset({"idle"}), documents=(document,), learned=shared)
    edits = (*head.rebase(view).edits, *history.rebase(view).edits)
    return [edit.text for edit in edits if isinstance(edit, SetHead)]


def sealed(place: int) -> CompartmentSealed:
    return CompartmentSealed(
        compartment=f"c{place}",
        run="r",
        generation=0,
        first=place,
        last=place,
        first_message=f"m{place}",
        last_message=f"m{place}",
        title=f"Message {place}",
        tokens=10_000,
        p1="It was read line by line. " * 100,
        p2="It was read. " * 50,
        p3="Read. " * 10,
        p4="Read",
    )


def test_a_person_is_warned_when_the_window_that_others_know_of_is_nearly_full() -> None:
    for facts, warnings in (((), 0), ((learned(41_000),), 1)):
        harness = session()
        harness.shared = known(*facts)
        harness.append(HistoryFailed(run="r", code="timeout", failures=1))
        harness.user("more")
        assert warnings == sum("cannot be compressed" in notice for notice in harness.step().made.notices)


def test_without_need_a_limit_learned_meanwhile_changes_nothing_of_what_was_sent() -> None:
    harness = session()
    harness.drop(*range(2, 20))
    before = harness.step()
    harness.shared = known(learned(90_000))
    harness.assistant(ran("one file", call="c-more"))
    call = harness.step()
    assert () == call.causes
    assert before.served == call.served[: len(before.served)]


Move = tuple[str, int]
MOVES = st.one_of(
    st.tuples(st.just("user"), st.just(0)),
    st.tuples(st.just("tool"), st.integers(1, 4)),
    st.tuples(st.just("use"), st.integers(1_000, 120_000)),
    st.tuples(st.just("drop"), st.integers(1, 12)),
    st.tuples(st.just("learn"), st.sampled_from([4_000, 20_000, 50_000, 90_000])),
    st.tuples(st.just("withdraw"), st.sampled_from([30_000, 95_000])),
    st.tuples(st.just("step"), st.just(0)),
)


def move(harness: Harness, made: Given[Learned], one: Move) -> Given[Learned]:
    """Let this happen; what all sessions know then."""
    match one:
        case "user", _:
            harness.user("go on")
        case "tool", size:
            harness.assistant(ran("word " * 800 * size, call=f"c{len(harness.messages)}"))
        case "use", used:
            harness.use(used)
        case "drop", tag:
            harness.drop(tag)
        case "learn", limit:
            made = made.and_given(learned(limit))
        case "withdraw", used:
            made = made.and_given(withdrawn(4_000, used))
        case _:
            pass
    harness.shared = made.state
    return made


@settings(max_examples=examples(150), deadline=None)
@check(st.lists(MOVES, max_size=30))
def test_what_is_learned_between_two_calls_changes_what_was_sent_only_in_a_rebase(moves: list[Move]) -> None:
    harness, made, calls = Harness(), SHARED, list[Call]()
    harness.user("go")
    for one in [*moves, ("step", 0)]:
        made = move(harness, made, one)
        if one[0] == "step":
            calls.append(harness.step())
    for before, now in pairwise(calls):
        assert now.causes or before.served == now.served[: len(before.served)]
    assert harness.folded() == harness.session


# All sessions together


MODELS = [OPUS, HAIKU, ("a/b", "c"), ("a", "b/c"), ("", "opus")]
SESSIONS = ("s1", "s2", "s3")
NAMED = st.sampled_from(MODELS)
TOKENS = st.sampled_from([900, 2_000, 50_000, 100_000, 128_000, 150_000, 200_000, 20_000_000])
HAPPENED = st.one_of(
    st.builds(step, NAMED),
    st.builds(refused, TOKENS, NAMED),
    st.builds(refused, TOKENS),
    st.builds(answered, TOKENS, NAMED),
    st.builds(answered, TOKENS),
)
LIVES = st.lists(st.tuples(st.sampled_from(SESSIONS), HAPPENED, st.booleans()), max_size=40)
Life = Sequence[tuple[str, Event, bool]]


class Lived(msgspec.Struct, frozen=True):
    """Sessions that have run at the same time, and what all of them know then."""

    owns: dict[str, Learned]
    shared: Given[Learned]

    def learns(self, name: str) -> "Lived":
        address = Address("p", name)
        return Lived(self.owns, self.shared.when(lambda known: unknown_limits(known, self.owns[name], address)))


def live(life: Life) -> Lived:
    """Some of what happens is shared with all at once; the rest later, or never."""
    now = Lived(dict.fromkeys(SESSIONS, NOTHING), SHARED)
    for name, event, is_learned in life:
        now = Lived(now.owns | {name: window.evolve(now.owns[name], event)}, now.shared)
        now = now.learns(name) if is_learned else now
    return now


def settled(lived: Lived) -> Lived:
    """All share what they know, until nobody has anything new."""
    while True:
        before = lived.shared.log
        for name in SESSIONS:
            lived = lived.learns(name)
        if lived.shared.log == before:
            return lived


@settings(max_examples=examples(300), deadline=None)
@check(LIVES)
def test_what_is_read_anew_is_what_was_known(life: Life) -> None:
    lived = live(life)
    assert lived.shared.state == known(*lived.shared.log)


@settings(max_examples=examples(300), deadline=None)
@check(LIVES)
def test_what_was_reported_is_not_reported_again(life: Life) -> None:
    lived = live(life)
    for name in SESSIONS:
        once = lived.learns(name)
        assert () == tuple(once.learns(name).shared.made)


def alone(life: Life, model: Model) -> Lived:
    """The same lives without a word of other models."""
    work: dict[str, Model] = {}
    left: list[tuple[str, Event, bool]] = []
    for name, event, is_learned in life:
        if isinstance(event, StepOpened):
            work[name] = (event.provider, event.model)
        elif isinstance(event, OverflowDetected | UsageSampled):
            by = (event.provider, event.model) if event.model else work.get(name)
            if by == model:
                left.append((name, replace(event, provider=model[0], model=model[1]), is_learned))
                continue
        left.append((name, SessionIdled(), is_learned))
    return live(left)


@settings(max_examples=examples(300), deadline=None)
@check(LIVES)
def test_models_never_mix(life: Life) -> None:
    """Of each model is known what would be known if there were no other."""
    lived = live(life)
    for model in MODELS:
        single = alone(life, model)
        for name in SESSIONS:
            together, apart = (
                window.window(step(model), one.owns[name].with_shared(one.shared.state), LIMITS)
                for one in (lived, single)
            )
            assert apart == together
        assert single.shared.state.limits.get(model) == lived.shared.state.limits.get(model)


@settings(max_examples=examples(300), deadline=None)
@check(LIVES)
def test_when_all_is_exchanged_the_least_limit_is_in_force_that_no_answer_proves_wrong(life: Life) -> None:
    """It may be one that its own session knows no more, since a smaller one that is wrong was reported to that."""
    lived = settled(live(life))
    text_part = {(fact.provider, fact.model, fact.limit) for fact in lived.shared.log if isinstance(fact, LimitLearned)}
    for model in filter(all, MODELS):
        longest = max(one.accepted.get(model) or 0 for one in lived.owns.values())
        limits = [one.limits[model] for one in lived.owns.values() if model in one.limits]
        right = [limit for limit in limits if limit >= longest]
        known = lived.shared.state.limits.get(model)
        assert known is None or ((*model, known) in text_part and known >= longest)
        assert not right or (known is not None and known <= min(right))
    assert not any(model in lived.shared.state.limits for model in MODELS if not all(model))
