import msgspec
import pytest

from schemas.events import (
    Event,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    PartRecorded,
    PartRemoved,
    SessionIdled,
    StepOpened,
    TagAssigned,
)
from services.domain.conversation import HEAD_CHARACTERS, Conversation, evolve
from tests.helpers.given import Given, given


def message(name: str, *listed: str) -> MessageRecorded:
    return MessageRecorded(message=name, role="user", listed=list(listed))


def part(message: str, name: str, position: int = 0, tokens: int = 0, text: str = "") -> PartRecorded:
    return PartRecorded(message=message, part=name, kind="text", position=position, tokens=tokens, text=text)


def listed(**places: int) -> MessageListed:
    return MessageListed(messages=list(places), ordinals=list(places.values()))


def removed(*messages: str) -> MessageRemoved:
    return MessageRemoved(messages=list(messages), reason="deleted")


def step(last: int) -> StepOpened:
    return StepOpened(step="s", last=last)


def conversation_of(*events: Event) -> Given[Conversation]:
    return given(evolve, Conversation(), *events)


def order(after: Given[Conversation]) -> list[str]:
    return [one.recorded.message for one in after.state.after(0)]


ABC = (
    part("a", "a0", tokens=1),
    part("b", "b0", tokens=10),
    part("c", "c0", tokens=100),
    listed(a=1, b=2, c=3),
    step(3),
)


# Parts


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        ((0, 1, 2), ["p0", "p1", "p2"]),
        ((2, 0, 1), ["p1", "p2", "p0"]),
        ((0, 3, 1), ["p0", "p2", "p1"]),
        ((0, 0, 0), ["p0", "p1", "p2"]),
        ((1, 0, 1), ["p1", "p0", "p2"]),
        ((5, 1, 1, 0), ["p3", "p1", "p2", "p0"]),
    ],
)
def test_a_part_stands_at_its_position_and_of_equal_ones_the_later_seen_behind(
    positions: tuple[int, ...], expected: list[str]
) -> None:
    parts = [part("a", f"p{number}", position) for number, position in enumerate(positions)]
    assert expected == list(conversation_of(*parts).state.messages["a"].parts)


def test_a_late_part_of_an_earlier_message_is_sent_in_its_place() -> None:
    late = conversation_of(part("a", "a0"), part("a", "a2", 2), listed(a=1), part("a", "a1", 1)).state
    assert ["a0", "a1", "a2"] == [name for name, _ in late.sent_parts(late.messages["a"])]


def test_a_part_seen_again_keeps_its_place_and_its_number() -> None:
    tag = TagAssigned(first=7, parts=["a0"], messages=["a"], kinds=["message"])
    again = conversation_of(part("a", "a0", text="x"), part("a", "a1", 1), tag, part("a", "a0", 5, text="y")).state
    assert ("a0", "a1") == again.messages["a"].parts
    answer = again.parts["a0"]
    assert (7, 3, 4, "y") == (answer.number, answer.tag_seq, answer.seq, answer.head)


def test_only_the_beginning_of_a_text_is_stored() -> None:
    long = msgspec.structs.replace(part("a", "a0", text="x" * 1000), input="in", output="out")
    answer = conversation_of(long).state.parts["a0"]
    assert "x" * HEAD_CHARACTERS == answer.head
    assert part("a", "a0") == answer.recorded


def test_a_part_before_its_message_waits_for_it_and_stays_in_it() -> None:
    first = conversation_of(part("a", "a0", tokens=3))
    assert "" == first.state.messages["a"].recorded.role
    known = first.and_given(message("a")).state.messages["a"]
    assert (message("a"), ("a0",), 3) == (known.recorded, known.parts, known.tokens)


def test_the_parts_that_are_sent_are_those_listed_where_they_are_not_all() -> None:
    some = conversation_of(message("a"), part("a", "a0"), part("a", "a1", 1), message("a", "a1", "gone")).state
    assert ("a1", "gone") == some.messages["a"].sent
    assert ["a1"] == [name for name, _ in some.sent_parts(some.messages["a"])]
    assert ("a0", "a1") == conversation_of(part("a", "a0"), part("a", "a1", 1)).state.messages["a"].sent


def test_a_part_that_moves_to_another_message_leaves_the_first() -> None:
    moved = conversation_of(*ABC, part("b", "a0", 1, tokens=7)).state
    assert ((), 0) == (moved.messages["a"].parts, moved.messages["a"].tokens)
    assert (("b0", "a0"), 17) == (moved.messages["b"].parts, moved.messages["b"].tokens)
    assert 117 == moved.tokens
    assert 0 == moved.unchanged


def test_a_removed_part_leaves_the_message_that_holds_it_whichever_is_named() -> None:
    wrong = conversation_of(*ABC, PartRemoved(message="c", part="b0")).state
    assert ((), ("c0",)) == (wrong.messages["b"].parts, wrong.messages["c"].parts)
    assert 101 == wrong.tokens
    assert ("c0", "c1") == conversation_of(*wrong_then_late()).state.messages["c"].parts


