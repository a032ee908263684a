"""What may be compressed: a measure in tokens, whole calls, and never the newest."""

from hypothesis import given
from hypothesis import strategies as st

from services.historian.core.eligible import RELAX, SNAP, eligible, measured
from tests.helpers.harness import Harness, answered, asked, text_part
from tests.helpers.historian_sessions import WORDS, state_of, talking, working

TAIL = 1_000


def places(harness: Harness, tail: int = TAIL) -> list[int]:
    return [one.ordinal for one in eligible(measured(state_of(harness).conversation, 0), tail)]


def test_a_session_that_fits_into_the_tail_has_nothing_to_compress() -> None:
    assert [] == places(talking(1))


def test_all_in_front_of_the_tail_may_be_compressed() -> None:
    assert [1, 2, 3, 4, 5, 6, 7, 8] == places(talking(5))


def test_the_tail_begins_with_a_person_s_message_if_one_is_near() -> None:
    assert [1, 2, 3, 4, 5, 6] == places(talking(4), tail=1_300)
    assert [1, 2, 3, 4] == places(talking(4), tail=1_800)


def test_a_session_with_one_request_of_a_person_is_compressed_too() -> None:
    found = places(working(100))
    assert [*range(1, 100)] == found


def test_a_call_is_never_parted_from_its_answer() -> None:
    harness = Harness()
    harness.user(WORDS)
    for n in range(6):
        harness.assistant(text_part("look"), asked(f"c{n}"))
        harness.add_message("tool", answered(f"c{n}", "line\n" * 900))
    harness.step()
    for tail in range(100, 6_000, 100):
        end = len(places(harness, tail))
        assert end == 0 or end % 2 == 1


def test_a_call_is_not_parted_from_an_answer_that_comes_after_other_words() -> None:
    harness = Harness()
    harness.user(WORDS)
    harness.assistant(asked("c"))
    harness.user(WORDS)
    harness.user(WORDS)
    harness.add_message("tool", answered("c", "line\n" * 900))
    harness.user(WORDS)
    harness.step()
    ends = {len(places(harness, tail)) for tail in range(100, 6_000, 50)}
    assert {1, 5} <= ends <= {0, 1, 5}


def test_a_call_that_is_never_answered_holds_nothing_up() -> None:
    harness = Harness()
    harness.user(WORDS)
    harness.assistant(asked("lost"))
    for _ in range(6):
        harness.user(WORDS)
    harness.step()
    assert 2 in places(harness)


def test_a_few_tokens_are_not_worth_a_run() -> None:
    harness = Harness()
    harness.user("go")
    harness.assistant(text_part("x" * 4 * (SNAP - 1)))
    harness.user(WORDS * 3)
    harness.step()
    assert [] == places(harness)


def test_one_message_that_is_longer_than_the_tail_is_all_of_it() -> None:
    harness = talking(2)
    harness.user("line\n" * 600_000)
    harness.step()
    assert [1, 2, 3, 4] == places(harness)


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.integers(0, 900)), max_size=30), st.integers(1, 4_000)
)
def test_what_is_left_is_about_as_long_as_it_should_be(messages: list[tuple[str, int]], tail: int) -> None:
    harness = Harness()
    for role, size in messages:
        harness.user("x " * size) if role == "user" else harness.assistant(text_part("x " * size))
    harness.step()
    known = measured(state_of(harness).conversation, 0)
    front = eligible(known, tail)
    left = known[len(front) :]
    assert known[: len(front)] == front
    assert not known or left
    if front:
        assert sum(one.tokens for one in left[1:]) <= RELAX * tail
        assert sum(one.tokens for one in left) + front[-1].tokens > tail
