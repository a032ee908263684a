from random import Random

import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from schemas.commands import Command, DropQueue, FlushRequest
from schemas.events import DropRequested, Event, FlushRequested, NativeCompacted, SessionIdled, TagAssigned
from services.desk.core import decide
from services.desk.grammar import MAX_TAGS, BadRange, parse_tags
from services.desk.state import MOST_PROTECTED, Book, evolve
from services.desk.verdict import Terms, Verdict
from tests.given import Given, given

PROTECTED = 3


def tagged(first: int, last: int) -> TagAssigned:
    names = [f"p{number}" for number in range(first, last + 1)]
    return TagAssigned(first=first, parts=names, messages=names, kinds=["message"] * len(names))


def book(*events: Event) -> Given[Book]:
    return given(evolve, Book(), *events)


def answer(before: Given[Book], drop: str, protected: int = PROTECTED) -> Verdict:
    return decide(before.state, DropQueue(drop), Terms(protected=protected))


def queued(text: str, *tags: int) -> Verdict:
    return Verdict(ok=True, text=text, events=(DropRequested(tags=list(tags)),))


def refused(text: str) -> Verdict:
    return Verdict(ok=False, text=text)


# The grammar


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1-5,8,12-15", (1, 2, 3, 4, 5, 8, 12, 13, 14, 15)),
        (" 7 - 9 ", (7, 8, 9)),
        ("5,5,4", (4, 5)),
        ("3", (3,)),
        ("\t3 ,\n4 ", (3, 4)),
        ("3-3", (3,)),
        ("007", (7,)),
        ("2-4,3-5", (2, 3, 4, 5)),
        ("0", (0,)),
    ],
)
def test_numbers_and_ranges_are_read_as_a_sorted_set(text: str, numbers: tuple[int, ...]) -> None:
    assert numbers == parse_tags(text)


NOTHING = 'nothing is named: give tag numbers such as "3-5,8"'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", NOTHING),
        (" \n", NOTHING),
        ("3-", '\'3-\' is no tag number and no range: write "3", or "3-5"'),
        ("-4", '\'-4\' is no tag number and no range: write "3", or "3-5"'),
        ("1,,2", '\'\' is no tag number and no range: write "3", or "3-5"'),
        ("1,", '\'\' is no tag number and no range: write "3", or "3-5"'),
        ("5-3", "the range '5-3' runs backwards: write \"3-5\""),
        ("1-2000", "the range '1-2000' names more than 1000 tags: ask for fewer at once"),
        ("x", '\'x\' is no tag number and no range: write "3", or "3-5"'),
        ("1.5", '\'1.5\' is no tag number and no range: write "3", or "3-5"'),
        ("1 2", '\'1 2\' is no tag number and no range: write "3", or "3-5"'),
        ("1-2-3", '\'1-2-3\' is no tag number and no range: write "3", or "3-5"'),
        ("§3§", '\'§3§\' is no tag number and no range: write "3", or "3-5"'),
        ("٣", '\'٣\' is no tag number and no range: write "3", or "3-5"'),
    ],
)
def test_what_names_no_tags_is_told_so_with_what_would_be_right(text: str, sentence: str) -> None:
    with pytest.raises(BadRange) as error:
        parse_tags(text)
    assert sentence == str(error.value)


def test_a_thousand_tags_are_as_many_as_can_be_named() -> None:
    assert tuple(range(1, MAX_TAGS + 1)) == parse_tags("1-1000")
    assert tuple(range(1, MAX_TAGS + 1)) == parse_tags("1-600,500-1000")
    with pytest.raises(BadRange, match=r"^the range '1-1001' names more than 1000 tags"):
        parse_tags("1-1001")
    with pytest.raises(BadRange, match=r"^more than 1000 tags are named: ask for fewer at once$"):
        parse_tags("1-600,601-1001")


@pytest.mark.parametrize("text", ["9" * 5000, "1-" + "9" * 5000, "y" * 5000])
def test_a_wrong_item_of_any_length_gets_a_short_answer(text: str) -> None:
    with pytest.raises(BadRange) as error:
        parse_tags(text)
    assert len(str(error.value)) < 120


