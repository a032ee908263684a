"""What an append expects, and which of its events carries that."""

import pytest

from schemas.subjects import Address
from services.domain.guards import ALL, WRITTEN, Expectation, expected, placed, placed_behind

ADDRESS = Address("harbour")
SUBJECTS = {ADDRESS.log("memory.proposed"): 3, ADDRESS.log("memory.revised"): 7, ADDRESS.log("spend.reserved"): 5}
PREFIX = ADDRESS.log_prefix
MEMORY, SPEND, WHOLE = f"{PREFIX}.memory.*", f"{PREFIX}.spend.*", f"{PREFIX}.>"


@pytest.mark.parametrize(
    ("guard", "types", "expectation"),
    [
        ("memory", ["memory.proposed"], {MEMORY: 7}),
        ("memory", ["memory.pinned", "note.written"], {MEMORY: 7}),
        ("memory", ["spend.reserved"], {MEMORY: 7}),
        ("note", ["note.written"], {f"{PREFIX}.note.*": 0}),
        (WRITTEN, ["spend.reserved"], {SPEND: 5}),
        (WRITTEN, ["memory.pinned", "spend.settled", "note.written"], {MEMORY: 7, SPEND: 5, f"{PREFIX}.note.*": 0}),
        (ALL, ["memory.proposed"], {WHOLE: 9}),
    ],
)
def test_rivals_expect_the_same_whatever_types_they_write(
    guard: str, types: list[str], expectation: dict[str, int]
) -> None:
    assert expectation == expected(guard, ADDRESS, SUBJECTS, 9, types)


def subjects(*types: str) -> list[str]:
    return [ADDRESS.log(one) for one in types]


def test_an_expectation_stands_at_the_first_event_that_it_matches() -> None:
    assert [None, Expectation(MEMORY, 7), None] == placed(subjects("a.b", "memory.c", "memory.d"), {MEMORY: 7})
    assert [Expectation(WHOLE, 9), None] == placed(subjects("a.b", "memory.c"), {WHOLE: 9})


def test_one_of_facts_that_are_only_read_stands_where_there_is_room() -> None:
    assert [Expectation(MEMORY, 7), Expectation(SPEND, 5)] == placed(
        subjects("memory.c", "memory.d"), {SPEND: 5, MEMORY: 7}
    )
    assert [Expectation(SPEND, 5), Expectation(MEMORY, 7)] == placed(subjects("a.b", "memory.d"), {SPEND: 5, MEMORY: 7})


@pytest.mark.parametrize(
    ("types", "expectation"),
    [(["memory.c"], {MEMORY: 7, SPEND: 5}), (["memory.c", "a.b"], {MEMORY: 7, WHOLE: 9}), ([], {MEMORY: 7})],
)
def test_what_would_not_be_checked_is_refused(types: list[str], expectation: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expect the position of their whole address"):
        placed(subjects(*types), expectation)


def test_what_is_left_expects_what_was_written_before_it() -> None:
    events = subjects("memory.c", "memory.d", "a.b")
    assert [Expectation(MEMORY, 8), None] == placed_behind(events, {MEMORY: 7}, [8], ADDRESS)
    assert [Expectation(WHOLE, 8), None] == placed_behind(events, {WHOLE: 7}, [8], ADDRESS)
    assert [Expectation(SPEND, 5)] == placed_behind(events, {SPEND: 5}, [8, 9], ADDRESS)


def test_what_is_left_and_too_few_for_all_of_it_expects_where_the_address_is() -> None:
    events = subjects("memory.c", "spend.d")
    assert [Expectation(WHOLE, 8)] == placed_behind(events, {MEMORY: 7, SPEND: 5}, [8], ADDRESS)
