from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as given_any
from hypothesis import strategies as st

from schemas.commands import Command, DropQueue, FlushRequest
from schemas.events import (
    DropRequested,
    Event,
    FlushRequested,
    MessageListed,
    MessageRemoved,
    NativeCompacted,
    PartRecorded,
    PartRemoved,
    SessionIdled,
    TagAssigned,
)
from services.desk.core.commands import decide
from services.desk.core.session import NOTHING_WAITS, DeskSession
from services.desk.core.tags import MAX_TAGS, Tags, evolve, parse_tags
from services.domain.decision import CommandContext, Decision
from services.domain.protection import newest, protected
from services.domain.ranges import BadRange
from tests.helpers.examples import examples
from tests.helpers.given import Given, given
from tests.helpers.random_sessions import Story, play
from tests.plan.planner.test_check import OTHERS, stories

PROTECTED = 3


def tagged(first: int, last: int) -> TagAssigned:
    names = [f"p{number}" for number in range(first, last + 1)]
    return TagAssigned(first=first, parts=names, messages=names, kinds=["message"] * len(names))


def tags_of(*events: Event) -> Given[Tags]:
    return given(evolve, Tags(), *events)


def answer(before: Given[Tags], drop: str, protected: int = PROTECTED) -> Decision:
    return decide(DeskSession(before.state), DropQueue(drop), CommandContext(protected=protected))


def queued(text: str, *tags: int) -> Decision:
    return Decision(ok=True, text=text, events=(DropRequested(tags=list(tags)),))


def refused(text: str) -> Decision:
    return Decision(ok=False, text=text)


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
def test_what_names_no_tags_is_answered_with_what_would_be_right(text: str, sentence: str) -> None:
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


@settings(max_examples=examples(100), deadline=None)
@given_any(st.sets(st.integers(1, 60), min_size=1), st.randoms(use_true_random=False))
def test_any_set_of_tags_written_as_ranges_is_read_as_that_set(numbers: set[int], chance: Random) -> None:
    items = as_ranges(numbers).split(",")
    chance.shuffle(items)
    assert tuple(sorted(numbers)) == parse_tags(" , ".join(items))


@settings(max_examples=examples(100), deadline=None)
@given_any(st.text("0123456789-, x", max_size=12))
def test_any_text_that_is_not_refused_is_a_sorted_set(text: str) -> None:
    try:
        numbers = parse_tags(text)
    except BadRange:
        return
    assert tuple(sorted(set(numbers))) == numbers
    assert 0 < len(numbers) <= MAX_TAGS


# What is granted


def test_tags_that_are_not_protected_are_queued() -> None:
    assert queued("Queued to be dropped: 1, 3-5.", 1, 3, 4, 5) == answer(tags_of(tagged(1, 10)), "3-5,1")


def test_of_the_newest_tags_the_answer_is_that_they_stay_and_never_when_they_go() -> None:
    active = tags_of(tagged(1, 1), tagged(8, 10))
    text = "Queued to be dropped: 1. Queued, and kept while among the newest 3 and there is room for it: 9-10."
    assert queued(text, 1, 9, 10) == answer(active, "1,9,10")


def test_where_all_are_protected_only_that_is_answered() -> None:
    assert queued("Queued, and kept while among the newest 3 and there is room for it: 8.", 8) == answer(
        tags_of(tagged(8, 10)), "8"
    )


def test_newer_tags_push_older_ones_out_of_protection() -> None:
    active = tags_of(tagged(1, 1), tagged(8, 10))
    assert queued("Queued, and kept while among the newest 3 and there is room for it: 8.", 8) == answer(active, "8")
    assert queued("Queued to be dropped: 8.", 8) == answer(active.and_given(tagged(11, 11)), "8")


def removed(*numbers: int) -> MessageRemoved:
    return MessageRemoved(messages=[f"p{number}" for number in numbers], reason="reverted")


def listed(*numbers: int) -> MessageListed:
    return MessageListed(messages=[f"p{number}" for number in numbers], ordinals=list(numbers))


def test_what_is_queued_or_dropped_keeps_its_place_among_the_newest() -> None:
    asked = tags_of(tagged(1, 10), DropRequested(tags=[9, 10]))
    assert queued(
        "Queued to be dropped: 7. Queued, and kept while among the newest 3 and there is room for it: 8.", 7, 8
    ) == answer(asked, "7-8")


def test_tags_of_removed_messages_take_no_place_among_the_newest() -> None:
    reverted = tags_of(tagged(1, 33), removed(*range(7, 34)))
    assert queued(
        "Queued to be dropped: 3. Queued, and kept while among the newest 3 and there is room for it: 4.", 3, 4
    ) == answer(reverted, "3-4")


def test_as_many_tags_can_be_protected_as_the_settings_allow() -> None:
    text = "Queued to be dropped: 200. Queued, and kept while among the newest 100 and there is room for it: 201."
    assert queued(text, 200, 201) == answer(tags_of(tagged(1, 300)), "200-201", 100)


def test_numbers_that_are_given_a_second_time_are_the_same_tags() -> None:
    again = tags_of(tagged(1, 4), DropRequested(tags=[2]), tagged(1, 4))
    assert Decision(ok=True, text="Nothing to do: 2 was queued or dropped before.") == answer(again, "2")
    assert queued("Queued to be dropped: 1.", 1) == answer(again, "1")


