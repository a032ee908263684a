"""Whether a log is the one that is known: histories are cut anywhere, and grow again in any way."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from services.kit.same_log import APART, Difference, Mark, Trail, compare_marks, with_mark

LONGEST = 3000
LENGTHS = st.integers(1, LONGEST)


def history(length: int, name: str = "a", begun: int = 1) -> list[Mark]:
    """A log of so many records, each stored at a time of its own."""
    return [Mark(seq, f"{name}{seq}", begun * 1_000_000 + seq) for seq in range(1, length + 1)]


def marks_at(log: Sequence[Mark], steps: Sequence[int]) -> tuple[Mark, ...]:
    """The marks of who has read a log, so many records at once, again and again."""
    marks: tuple[Mark, ...] = ()
    at = turn = 0
    while at < len(log):
        at = min(len(log), at + steps[turn % len(steps)])
        marks, turn = with_mark(marks, log[at - 1]), turn + 1
    return marks


def judged(marks: Sequence[Mark], log: Sequence[Mark]) -> Difference | None:
    return compare_marks(marks, marks[-1].seq, len(log), {mark.seq: mark for mark in log})


STEPS = st.lists(st.integers(1, 400), min_size=1, max_size=5)


@given(length=LENGTHS, more=st.integers(0, 500), steps=STEPS)
def test_the_same_log_is_known_again_however_it_has_grown(length: int, more: int, steps: list[int]) -> None:
    log = history(length + more)
    assert judged(marks_at(log[:length], steps), log) is None


@given(length=LENGTHS, steps=STEPS)
def test_marks_are_few_in_order_and_have_the_newest(length: int, steps: list[int]) -> None:
    log = history(length)
    marks = marks_at(log, steps)
    assert log[-1] == marks[-1]
    assert [mark.seq for mark in marks] == sorted({mark.seq for mark in marks})
    assert len(marks) <= 2 * length.bit_length() + 2


@given(length=LENGTHS, cut=st.integers(0, LONGEST), grown=st.integers(0, 2 * LONGEST), steps=STEPS)
def test_a_log_that_went_back_is_noticed_however_far_it_grew_again(
    length: int, cut: int, grown: int, steps: list[int]
) -> None:
    log = history(length)
    marks, cut = marks_at(log, steps), min(cut, length - 1)
    other = log[:cut] + history(max(cut, grown), "b", begun=2)[cut:]
    found = judged(marks, other)
    assert found is not None
    assert (length, len(other)) == (found.known, found.head)
    assert found.agreed == max((mark.seq for mark in marks if mark.seq <= cut), default=0)


@given(length=LENGTHS, cut=st.integers(0, LONGEST), more=st.integers(0, 500), steps=STEPS)
def test_a_log_that_decided_the_same_again_is_noticed_by_its_times(
    length: int, cut: int, more: int, steps: list[int]
) -> None:
    """Ids follow from what was decided: after a copy was put back the same may come again."""
    log = history(length)
    cut = min(cut, length - 1)
    other = log[:cut] + history(length + more, begun=2)[cut:]
    assert judged(marks_at(log, steps), other) is not None


@given(length=LENGTHS, changed=st.sets(st.integers(1, LONGEST), max_size=20), steps=STEPS)
def test_without_times_any_mark_with_another_id_is_a_difference(
    length: int, changed: set[int], steps: list[int]
) -> None:
    """The newest one may be the same by chance."""
    log = [Mark(mark.seq, mark.id) for mark in history(length)]
    marks = marks_at(log, steps)
    other = [Mark(mark.seq, f"b{mark.seq}") if mark.seq in changed else mark for mark in log]
    found = judged(marks, other)
    assert (found is not None) == bool(changed & {mark.seq for mark in marks})
    if found is not None:
        assert found.agreed < min(changed & {mark.seq for mark in marks})


def test_an_older_mark_reveals_what_the_newest_does_not() -> None:
    log = [Mark(seq, f"a{seq}") for seq in range(1, 101)]
    other = [*log[:60], *(Mark(seq, f"b{seq}") for seq in range(61, 100)), log[99], Mark(101, "b101")]
    found = judged(marks_at(log, [10]), other)
    assert found == Difference(100, 40, 101)


def test_a_log_that_is_gone_is_another_one() -> None:
    assert judged(marks_at(history(5), [1]), []) == Difference(5, 0, 0)


@given(length=LENGTHS, cut=st.integers(0, LONGEST), grown=st.integers(0, 2 * LONGEST))
def test_a_trail_of_single_records_notices_it_too(length: int, cut: int, grown: int) -> None:
    trail, log = Trail(), history(length)
    for mark in log:
        trail.note(mark.seq, mark.id)
    cut = min(cut, length - 1)
    other = log[:cut] + history(max(cut, grown), "b", begun=2)[cut:]
    assert length == trail.through
    assert compare_marks(trail.marks, trail.through, length, {mark.seq: mark for mark in log}) is None
    found = compare_marks(trail.marks, trail.through, len(other), {mark.seq: mark for mark in other})
    assert found is not None
    assert max(0, cut - (length - cut) - APART) <= found.agreed <= cut


def test_what_comes_while_a_trail_is_closed_does_not_count() -> None:
    """The connection broke: it may be of another log."""
    trail = Trail()
    trail.note(5, "five")
    trail.is_closed = True
    trail.note(9, "of another log", 7)
    assert (5, (Mark(5, "five"),)) == (trail.through, trail.marks)
    trail.is_closed = False
    trail.note(5, "five", 3)
    trail.note(4, "four")
    assert (Mark(5, "five", 3),) == trail.marks


def test_the_difference_is_reported_in_a_sentence() -> None:
    assert "the log went back from 1,953 to 570; it is the same up to 512" == Difference(1953, 512, 570).reason
    assert "the log is another one behind 512; it was known up to 953" == Difference(953, 512, 1570).reason
