"""What the tests of the lanes that add something share: sessions in which there is something to add, and anything."""

from collections.abc import Iterator, Sequence

import msgspec
from hypothesis import strategies as st

from schemas.inbox import Capability, Todo, TodoSeen
from schemas.plan import AnyEdit
from services.domain.limits import Limits
from services.plan.lanes import DROPS, TAGS, Lane
from tests.helpers.harness import Harness, edits_of, text_part
from tests.helpers.random_sessions import AROUND, Act, Moment, Story, play, wildly
from tests.helpers.tool_calls import called

__all__ = ["STORIES", "Story", "edits_by", "play", "wildly", "with_lane"]

A_TODO, B_TODO, C_TODO = Todo("A", "in_progress", "high"), Todo("B", "completed"), Todo("C", "cancelled")
LISTS = {"one": (A_TODO, B_TODO, C_TODO), "other": (Todo("D"),), "done": (B_TODO, C_TODO), "none": ()}
BIG = "line\n" * 12_000
"""An answer of 15,000 tokens."""


def with_lane(lane: Lane, *, protected: int = 1, **limits: object) -> Harness:
    given = msgspec.structs.replace(Limits(threshold=65, protected_tags=protected, min_reclaim=1), **limits)
    return Harness(given, lanes=(TAGS, DROPS, lane))


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


def edits_by(moments: Sequence[Moment], lane: str) -> Iterator[AnyEdit]:
    for moment in moments:
        yield from (edit for edit in edits_of(moment.call.made) if edit.lane.partition(":")[0] == lane)