def as_ranges(numbers: set[int]) -> str:
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        first = runs.pop()[0] if runs and runs[-1][1] == number - 1 else number
        runs.append((first, number))
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


@settings(max_examples=100, deadline=None)
@examples(st.sets(st.integers(1, 60), min_size=1), st.randoms(use_true_random=False))
def test_any_set_of_tags_written_as_ranges_is_read_as_that_set(numbers: set[int], chance: Random) -> None:
    items = as_ranges(numbers).split(",")
    chance.shuffle(items)
    assert tuple(sorted(numbers)) == parse_tags(" , ".join(items))


@settings(max_examples=100, deadline=None)
@examples(st.text("0123456789-, x", max_size=12))
def test_any_text_that_is_not_refused_is_a_sorted_set(text: str) -> None:
    try:
        numbers = parse_tags(text)
    except BadRange:
        return
    assert tuple(sorted(set(numbers))) == numbers
    assert 0 < len(numbers) <= MAX_TAGS


# What is granted


def test_tags_that_are_not_protected_are_queued() -> None:
    assert queued("Queued to be dropped: 1, 3-5.", 1, 3, 4, 5) == answer(book(tagged(1, 10)), "3-5,1")


def test_of_the_newest_tags_it_is_said_that_they_are_kept_and_never_when_they_go() -> None:
    active = book(tagged(1, 1), tagged(8, 10))
    text = "Queued to be dropped: 1. Queued, and kept while among the newest 3: 9-10."
    assert queued(text, 1, 9, 10) == answer(active, "1,9,10")


def test_where_all_are_protected_only_that_is_said() -> None:
    assert queued("Queued, and kept while among the newest 3: 8.", 8) == answer(book(tagged(8, 10)), "8")


def test_newer_tags_push_older_ones_out_of_protection() -> None:
    active = book(tagged(1, 1), tagged(8, 10))
    assert queued("Queued, and kept while among the newest 3: 8.", 8) == answer(active, "8")
    assert queued("Queued to be dropped: 8.", 8) == answer(active.and_given(tagged(11, 11)), "8")


def test_the_newest_are_counted_without_those_that_are_asked_to_go() -> None:
    asked = book(tagged(1, 10), DropRequested(tags=[9, 10]))
    assert queued("Queued, and kept while among the newest 3: 6.", 6) == answer(asked, "6")
    assert queued("Queued to be dropped: 5.", 5) == answer(asked, "5")


def test_after_all_are_asked_to_go_the_next_ones_are_the_newest() -> None:
    asked = book(tagged(1, 3), DropRequested(tags=[1, 2, 3]), DropRequested(tags=[]), tagged(4, 4))
    assert (4,) == asked.state.newest
    assert queued("Queued, and kept while among the newest 3: 4.", 4) == answer(asked, "4")


def test_as_many_tags_can_be_protected_as_the_settings_allow() -> None:
    all_of_them = book(tagged(1, 300))
    many = all_of_them.and_given(DropRequested(tags=[300]))
    assert MOST_PROTECTED == len(all_of_them.state.newest) == len(many.state.newest)
    text = "Queued to be dropped: 199. Queued, and kept while among the newest 100: 200."
    assert queued(text, 199, 200) == answer(many, "199-200", MOST_PROTECTED)


def test_numbers_that_are_given_a_second_time_are_the_same_tags() -> None:
    again = book(tagged(1, 4), DropRequested(tags=[2]), tagged(1, 4))
    assert (1, 3, 4) == again.state.newest
    assert Verdict(ok=True, text="Nothing to do: 2 was queued or dropped before.") == answer(again, "2")


def test_tags_that_were_queued_before_are_counted_and_not_queued_again() -> None:
    asked = book(tagged(1, 10), DropRequested(tags=[1, 2]))
    text = "Queued to be dropped: 3. 2 more had been queued or dropped before."
    assert queued(text, 3) == answer(asked, "1-3")


def test_a_wish_repeated_is_granted_and_writes_nothing() -> None:
    before = book(tagged(1, 10))
    granted = before.and_given(*answer(before, "1-3").events).then(DropRequested(tags=[1, 2, 3]))
    assert Verdict(ok=True, text="Nothing to do: 1-3 was queued or dropped before.") == answer(granted, "1-3")