def test_tags_that_were_queued_before_are_counted_and_not_queued_again() -> None:
    asked = tags_of(tagged(1, 10), DropRequested(tags=[1, 2]))
    text = "Queued to be dropped: 3. 2 more had been queued or dropped before."
    assert queued(text, 3) == answer(asked, "1-3")


def test_a_command_repeated_is_granted_and_writes_nothing() -> None:
    before = tags_of(tagged(1, 10))
    granted = before.and_given(*answer(before, "1-3").events).then(DropRequested(tags=[1, 2, 3]))
    assert Decision(ok=True, text="Nothing to do: 1-3 was queued or dropped before.") == answer(granted, "1-3")


def test_a_flush_is_granted_with_its_reason() -> None:
    text = "Everything that waits will be applied at the next model call."
    granted = Decision(ok=True, text=text, events=(FlushRequested(reason="tidy"),))
    for session in (DeskSession(has_begun=True), DeskSession(tags_of(tagged(1, 1)).state)):
        assert granted == decide(session, FlushRequest("tidy"), CommandContext())


def test_a_flush_is_refused_where_nothing_can_wait() -> None:
    refused = Decision(ok=False, text=NOTHING_WAITS)
    assert refused == decide(DeskSession(), FlushRequest("tidy"), CommandContext())


# What is refused, as a whole


def test_unknown_tags_are_all_listed_and_nothing_is_queued() -> None:
    text = (
        "Nothing was queued: there is no tag 11-13, 40 in this session. Use numbers that you can see as §N§; "
        "numbers of removed messages are not given again."
    )
    assert refused(text) == answer(tags_of(tagged(1, 10)), "1,40,11-13")


def test_a_gap_between_tags_names_no_tag() -> None:
    assert not answer(tags_of(tagged(1, 1), tagged(8, 10)), "1-8").ok


GONE = "Nothing was queued: {} is not in the prompt any more, since it was removed or summarised. Leave it out."


def test_tags_of_messages_that_left_the_conversation_are_refused_and_nothing_is_queued() -> None:
    summarised = tags_of(tagged(1, 10), NativeCompacted(last_tag=10), removed(*range(1, 11)), tagged(11, 14))
    assert refused(GONE.format("9-10")) == answer(summarised, "9-11")
    assert queued("Queued to be dropped: 11.", 11) == answer(summarised, "11")


def test_what_the_harness_keeps_behind_its_own_summary_can_be_dropped() -> None:
    remaining = tags_of(tagged(1, 10), NativeCompacted(last_tag=10), removed(*range(1, 6)), tagged(11, 11))
    assert refused(GONE.format("5")) == answer(remaining, "5")
    assert queued("Queued to be dropped: 6-8.", 6, 7, 8) == answer(remaining, "6-8")


def test_what_is_listed_again_can_be_dropped_again() -> None:
    back = tags_of(tagged(1, 9), removed(2), listed(2))
    assert queued("Queued to be dropped: 2.", 2) == answer(back, "2")


def test_a_part_that_left_its_message_is_in_the_prompt_no_more() -> None:
    assert refused(GONE.format("2")) == answer(tags_of(tagged(1, 9), PartRemoved(message="p2", part="p2")), "2")


def test_a_result_is_gone_with_the_message_that_holds_it() -> None:
    result = PartRecorded(message="r", part="p3", kind="tool_result", call="c", owner="p3")
    answered = tags_of(result, tagged(1, 9), MessageRemoved(messages=["r"], reason="deleted"))
    assert refused(GONE.format("3")) == answer(answered, "3")
    assert queued("Queued to be dropped: 2.", 2) == answer(answered, "2")


def test_unknown_tags_are_reported_before_those_that_are_gone() -> None:
    gone = tags_of(tagged(1, 10), removed(3))
    assert answer(gone, "3,11").text.startswith("Nothing was queued: there is no tag 11 in this session.")


@pytest.mark.parametrize(
    ("drop", "reason"),
    [
        ("", NOTHING),
        ("3-", '\'3-\' is no tag number and no range: write "3", or "3-5"'),
        ("1,9-5", "the range '9-5' runs backwards: write \"5-9\""),
    ],
)
def test_a_text_that_names_no_tags_is_refused_with_the_reason(drop: str, reason: str) -> None:
    assert refused(f"Nothing was queued: {reason}.") == answer(tags_of(tagged(1, 10)), drop)


def test_facts_of_others_change_no_tags() -> None:
    before = tags_of(tagged(1, 3)).state
    assert before == tags_of(tagged(1, 3), SessionIdled()).state


def test_a_command_that_the_desk_has_no_rule_for_is_a_fault() -> None:
    class Unknown(Command, frozen=True):
        pass

    with pytest.raises(TypeError, match="no rule for"):
        decide(DeskSession(), Unknown(), CommandContext())


@settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))
@given_any(stories())
def test_the_desk_names_those_as_protected_that_the_responder_protects(story: Story) -> None:
    """One rule for both, in any session: what the desk says can be dropped is what a rebase drops."""
    for moment in play(story, *OTHERS):
        session = moment.session
        now = given(evolve, Tags(), *(event for _, event in moment.facts)).state
        remaining = newest(now.last, story.protected, now.is_listed)
        assert remaining == protected(session.conversation, story.protected)
