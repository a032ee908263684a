"""What is firm is counted as facts come, as it would be counted anew, and every rebase by choice leaves it."""

import pytest
from hypothesis import given, settings

from schemas.inbox import PartSeen
from services.domain.limits import Limits
from services.plan.lanes import DROPS, LANES, TAGS
from services.plan.session.firm import CALL, Firm, firm_call, firm_words
from services.plan.session.state import Session
from tests.helpers.examples import examples
from tests.helpers.harness import Harness, ran, replace, text_part
from tests.helpers.random_sessions import STORIES, Story, play, wildly

TEXT = "word " * 80
"""100 tokens."""


def session_of(*parts: PartSeen) -> Harness:
    harness = Harness(Limits(protected_tags=1), LANES)
    harness.user("go")
    for part in parts:
        harness.assistant(part)
    harness.step()
    return harness


def counted(session: Session) -> Firm:
    """The same, counted anew."""
    names = list(session.conversation.parts)
    words, calls = sum(firm_words(session, name) for name in names), sum(firm_call(session, name) for name in names)
    return Firm(words, calls)


def test_words_are_firm_and_outputs_are_not() -> None:
    harness = session_of(text_part(TEXT), ran("x" * 4000))

    assert harness.session.firm == Firm(words=100 + 1, calls=0)


@pytest.mark.parametrize(
    "text",
    [
        "<think>Let me see.</think>\n\nIt was the order.",
        "[dropped §1§] and more",
        "<system-reminder>Be quick.</system-reminder>",
        " ",
    ],
)
def test_a_text_in_which_some_lane_may_find_something_is_not_firm(text: str) -> None:
    assert session_of(text_part(text)).session.firm == Firm(words=1)


def test_a_text_that_is_asked_to_be_dropped_is_firm_no_more() -> None:
    harness = session_of(text_part(TEXT))
    harness.drop(2)

    assert harness.session.firm == Firm(words=1)


def test_a_text_that_was_recorded_anew_is_firm_no_more() -> None:
    harness = session_of(text_part(TEXT))
    harness.change("m2.0", text=TEXT * 2)
    harness.step()

    assert harness.session.firm == Firm(words=1)


def test_a_text_that_has_left_the_conversation_is_firm_when_it_is_back() -> None:
    harness = session_of(text_part(TEXT))
    whole = list(harness.messages)
    harness.without("m2")
    harness.step()
    assert harness.session.firm.words == 1

    harness.messages = whole
    harness.step()
    assert harness.session.firm.words == 101


def test_of_a_dropped_call_its_arguments_and_the_placeholder_are_firm_unless_they_are_long() -> None:
    harness = session_of(
        ran("x" * 4000, '{"path": "a.py"}'), ran("x" * 4000, f'{{"path": "{"a" * 4 * CALL}"}}', call="d")
    )
    harness.user("go on")
    harness.drop(2, 3)
    harness.flush()
    harness.step()

    assert harness.session.firm.calls == 8
    assert harness.session.firm == counted(harness.session)


@given(story=STORIES)
@settings(wildly, max_examples=examples(20))
def test_what_is_firm_is_counted_as_it_would_be_anew(story: Story) -> None:
    for call in [moment.call for moment in play(story, *(lane for lane in LANES if lane not in (TAGS, DROPS)))]:
        assert call.state.firm == counted(call.state)


def test_a_part_that_moves_to_another_message_is_counted_once() -> None:
    harness = session_of(text_part(TEXT))
    harness.messages[1] = replace(
        harness.messages[1],
        message="m9",
        parts=tuple(replace(part, message="m9") for part in harness.messages[1].parts),
    )
    harness.step()

    assert harness.session.firm == counted(harness.session)