def test_a_flush_is_granted_with_its_reason() -> None:
    text = "Everything that waits will be applied at the next model call."
    granted = Verdict(ok=True, text=text, events=(FlushRequested(reason="tidy"),))
    assert granted == decide(Book(), FlushRequest("tidy"), Terms())


# What is refused, as a whole


def test_unknown_tags_are_all_listed_and_nothing_is_queued() -> None:
    text = (
        "Nothing was queued: there is no tag 11-13, 40 in this session. Use numbers that you can see as §N§; "
        "numbers of removed messages are not given again."
    )
    assert refused(text) == answer(book(tagged(1, 10)), "1,40,11-13")


def test_a_gap_between_tags_names_no_tag() -> None:
    assert not answer(book(tagged(1, 1), tagged(8, 10)), "1-8").ok


def test_tags_from_before_a_compaction_conflict_and_nothing_is_queued() -> None:
    compacted = book(tagged(1, 10), NativeCompacted(last_tag=10), tagged(11, 14))
    text = (
        "Nothing was queued: 9-10 was summarised by the harness before and is not in the prompt any more. Leave it out."
    )
    assert refused(text) == answer(compacted, "9-11")
    assert queued("Queued to be dropped: 11.", 11) == answer(compacted, "11")


def test_an_older_compaction_told_later_frees_nothing() -> None:
    compacted = book(tagged(1, 10), NativeCompacted(last_tag=10), NativeCompacted(last_tag=4))
    assert not answer(compacted, "9").ok


def test_tags_from_before_a_compaction_take_no_place_among_the_newest() -> None:
    compacted = book(tagged(1, 10), NativeCompacted(last_tag=10), tagged(9, 10), tagged(11, 12))
    assert (11, 12) == compacted.state.newest
    assert (11,) == compacted.and_given(DropRequested(tags=[12])).state.newest


def test_unknown_tags_are_told_before_compacted_ones() -> None:
    compacted = book(tagged(1, 10), NativeCompacted(last_tag=10))
    assert answer(compacted, "3,11").text.startswith("Nothing was queued: there is no tag 11 in this session.")


@pytest.mark.parametrize(
    ("drop", "reason"),
    [
        ("", NOTHING),
        ("3-", '\'3-\' is no tag number and no range: write "3", or "3-5"'),
        ("1,9-5", "the range '9-5' runs backwards: write \"5-9\""),
    ],
)
def test_a_text_that_names_no_tags_is_refused_with_the_reason(drop: str, reason: str) -> None:
    assert refused(f"Nothing was queued: {reason}.") == answer(book(tagged(1, 10)), drop)


def test_facts_of_others_change_no_book() -> None:
    before = book(tagged(1, 3)).state
    assert before == book(tagged(1, 3), SessionIdled()).state


def test_a_wish_that_the_desk_has_no_rule_for_is_a_fault() -> None:
    class Unheard(Command, frozen=True):
        pass

    with pytest.raises(TypeError, match="no rule for"):
        decide(Book(), Unheard(), Terms())


OPERATIONS = st.lists(
    st.one_of(
        st.integers(1, 4).map(lambda count: ("tag", count)),
        st.integers(1, 30).map(lambda number: ("drop", number)),
        st.integers(0, 30).map(lambda number: ("compact", number)),
    ),
    max_size=25,
)


@settings(max_examples=100, deadline=None)
@examples(OPERATIONS)
def test_the_newest_are_always_the_highest_that_nobody_asked_to_drop(operations: list[tuple[str, int]]) -> None:
    now, last, compacted, asked = book(), 0, 0, set[int]()
    for name, number in operations:
        match name:
            case "tag":
                now, last = now.and_given(tagged(last + 1, last + number)), last + number
            case "drop":
                now, asked = now.and_given(DropRequested(tags=[number])), asked | {number}
            case _:
                compacted = max(compacted, min(number, last))
                now = now.and_given(NativeCompacted(last_tag=compacted))
        assert tuple(one for one in range(compacted + 1, last + 1) if one not in asked) == now.state.newest