def wrong_then_late() -> tuple[Event, ...]:
    return (*ABC, PartRemoved(message="b", part="c0"), part("c", "c0"), part("c", "c1"))


def test_the_removal_of_an_unknown_part_changes_nothing() -> None:
    assert conversation_of(*ABC).state == conversation_of(*ABC, PartRemoved(message="a", part="a9")).state


# Places


def test_messages_stand_in_the_order_of_their_ordinals() -> None:
    assert ["a", "c", "b"] == order(conversation_of(listed(a=1, b=5), listed(c=3)))


def test_a_message_listed_again_moves() -> None:
    moved = conversation_of(*ABC, listed(a=4))
    assert ["b", "c", "a"] == order(moved)
    assert (3, 4, 111) == (moved.state.count, moved.state.last_ordinal, moved.state.tokens)


def test_what_stands_after_an_ordinal_begins_behind_it() -> None:
    now = conversation_of(*ABC, removed("b")).state
    assert ["c"] == [one.recorded.message for one in now.after(1)]
    assert ["c"] == [one.recorded.message for one in now.after(2)]
    assert [] == [one.recorded.message for one in now.after(3)]


def test_a_part_is_in_the_place_of_its_message_as_long_as_that_is_part_of_the_conversation() -> None:
    now = conversation_of(*ABC, removed("b"), part("d", "d0"), listed(e=9)).state
    assert [1, 0, 3, 0, 0] == [now.place(name) for name in ("a0", "b0", "c0", "d0", "unknown")]
    assert 9 == now.last_ordinal


def test_a_removed_message_remembers_its_place() -> None:
    gone = conversation_of(*ABC, removed("b"))
    assert (2, False) == (gone.state.messages["b"].ordinal, gone.state.messages["b"].present)
    assert ["a", "b", "c"] == order(gone.and_given(listed(b=2)))


def test_removing_what_is_not_there_changes_nothing() -> None:
    assert (
        conversation_of(*ABC, removed("b")).state == conversation_of(*ABC, removed("b"), removed("b", "unknown")).state
    )


# Tokens


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((), 111),
        ((part("b", "b0", tokens=20),), 121),
        ((part("b", "b1", 1, tokens=5),), 116),
        ((PartRemoved(message="b", part="b0"),), 101),
        ((removed("b"),), 101),
        ((removed("b"), part("b", "b0", tokens=20)), 101),
        ((removed("b"), part("b", "b0", tokens=20), listed(b=2)), 121),
        ((removed("b"), PartRemoved(message="b", part="b0"), listed(b=2)), 101),
        ((listed(b=4),), 111),
        ((part("d", "d0", tokens=1000),), 111),
    ],
)
def test_tokens_are_those_of_the_messages_that_are_present(events: tuple[Event, ...], expected: int) -> None:
    assert expected == conversation_of(*ABC, *events).state.tokens


# Numbers


def test_numbers_name_parts_and_the_highest_is_never_forgotten() -> None:
    tag = TagAssigned(first=4, parts=["a0", "unknown", "c0"], messages=["a", "b", "c"], kinds=["message"] * 3)
    now = conversation_of(*ABC, tag, PartRemoved(message="c", part="c0")).state
    assert {4: "a0", 6: "c0"} == dict(now.numbered)
    assert 6 == now.last_number
    assert (4, 6) == (now.parts["a0"].number, now.parts["a0"].tag_seq)


def test_a_number_given_again_lowers_nothing() -> None:
    high = TagAssigned(first=9, parts=["a0"], messages=["a"], kinds=["message"])
    low = TagAssigned(first=2, parts=["b0"], messages=["b"], kinds=["message"])
    assert 9 == conversation_of(*ABC, high, low).state.last_number


# What is unchanged since the last step


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((), 3),
        ((SessionIdled(),), 3),
        ((part("d", "d0"), listed(d=4)), 3),
        ((part("b", "b0", text="other"),), 1),
        ((part("b", "b1", 1),), 1),
        ((PartRemoved(message="b", part="b0"),), 1),
        ((removed("b"),), 1),
        ((removed("b"), listed(b=2)), 1),
        ((removed("c", "a"),), 0),
        ((listed(b=4),), 1),
        ((message("b"),), 3),
        ((message("b", "b0"),), 1),
        ((removed("c"), step(2), message("c", "c0")), 2),
        ((removed("c"), step(2), part("c", "c0")), 2),
        ((removed("b"), step(3)), 3),
        ((removed("b"), step(3), listed(b=2)), 1),
    ],
)
def test_what_is_unchanged_ends_before_the_first_change(events: tuple[Event, ...], expected: int) -> None:
    assert expected == conversation_of(*ABC, *events).state.unchanged
