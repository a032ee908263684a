"""Between two declared rebases, every byte that was sent is sent again: over any session, whatever goes wrong in it."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, takewhile

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.envelope import Envelope
from schemas.events import DropRequested, Event, FlushRequested, PlanExtended, PlanRebased
from schemas.inbox import Capability, PartSeen, Role
from schemas.plan import (
    AnyEdit,
    AppendText,
    OmitArc,
    OmitPart,
    PrefixText,
    ReplaceOutput,
    ReplaceText,
    Restore,
    Withdraw,
)
from services.domain.edits import TAGS, ServedMessage, apply
from services.domain.limits import Limits
from services.plan.lanes import LANES
from services.plan.lanes.base import HARNESS_CAUSES
from services.plan.session.state import Session
from tests.helpers.examples import examples
from tests.helpers.harness import (
    ALL,
    SHOWN,
    Call,
    Harness,
    answered,
    asked,
    attached,
    cost,
    edits_of,
    extensions,
    folds,
    is_sound,
    ran,
    text_part,
    thought,
    with_picture,
)
from tests.helpers.random_sessions import ABILITIES, as_bytes, bringing_back, compacting, removing, switching

pytestmark = pytest.mark.slow

STUB = re.compile(r"\[(dropped|truncated) §\d+§\]")

# Chosen by name, so that a failing example can be read.
TEXTS = {
    "short": "ok",
    "long": "word " * 200,
    "blank": "  \n",
    "tagged": "§3§ copied",
    "torn tag": '§7">§7§ torn',
    "indented": "  indented",
    "surrogates": "𝄞" * 130,
}
OUTPUTS = {"lines": "line\n" * 300, "big": "x" * 9000, "short": "FILE", "tagged": "§9§ x", "none": "", "picture": SHOWN}
ARGUMENTS = {"long": '{"text": "' + "y" * 1500 + '"}', "none": "{}"}
BEFORE = {
    "words": (text_part("look"),),
    "signed thinking and words": (thought(signed=True), text_part("so")),
    "nothing": (),
    "thinking": (thought(),),
    "signed thinking": (thought(signed=True),),
    "a blank": (text_part(" "),),
}
"""What an agent says before it calls tools."""

Act = Callable[[Harness], None]
Calling = tuple[str, str, bool]
"""What a call brings, its arguments, and whether it is late or has words next to its result."""


def scripted(text: str) -> Act:
    return lambda harness: _ignored(harness.user(TEXTS[text]))


def attaching(text: str) -> Act:
    picture = attached(f"data:image/png;base64,{TEXTS[text]}")
    return lambda harness: _ignored(harness.add_message("user", picture, text_part(TEXTS[text])))


def reported_session(before: str) -> Act:
    return lambda harness: _ignored(harness.assistant(*BEFORE[before], text_part("done")))


def bringing(output: str, part: PartSeen) -> PartSeen:
    """What a call brings; nothing yet, where it is late."""
    if part.status == "pending":
        return part
    ended = msgspec.structs.replace(part, output=OUTPUTS[output])
    return with_picture(ended) if output == "picture" else ended


def calling(before: str, calls: list[Calling]) -> Act:
    """Calls and results in one part each, as OpenCode has them."""

    def act(harness: Harness) -> None:
        first = len(harness.log)
        parts = [
            bringing(output, ran("", ARGUMENTS[given], call=f"c{n}.{first}", pending=late))
            for n, (output, given, late) in enumerate(calls)
        ]
        harness.assistant(*BEFORE[before], *parts)

    return act


def splitting(before: str, calls: list[Calling], *, role: Role, together: bool) -> Act:
    """Calls in one message, results in the next: together, or each in its own, some with words next to them."""

    def act(harness: Harness) -> None:
        first = len(harness.log)
        made = [asked(f"c{n}.{first}", ARGUMENTS[given]) for n, (_, given, _) in enumerate(calls)]
        harness.assistant(*BEFORE[before], *made)
        results = [
            (bringing(output, answered(f"c{n}.{first}", "")), *((text_part("there"),) if is_parallel else ()))
            for n, (output, _, is_parallel) in enumerate(calls)
        ]
        for parts in [tuple(part for result in results for part in result)] if together else results:
            harness.add_message(role, *parts)

    return act


def finishing(harness: Harness) -> None:
    """The oldest tool that is pending has its output now."""
    pending = [part for message in harness.messages for part in message.parts if part.status == "pending"]
    if pending:
        harness.change(pending[0].part, output="LATE " * 50, status="completed")


def changing(at: int) -> Act:
    """A person edits a message."""

    def act(harness: Harness) -> None:
        texts = [part.part for message in harness.messages for part in message.parts if part.type == "text"]
        if texts:
            harness.change(texts[at % len(texts)], text=f"changed {at}")

    return act


def dropping(wanted: list[int]) -> Act:
    """An agent names tags; the desk lets through what is neither queued nor gone."""
    return lambda harness: harness.drop(*tags) if (tags := droppable(harness, wanted)) else None


def droppable(harness: Harness, wanted: list[int]) -> list[int]:
    session = harness.session
    last = session.conversation.last_number
    named = sorted({number % last + 1 for number in wanted}) if last else []
    return [number for number in named if number not in session.drops.queued and number not in session.drops.dropped]


def waiting(harness: Harness) -> None:
    harness.wait(301)


def using(prompt: int) -> Act:
    return lambda harness: harness.use(prompt, f"a{prompt}")


def _ignored(_: object) -> None:
    return None


CALLS = st.lists(
    st.tuples(st.sampled_from([*OUTPUTS]), st.sampled_from([*ARGUMENTS]), st.booleans()), min_size=1, max_size=3
)
GROWTH: st.SearchStrategy[Act] = st.one_of(
    st.sampled_from([*TEXTS]).map(scripted),
    st.sampled_from([*TEXTS]).map(attaching),
    st.sampled_from([*BEFORE]).map(reported_session),
    st.builds(calling, st.sampled_from([*BEFORE]), CALLS),
    st.builds(
        splitting,
        st.sampled_from([*BEFORE]),
        CALLS,
        role=st.sampled_from(["tool", "user"]),
        together=st.booleans(),
    ),
)
CHANCES: st.SearchStrategy[Act] = st.one_of(
    st.lists(st.integers(0, 60), min_size=1, max_size=12).map(dropping),
    st.lists(st.integers(0, 60), min_size=1, max_size=12).map(dropping),
    st.just(Harness.flush),
    st.just(Harness.flush),
    st.just(waiting),
    st.just(switching),
    st.sampled_from([1_000, 64_000, 70_000, 90_000]).map(using),
    st.just(finishing),
    st.integers(0, 40).map(changing),
    st.integers(0, 40).map(removing),
    st.integers(0, 40).map(removing),
    st.integers(0, 40).map(bringing_back),
    st.integers(0, 40).map(bringing_back),
    st.just(compacting),
    st.just(Harness.restart),
    st.just(Harness.restart_harness),
)


class Around(msgspec.Struct, frozen=True):
    """What happens before a model call, and how the call goes."""

    growth: list[Act]
    chances: list[Act]
    asks: bool
    takes: int
    unreported: bool
    """Whether there is a call before this one of which the service hears nothing; the list is reported whole then."""
    meanwhile: list[int] | None
    """Tags that an agent drops while the plan is being appended, with a flush."""


AROUND = st.builds(
    Around,
    growth=st.lists(GROWTH, max_size=3),
    chances=st.lists(CHANCES, max_size=4),
    asks=st.sampled_from([True, True, True, True, False]),
    takes=st.sampled_from([ALL, ALL, ALL, 0]),
    unreported=st.sampled_from([False, False, False, True]),
    meanwhile=st.none() | st.lists(st.integers(0, 60), max_size=2),
)


class Moment(msgspec.Struct, frozen=True):
    """A model call, with the state of both sides."""

    call: Call
    in_force_before: dict[str, AnyEdit]
    in_force: dict[str, AnyEdit]
    is_level: bool
    """Whether the harness holds the newest revision."""
    session: Session
    facts: tuple[tuple[Envelope, Event], ...]


def begun(abilities: tuple[Capability, ...], protected: int) -> Harness:
    harness = Harness(Limits(protected_tags=protected, min_reclaim=200), lanes=LANES)
    harness.capabilities = abilities
    harness.user("go")
    return harness


def played(
    around: list[Around],
    abilities: tuple[Capability, ...],
    protected: int,
    *,
    loses: bool = False,
) -> list[Moment]:
    """The calls of a session. `loses`: also calls without a word to us."""
    harness = begun(abilities, protected)
    moments = []
    for one in around:
        for act in one.growth:
            act(harness)
        if loses and one.unreported:
            in_force = dict(harness.edits)
            moments.append(
                Moment(
                    harness.step_unreported(),
                    in_force,
                    in_force,
                    is_level=False,
                    session=harness.session,
                    facts=tuple(harness.log),
                )
            )
        for act in one.chances:
            act(harness)
        before = dict(harness.edits)
        call = harness.step(asks=one.asks, takes=one.takes, meanwhile=meanwhile(harness, one.meanwhile))
        level = harness.revision == harness.session.revision
        facts = tuple(harness.log)
        moments.append(Moment(call, before, dict(harness.edits), level, harness.session, facts))
        harness.wait(1)
    return moments


def meanwhile(harness: Harness, wanted: list[int] | None) -> Iterator[Event]:
    """Decided when the plan is: a desk does not let through what is dropped by then."""
    if wanted is not None:
        yield FlushRequested()
        tags = droppable(harness, wanted)
        if tags:
            yield DropRequested(tags=tags)


SESSIONS = st.builds(
    played,
    around=st.lists(AROUND, min_size=2, max_size=12),
    abilities=ABILITIES,
    protected=st.sampled_from([1, 3]),
)
LOSSY = st.builds(
    played,
    around=st.lists(AROUND, min_size=2, max_size=12),
    abilities=ABILITIES,
    protected=st.sampled_from([1, 3]),
    loses=st.just(value=True),
)
bounded = settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))


def unchanged(before: Sequence[ServedMessage], now: Sequence[ServedMessage]) -> list[ServedMessage]:
    """What both lists begin with."""
    return [old for old, _ in takewhile(lambda both: both[0] == both[1], zip(before, now, strict=False))]


@bounded
@given(LOSSY)
def test_without_a_declared_rebase_what_was_sent_is_sent_again_byte_for_byte(moments: list[Moment]) -> None:
    for before, now in pairwise(moments):
        if not now.call.causes:
            common = unchanged(before.call.raw, now.call.raw)
            sent = as_bytes(apply(common, before.in_force.values()))
            assert as_bytes(now.call.served)[: len(sent)] == sent


@bounded
@given(SESSIONS)
def test_what_the_harness_itself_changed_is_declared_with_a_reason(moments: list[Moment]) -> None:
    for before, now in pairwise(moments):
        was_changed = len(unchanged(before.call.raw, now.call.raw)) < len(before.call.raw)
        if was_changed and now.is_level and now.call.took:
            assert set(now.call.causes) & HARNESS_CAUSES != set()


@bounded
@given(SESSIONS)
def test_a_reason_of_the_harness_is_given_only_where_it_changed_something(moments: list[Moment]) -> None:
    changed = False
    for before, now in pairwise(moments):
        changed = changed or len(unchanged(before.call.raw, now.call.raw)) < len(before.call.raw)
        if not changed:
            assert set(now.call.causes) & HARNESS_CAUSES == set()


@bounded
@given(SESSIONS)
def test_no_provider_refuses_what_it_would_not_refuse_without_a_plan(moments: list[Moment]) -> None:
    assert is_sound(moment.call for moment in moments)


@bounded
@given(SESSIONS)
def test_an_extension_edits_only_what_was_not_sent_before_or_takes_back_what_did_not_arrive(
    moments: list[Moment],
) -> None:
    for moment in moments:
        for event in extensions(moment.call.made):
            messages, before_step = moment.call.state.conversation, moment.call.opened.unchanged
            named = {part for edit in edits_of(moment.call.made) for part in parts_of(edit)}
            assert {part for part in named if messages.place(part.partition(":")[2] or part) <= before_step} <= set(
                event.forgone
            )


def parts_of(edit: AnyEdit) -> tuple[str, ...]:
    if isinstance(edit, OmitArc):
        return edit.parts
    if isinstance(edit, Withdraw):
        return (edit.what,)
    assert isinstance(edit, PrefixText | ReplaceText | ReplaceOutput | Restore | AppendText | OmitPart)
    return (edit.part,)


@bounded
@given(SESSIONS)
def test_a_dropped_tag_never_comes_back(moments: list[Moment]) -> None:
    """Unless the harness sent it again without a plan: that call's bytes stay until the next rebase."""
    gone: set[int] = set()
    sent_again: set[str] = set()
    for moment in moments:
        assert gone <= set(moment.session.drops.dropped)
        gone = set(moment.session.drops.dropped)
        shown = dropped_and_shown(moment, gone)
        if moment.is_level and moment.call.took:
            assert shown <= (set() if moment.call.made.kind == "rebase" else sent_again)
        sent_again = shown


