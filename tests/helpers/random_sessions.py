"""Sessions in which anything happens, played with a lane that drops by itself, and what must hold in all of them."""

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise, takewhile

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from schemas.envelope import Envelope
from schemas.events import Event, PartRecorded
from schemas.inbox import Capability, PartSeen, Role
from schemas.plan import AnyEdit, OmitPart
from services.domain.edits import ServedMessage, apply
from services.domain.limits import Limits
from services.domain.protection import protected
from services.plan.lanes import DROPS, TAGS, Lane
from services.plan.planner.causes import causes
from services.plan.provider_rules.signed_thinking import boundary
from services.plan.session.state import Session
from tests.helpers.examples import examples
from tests.helpers.harness import SHOWN, Call, Harness, edits_of, folds, is_sound, text_part, thought, with_picture
from tests.helpers.tool_calls import called, requested, returned, touched, view_of

Act = Callable[[Harness], object]

TOOLS = ("read", "mcp_grep", "edit", "write", "bash", "ctx_reduce", "todowrite", "plan_exit")
ARGUMENTS: dict[str, dict[str, object]] = {
    "a": {"filePath": "a.py"},
    "b": {"filePath": "b.py"},
    "some of a": {"filePath": "a.py", "offset": 5, "limit": 5},
    "long": {"filePath": "a.py", "newString": "y" * 1500},
}
OUTPUTS = {
    "lines": "line\n" * 300,
    "big": "x" * 9000,
    "short": "FILE",
    "receipt": "done " * 20,
    "none": "",
    "picture": SHOWN,
}
BEFORE = {
    "words": (text_part("look"),),
    "signed thinking and words": (thought(signed=True), text_part("so")),
    "nothing": (),
    "thinking": (thought(),),
    "signed thinking": (thought(signed=True),),
    "a blank": (text_part(" "),),
}
"""What an agent says before it calls tools."""

Calling = tuple[str, str, str]
"""Tool, arguments, output."""


def answering(part: PartSeen, output: str) -> PartSeen:
    answered = msgspec.structs.replace(part, output=OUTPUTS[output])
    return with_picture(answered) if output == "picture" else answered


def calling(before: str, calls: list[Calling]) -> Act:
    """Calls and results in one part each."""

    def act(harness: Harness) -> None:
        first = len(harness.log)
        parts = [
            answering(called(tool, ARGUMENTS[given], call=f"c{n}.{first}"), output)
            for n, (tool, given, output) in enumerate(calls)
        ]
        harness.assistant(*BEFORE[before], *parts)

    return act


def splitting(before: str, calls: list[Calling], *, role: Role, together: bool) -> Act:
    """Calls in one message, results in the next: together, or each in its own."""

    def act(harness: Harness) -> None:
        first = len(harness.log)
        named = [(f"c{n}.{first}", *one) for n, one in enumerate(calls)]
        harness.assistant(
            *BEFORE[before], *(requested(tool, ARGUMENTS[given], call=call) for call, tool, given, _ in named)
        )
        results = [answering(returned(tool, call=call), output) for call, tool, _, output in named]
        for parts in [tuple(results)] if together else [(result,) for result in results]:
            harness.add_message(role, *parts)

    return act


def changing(at: int) -> Act:
    """The harness has another answer than it reported."""

    def act(harness: Harness) -> None:
        ended = [part.part for message in harness.messages for part in message.parts if part.output]
        if ended:
            harness.change(ended[at % len(ended)], output=f"changed {at} " * 50)

    return act


def removing(at: int) -> Act:
    def act(harness: Harness) -> None:
        if harness.messages:
            harness.without(harness.messages[at % len(harness.messages)].message)

    return act


def bringing_back(at: int) -> Act:
    """A message that was listed once is listed again, anywhere."""

    def act(harness: Harness) -> None:
        listed = {message.message for message in harness.messages}
        gone = [message for message in harness.known.values() if message.message not in listed]
        if gone:
            harness.messages.insert(at % (len(harness.messages) + 1), gone[at % len(gone)])

    return act


