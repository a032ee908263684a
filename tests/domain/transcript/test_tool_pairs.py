"""A call and its result are never parted: neither by a model or the rules, nor by a page or the end of a range."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.texts.content import RecordedMessage
from services.domain.transcript import reader
from services.domain.transcript.reader import arcs, read, whole
from services.historian.core.from_answer import to_summary
from services.historian.core.model_answer import Bounds, Compartment, Output, bounds
from services.historian.core.rules.summary import summarise
from services.historian.core.validate import check
from tests.helpers.conversations import agent, called, conversations, resulted, transcript, user
from tests.helpers.examples import examples
from tests.helpers.harness import Harness, answered, asked, text_part

Spans = list[tuple[int, int]]


def spans_of(conversation: tuple[RecordedMessage, ...]) -> Spans:
    """From each call to its result, where that stands in another message."""
    calls = {piece.call: one.ordinal for one in conversation for piece in one.pieces if piece.kind == "tool_call"}
    results = {piece.call: one.ordinal for one in conversation for piece in one.pieces if piece.kind == "tool_result"}
    return [(at, results[call]) for call, at in calls.items() if results.get(call, at) > at]


def torn(spans: Spans, ends: list[int]) -> Spans:
    return [(first, last) for first, last in spans for end in ends if first <= end < last]


def one(start: int, end: int) -> Compartment:
    """What a model says of a span, in words that the contract accepts."""
    text = f"Did {start}"
    return Compartment(start, end, f"Work {start}", 40, f"{text} thing.", text, text, "")


def answered_with(ends: list[int], shown: Bounds, unprocessed: int | None) -> Output:
    starts = [shown.first, *(end + 1 for end in ends[:-1])]
    return Output(tuple(one(*span) for span in zip(starts, ends, strict=True)), unprocessed_from=unprocessed)


SPLIT = transcript(
    user("Build it, please."), called("k", command="make all"), resulted("k", "ok"), agent("It is built now.")
)


def test_a_model_that_ends_behind_a_call_is_taken_to_end_behind_its_result() -> None:
    shown = bounds(read(SPLIT, 32_000), 0)
    left = answered_with([2], shown, 3)
    assert ("", [(1, 3)], 4) == (check(left, shown), *ends(left, shown))
    both = answered_with([2, 4], shown, None)
    assert ("", [(1, 3), (4, 4)], 0) == (check(both, shown), *ends(both, shown))


def test_a_model_that_has_a_compartment_for_a_result_alone_gets_that_as_a_fault() -> None:
    shown = bounds(read(SPLIT, 32_000), 0)
    alone = answered_with([2, 3, 4], shown, None)
    assert "The compartment 1-2 ends inside the messages 2-3, which are a call and its result." in check(alone, shown)


def ends(output: Output, shown: Bounds) -> tuple[Spans, int]:
    made = to_summary(output, shown)
    return [(draft.first, draft.last) for draft in made.compartments], made.unprocessed_from


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(conversations(), st.data())
def test_what_is_accepted_of_a_model_parts_no_call_from_its_result(
    text_part: tuple[RecordedMessage, ...], data: st.DataObject
) -> None:
    chunk = read(text_part, 32_000)
    if not chunk.messages:
        return
    shown = bounds(chunk, 0)
    some = data.draw(st.lists(st.sampled_from(shown.ordinals), min_size=1, max_size=6, unique=True).map(sorted))
    rest = [number for number in shown.ordinals if number > some[-1]]
    output = answered_with(some, shown, rest[0] if rest else None)
    if check(output, shown):
        return
    made, left = ends(output, shown)
    assert [] == torn(spans_of(text_part), [last for _, last in made])
    assert all(before[1] + 1 == after[0] for before, after in pairwise(made))
    assert (shown.first, left or shown.last + 1) == (made[0][0], made[-1][1] + 1)


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(conversations(), st.sampled_from([200, 600, 32_000]))
def test_what_is_read_and_what_the_rules_make_of_it_parts_no_call_from_its_result(
    text_part: tuple[RecordedMessage, ...], budget: int
) -> None:
    chunk = read(text_part, budget)
    made = summarise(chunk, "/w")
    assert [] == torn(spans_of(text_part), [chunk.last, *(draft.last for draft in made.compartments)])


def working(*outputs: int | None) -> Harness:
    """An agent whose calls are answered in messages of their own, with outputs of so many bytes; none: not at all."""
    harness = Harness()
    harness.user("Make it work")
    for number, size in enumerate(outputs):
        harness.assistant(text_part("I look."), asked(f"c{number}"))
        if size is not None:
            harness.add_message("tool", answered(f"c{number}", "x" * size))
    harness.step()
    return harness


@pytest.mark.parametrize(("room", "last_in_page"), [(10, 1), (1_500, 3), (2_500, 5), (10_000, 7)])
def test_a_page_ends_behind_a_result(room: int, last_in_page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = working(1_000, 1_000, 1_000).folded().conversation
    monkeypatch.setattr(reader, "PAGE_BYTES", room)
    assert last_in_page == len(reader.page(tuple(conversation.after(0)), conversation))


def test_what_cannot_be_parted_is_one_page_though_it_is_longer_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = working(1_000).folded().conversation
    monkeypatch.setattr(reader, "PAGE_BYTES", 10)
    assert [2, 3] == [message.ordinal for message in reader.page(tuple(conversation.after(1)), conversation)]


@pytest.mark.parametrize(("last", "last_in_range"), [(1, 1), (2, 1), (3, 3), (4, 4), (5, 4), (6, 6)])
def test_a_range_ends_before_a_call_whose_result_stands_behind_it(last: int, last_in_range: int) -> None:
    transcript = working(10, None, 10).folded().conversation
    messages = tuple(message for message in transcript.after(0) if message.ordinal <= last)
    assert list(range(1, last_in_range + 1)) == [message.ordinal for message in whole(messages, transcript)]
    assert messages == tuple(message for arc in arcs(messages, transcript) for message in arc)