def dropped_and_shown(moment: Moment, gone: set[int]) -> set[str]:
    """The parts that are served although they were dropped.

    Not those of calls with the id of another call: a result that is listed elsewhere later answers the call before it
    then, and stays, so that this one does not go without.
    """
    parts = moment.session.conversation.parts
    named = Counter((part.kind, part.call) for message in moment.call.raw for part in message.parts)
    shared = {call for (_, call), count in named.items() if call and count > 1}
    return {
        part.id
        for message in moment.call.served
        for part in message.parts
        if part.id in parts
        and parts[part.id].number in gone
        and part.call not in shared
        and not STUB.match(part.output or part.text)
    }


@bounded
@given(SESSIONS)
def test_the_state_folded_from_the_log_is_the_state_that_has_grown(moments: list[Moment]) -> None:
    assert [moment.session for moment in moments] == [*folds(moment.facts for moment in moments)]


@bounded
@given(SESSIONS)
def test_a_plan_event_says_what_the_prompt_costs_with_it(moments: list[Moment]) -> None:
    """Apart from tags that a model has written itself, which are taken off and not counted.

    What is appended is rounded up by itself, to a token more at most.
    """
    for moment in moments:
        planned = [one for one in moment.call.made.events if isinstance(one, PlanExtended | PlanRebased)]
        if planned:
            served = apply(moment.call.raw, moment.session.plan.edits())
            taken_off = sum(len(found[0]) for found in map(TAGS.match, contents(moment.call.raw)) if found)
            appended = sum(isinstance(edit, AppendText) for edit in moment.session.plan.edits())
            assert 0 <= planned[-1].tokens_after - cost(served) <= taken_off + appended