def dropping(wanted: int) -> Act:
    """An agent names a tag; the desk lets through what is neither queued nor gone."""

    def act(harness: Harness) -> None:
        session = harness.session
        number = wanted % (session.conversation.last_number or 1) + 1
        is_open = number not in session.drops.queued and number not in session.drops.dropped
        is_listed = session.conversation.place(session.conversation.numbered.get(number, "")) > 0
        if is_listed and is_open:
            harness.drop(number)

    return act


def idling(harness: Harness) -> None:
    harness.use(1000, f"u{len(harness.log)}")
    harness.wait(301)


def switching(harness: Harness) -> None:
    harness.model = "sonnet" if harness.model == "opus" else "opus"


def compacting(harness: Harness) -> None:
    harness.compact()
    harness.messages = harness.messages[-1:]
    harness.user("summary")


def using(prompt: int) -> Act:
    return lambda harness: harness.use(prompt, f"a{prompt}.{len(harness.log)}")


CALLS = st.lists(
    st.tuples(st.sampled_from(TOOLS), st.sampled_from([*ARGUMENTS]), st.sampled_from([*OUTPUTS])),
    min_size=1,
    max_size=6,
)
GROWTH: st.SearchStrategy[Act] = st.one_of(
    st.sampled_from(["go on", "words " * 200]).map(lambda text: lambda harness: harness.user(text)),
    st.sampled_from([*BEFORE]).map(
        lambda before: lambda harness: harness.assistant(*BEFORE[before], text_part("done"))
    ),
    st.builds(calling, st.sampled_from([*BEFORE]), CALLS),
    st.builds(calling, st.sampled_from([*BEFORE]), CALLS),
    st.builds(
        splitting, st.sampled_from([*BEFORE]), CALLS, role=st.sampled_from(["tool", "user"]), together=st.booleans()
    ),
)
CHANCES: st.SearchStrategy[Act] = st.one_of(
    st.just(idling),
    st.just(idling),
    st.sampled_from([64_000, 70_000, 90_000]).map(using),
    st.integers(0, 60).map(dropping),
    st.just(Harness.flush),
    st.just(switching),
    st.integers(0, 40).map(changing),
    st.integers(0, 40).map(removing),
    st.integers(0, 40).map(bringing_back),
    st.just(compacting),
    st.just(Harness.restart),
    st.just(Harness.restart_harness),
)
ABILITIES: st.SearchStrategy[tuple[Capability, ...]] = st.sampled_from(
    [
        ("accepts_empty_content",),
        ("requires_alternation",),
        ("requires_alternation", "merges_adjacent_assistants", "binds_signed_thinking"),
        ("binds_signed_thinking", "caches_exact_prefix"),
        (),
    ]
)
AROUND = st.tuples(st.lists(GROWTH, max_size=3), st.lists(CHANCES, max_size=3))
"""What happens before a model call."""


class Story(msgspec.Struct, frozen=True):
    """What a session is made of."""

    around: list[tuple[list[Act], list[Act]]]
    abilities: tuple[Capability, ...]
    protected: int


STORIES = st.builds(
    Story,
    around=st.lists(AROUND, min_size=2, max_size=12),
    abilities=ABILITIES,
    protected=st.sampled_from([1, 3]),
)
wildly = settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))


class Moment(msgspec.Struct, frozen=True):
    """A model call, with the state of both sides."""

    call: Call
    in_force_before: dict[str, AnyEdit]
    session: Session
    facts: tuple[tuple[Envelope, Event], ...]


def play(story: Story, *lanes: Lane, **limits: object) -> list[Moment]:
    given = msgspec.structs.replace(Limits(protected_tags=story.protected, min_reclaim=200), **limits)
    harness = Harness(given, lanes=(TAGS, DROPS, *lanes))
    harness.capabilities = story.abilities
    harness.user("go")
    moments = []
    for growth, chances in story.around:
        for act in (*growth, *chances):
            act(harness)
        before = dict(harness.edits)
        call = harness.step()
        moments.append(Moment(call, before, harness.session, tuple(harness.log)))
        harness.wait(1)
    return moments


