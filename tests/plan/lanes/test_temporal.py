from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.conversation import Message
from services.plan.lanes import View
from services.plan.lanes.temporal import marker, marker_for, text_with_marker
from tests.helpers.harness import LIMITS, Harness, attached, ran, replace, text_part


@pytest.mark.parametrize(
    ("gap", "text"),
    [
        (299, ""),
        (300, "<!-- +5m -->\n"),
        (3_599, "<!-- +59m -->\n"),
        (3_600, "<!-- +1h -->\n"),
        (8_100, "<!-- +2h 15m -->\n"),
        (86_400, "<!-- +1d -->\n"),
        (273_600, "<!-- +3d 4h -->\n"),
        (604_800, "<!-- +1w -->\n"),
        (700_000, "<!-- +1w 1d -->\n"),
        (-8_100, ""),
        (0, ""),
    ],
)
def test_a_gap_is_rendered_in_its_two_largest_units(gap: float, text: str) -> None:
    assert text == marker(gap)


@given(st.floats(min_value=300, max_value=1e9))
def test_a_marker_is_never_longer_than_the_gap_and_loses_little_of_it(gap: float) -> None:
    seconds = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60}
    words = marker(gap).removeprefix("<!-- +").removesuffix(" -->\n").split()
    length = sum(int(one[:-1]) * seconds[one[-1]] for one in words)
    assert gap * 0.9 - 60 < length <= gap


def after(harness: Harness, seconds: float, text: str = "next") -> tuple[View, Message]:
    """A message of the person so long after what was before it."""
    harness.wait(seconds)
    name = harness.user(text)
    harness.step()
    return View(harness.session, LIMITS), harness.session.conversation.messages[name]


def begun() -> Harness:
    harness = Harness()
    harness.user("hello")
    harness.wait(10)
    harness.assistant(text_part("hi"))
    return harness


def test_the_pause_is_that_since_the_message_before() -> None:
    view, message = after(begun(), 8_100)
    assert "<!-- +2h 15m -->\n" == marker_for(view, message)


def test_a_short_pause_and_the_first_message_have_none() -> None:
    view, message = after(begun(), 299)
    assert "" == marker_for(view, message)
    first = view.session.conversation.messages["m1"]
    assert "" == marker_for(view, first)


def test_only_what_a_user_says_has_one() -> None:
    harness = begun()
    harness.wait(8_100)
    name = harness.assistant(text_part("still there?"))
    harness.step()
    view = View(harness.session, LIMITS)
    assert "" == marker_for(view, harness.session.conversation.messages[name])


def test_a_message_without_a_time_has_none_and_gives_none() -> None:
    harness = begun()
    harness.messages[-1] = replace(harness.messages[-1], at=None)
    view, message = after(harness, 8_100)
    assert "" == marker_for(view, message)
    assert "" == marker_for(view, replace(message, recorded=replace(message.recorded, sent=None)))


def test_a_clock_that_was_set_back_makes_no_gap() -> None:
    harness = begun()
    later = harness.now + timedelta(days=1)
    harness.messages[-1] = replace(harness.messages[-1], at=later)
    view, message = after(harness, 8_100)
    assert "" == marker_for(view, message)


def test_a_message_that_has_gone_is_not_the_one_before() -> None:
    harness = begun()
    harness.step()
    harness.without("m2")
    view, message = after(harness, 590)
    assert "<!-- +10m -->\n" == marker_for(view, message)


def test_it_is_borne_by_the_first_text_that_a_model_sees() -> None:
    harness = begun()
    harness.wait(3_600)
    name = harness.add_message(
        "user", attached(), text_part("hidden", ignored=True), text_part(""), text_part("look"), text_part("here")
    )
    harness.step()
    view = View(harness.session, LIMITS)
    assert f"{name}.3" == text_with_marker(view, harness.session.conversation.messages[name])


def test_what_bears_no_text_has_none() -> None:
    harness = begun()
    harness.wait(3_600)
    names = harness.add_message("user", attached()), harness.add_message("user", ran("FILE"))
    harness.step()
    view = View(harness.session, LIMITS)
    assert ["", ""] == [marker_for(view, harness.session.conversation.messages[name]) for name in names]


@pytest.mark.parametrize("text", ["<!-- +1h -->\nnext", "§5§ <!-- +1h 5m -->\nnext"])
def test_a_text_that_has_a_marker_gets_no_other(text: str) -> None:
    view, message = after(begun(), 8_100, text)
    assert "" == marker_for(view, message)


def test_it_can_be_switched_off() -> None:
    view, message = after(begun(), 8_100)
    assert "" == marker_for(replace(view, limits=replace(LIMITS, temporal=False)), message)
