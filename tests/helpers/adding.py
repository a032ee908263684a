"""What the tests of the lanes that add something share: sessions in which there is something to add, and anything."""

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

import msgspec
from hypothesis import strategies as st

from schemas.events import PartRecorded
from schemas.inbox import Capability, Todo, TodoSeen
from schemas.plan import AnyEdit
from services.domain.edits import apply
from services.domain.limits import Limits
from services.plan.lanes import DROPS, LANES, TAGS, Change, Lane, View
from services.plan.lanes.base import emptying, finders_of
from services.plan.lanes.index import indexed
from services.plan.provider_rules.signed_thinking import boundary
from services.plan.session.state import Session
from tests.helpers.harness import Harness, edits_of, folds, is_sound, text_part
from tests.helpers.random_sessions import AROUND, Act, Moment, Story, as_bytes, play, wildly
from tests.helpers.tool_calls import called

__all__ = ["STORIES", "Story", "edits_by", "is_steady", "play", "view_at", "wildly", "with_lane"]

A_TODO, B_TODO, C_TODO = Todo("A", "in_progress", "high"), Todo("B", "completed"), Todo("C", "cancelled")
LISTS = {"one": (A_TODO, B_TODO, C_TODO), "other": (Todo("D"),), "done": (B_TODO, C_TODO), "none": ()}
BIG = "line\n" * 12_000
"""An answer of 15,000 tokens."""


def with_lane(lane: Lane, *, protected: int = 1, **limits: object) -> Harness:
    given = msgspec.structs.replace(Limits(threshold=65, protected_tags=protected, min_reclaim=1), **limits)
    return Harness(given, lanes=(TAGS, DROPS, lane))


def view_at(session: Session, limits: Limits, texts: dict[str, str] | None = None) -> View:
    """What a rebase would be decided on now."""
    return View(
        session, limits, frozenset({"idle"}), indexed(session, finders_of(LANES)), texts or {}, emptying=emptying(LANES)
    )


def writing(name: str, *, through_a_call: bool) -> Act:
    """The agent has another list of what there is to do, and has called a tool to write it or not."""

    def act(harness: Harness) -> None:
        items = LISTS[name]
        if through_a_call:
            output = msgspec.json.format(msgspec.json.encode(items), indent=2).decode()
            harness.assistant(called("todowrite", {"todos": []}, output, call=f"t{len(harness.log)}"))
        harness.report(TodoSeen(items))

    return act


def working(calls: int, output: str) -> Act:
    """The agent reads files, and ends its turn or not."""

    def act(harness: Harness) -> None:
        for n in range(calls):
            harness.assistant(called("read", {"filePath": f"{n}.py"}, output, call=f"w{n}.{len(harness.log)}"))
        if calls % 2:
            harness.assistant(text_part("done"))

    return act


def turning(calls: int, output: str) -> Act:
    """A turn of the agent, and the next message of the person."""

    def act(harness: Harness) -> None:
        working(calls, output)(harness)
        harness.assistant(text_part("done"))
        harness.user("next")

    return act


def cleaning(*, by_the_agent: bool) -> Act:
    """All that is known is dropped at the next call: the agent has named it, or a person."""

    def act(harness: Harness) -> None:
        session = harness.session
        wanted = [
            number
            for number in range(1, session.conversation.last_number + 1)
            if number not in session.drops.queued
            and number not in session.drops.dropped
            and session.conversation.place(session.conversation.numbered.get(number, ""))
        ]
        if by_the_agent:
            harness.assistant(called("ctx_reduce", {"drop": "1-"}, "noted", call=f"r{len(harness.log)}"))
        if wanted:
            harness.drop(*wanted)
            harness.flush()

    return act


OUTPUTS = st.sampled_from(["line\n" * 300, BIG])
TELLING: st.SearchStrategy[Act] = st.one_of(
    st.builds(writing, st.sampled_from([*LISTS]), through_a_call=st.booleans()),
    st.builds(writing, st.just("one"), through_a_call=st.booleans()),
    st.builds(working, st.integers(1, 6), OUTPUTS),
    st.builds(turning, st.integers(4, 6), OUTPUTS),
    st.builds(cleaning, by_the_agent=st.booleans()),
)

ABILITIES: list[tuple[Capability, ...]] = [
    ("accepts_empty_content",),
    ("requires_alternation", "merges_adjacent_assistants", "binds_signed_thinking"),
    ("binds_signed_thinking", "caches_exact_prefix"),
    ("requires_reasoning_on_tool_calls",),
    (),
]


@st.composite
def _stories(draw: st.DrawFn) -> Story:
    around = draw(st.lists(st.tuples(AROUND, st.lists(TELLING, max_size=3)), min_size=2, max_size=10))
    played = [([*recorded, *growth], chances) for (growth, chances), recorded in around]
    return Story(played, draw(st.sampled_from(ABILITIES)), draw(st.sampled_from([1, 3])))


STORIES = _stories()


def is_steady(moments: Sequence[Moment], lane: Lane, limits: Limits) -> bool:
    """See that nothing of what must hold for every lane is broken."""
    for before, now in pairwise(moments):
        if not now.call.causes:
            both = zip(before.call.raw, now.call.raw, strict=False)
            common = [old for old, _ in takewhile(lambda pair: pair[0] == pair[1], both)]
            sent = as_bytes(apply(common, now.in_force_before.values()))
            assert as_bytes(now.call.served)[: len(sent)] == sent
    assert is_sound(moment.call for moment in moments)
    assert [moment.session for moment in moments] == [*folds(moment.facts for moment in moments)]
    for moment in moments:
        assert moment.call.made.faults == ()
        if moment.call.made.kind == "rebase" and not boundary(moment.call.state):
            assert _rest(moment, lane, limits).edits == ()
    return True


def _rest(moment: Moment, lane: Lane, limits: Limits) -> Change:
    """What the lane wants after the call, on the state after its own edits."""
    recorded = [event for _, event in moment.facts if isinstance(event, PartRecorded)]
    return lane.rebase(view_at(moment.session, limits, {event.part: event.output or event.text for event in recorded}))


def edits_by(moments: Sequence[Moment], lane: str) -> Iterator[AnyEdit]:
    for moment in moments:
        yield from (edit for edit in edits_of(moment.call.made) if edit.lane.partition(":")[0] == lane)