def is_steady(moments: Sequence[Moment]) -> bool:
    """See that nothing of what must hold for every lane is broken, whatever has happened.

    Outside of rebases the bytes that were sent are sent again; every prompt is sound; the state is that which the facts
    fold to; and no lane fails.
    """
    for before, now in pairwise(moments):
        if not now.call.causes:
            both = zip(before.call.raw, now.call.raw, strict=False)
            common = [old for old, _ in takewhile(lambda pair: pair[0] == pair[1], both)]
            sent = as_bytes(apply(common, now.in_force_before.values()))
            assert as_bytes(now.call.served)[: len(sent)] == sent
    assert is_sound(moment.call for moment in moments)
    assert [moment.session for moment in moments] == [*folds(moment.facts for moment in moments)]
    assert [] == [fault for moment in moments for fault in moment.call.made.faults if TORN not in fault]
    return True


def is_done_behind_a_rebase(moments: Sequence[Moment], lane: Lane, limits: Limits) -> bool:
    """See that after a rebase the lane has nothing more to decide."""
    for moment in moments:
        if _has_decided(moment.call):
            recorded = [event for _, event in moment.facts if isinstance(event, PartRecorded)]
            texts = {event.part: event.output or event.text for event in recorded}
            assert lane.rebase(view_of(moment.session, limits, texts)).edits == ()
    return True


TORN = "has no call before it"
"""In the fault of a compartment that ends between a call and its result."""


def _has_decided(call: Call) -> bool:
    """Whether a rebase has done all that the lanes wanted.

    No lane touches a running turn behind whose thinking it would change, and what is admitted comes after all lanes.
    """
    admitted = any(edit.lane == "admission" for revision in call.took for edit in revision.edits)
    return call.made.kind == "rebase" and not admitted and not call.made.faults and not boundary(call.state)


def as_bytes(messages: Sequence[ServedMessage]) -> list[bytes]:
    return [msgspec.json.encode(message) for message in messages]


def alike(messages: Sequence[ServedMessage]) -> list[ServedMessage]:
    """The messages as a provider sees them: it knows no ids."""
    bare = msgspec.structs.replace
    return [bare(one, id="", parts=tuple(bare(part, id="") for part in one.parts)) for one in messages]


def spares(moments: Sequence[Moment], lane: Lane, limits: Limits) -> bool:
    """See what else must hold for a lane that empties parts: what it spares, and that it wants all at once."""
    for moment in moments:
        _is_spared(moment, limits, lane.name)
        if moment.call.causes and not moment.call.made.faults and not boundary(moment.call.state):
            assert lane.rebase(view_of(moment.session, limits)).edits == ()
    return True


def _is_spared(moment: Moment, limits: Limits, name: str) -> None:
    """What is protected, unless the model would refuse the prompt, and every word of a person or an agent.

    Where room is short, no more is protected than a prompt is to keep of its newest messages.
    """
    state, why = moment.call.state, causes(moment.call.state, limits)
    fits = not why.excess
    newest = sorted(protected(state.conversation, limits.protected_tags), reverse=True)
    sizes = accumulate(state.conversation.parts[state.conversation.numbered[tag]].recorded.tokens for tag in newest)
    guarded = {tag for tag, size in zip(newest, sizes, strict=True) if size <= why.tail or not why.tail}
    for edit in edits_of(moment.call.made):
        if edit.lane == name:
            for part in touched([edit]):
                known = state.conversation.parts[part]
                assert not fits or known.number not in guarded or known.recorded.kind == "tool_call"
                assert known.recorded.kind in ("tool", "tool_call", "tool_result") or isinstance(edit, OmitPart)
                assert known.recorded.kind != "text" or not known.head.strip()