def contents(messages: Sequence[ServedMessage]) -> list[str]:
    return [part.output or part.text for message in messages for part in message.parts]


def test_a_result_that_is_listed_behind_another_call_of_its_id_stays_with_that() -> None:
    """One result was removed, and one of a later call with the same id is listed in its place."""
    short = scripted("short")
    two, one = (splitting("words", [("lines", "long", False)] * count, role="tool", together=False) for count in (2, 1))
    moments = played(
        [
            *[calm([])] * 5,
            calm([short, two, one]),
            calm([short] * 2),
            calm([short] * 3, removing(6)),
            calm([short] * 3, bringing_back(4)),
            calm([short, short, one], using(90_000), changing(0), removing(22)),
        ],
        ("accepts_empty_content",),
        1,
    )
    last = moments[-1]
    ids = [part.call for message in moments[5].call.raw for part in message.parts if part.kind == "tool_call"]
    assert (3, 2) == (len(ids), len({*ids})), "two of the three calls have one id"
    assert is_sound(moment.call for moment in moments)
    assert "rebase" == last.call.made.kind
    asked, given = last.call.served[2:4]
    assert [part.call for part in asked.parts if part.call] == [part.call for part in given.parts] == [ids[0]]


def calm(growth: list[Act], *chances: Act) -> Around:
    """A call that goes as it should."""
    return Around(growth, [*chances], asks=True, takes=ALL, unreported=False, meanwhile=None)
