import pytest

from services.plan.lanes import errors
from services.plan.lanes.errors import shorten_failure
from tests.helpers.harness import Harness, answered, asked, ran, replace, text_part
from tests.helpers.stripping import (
    age,
    harness_with,
    lanes_of,
    rebased,
    text_of,
    view_of,
)

ERRORS = errors.LANE
FAILURE = "no such file: " + "x" * 300
SHORT = FAILURE[:100] + "... [truncated]"


@pytest.mark.parametrize(
    ("text", "served"),
    [("", ""), ("x" * 100, "x" * 100), ("x" * 101, "x" * 100 + "... [truncated]"), ("ä" * 100, "ä" * 100)],
)
def test_a_failure_keeps_its_first_hundred_characters(text: str, served: str) -> None:
    assert shorten_failure(text) == served


def failed(output: str = FAILURE) -> Harness:
    harness = harness_with(ERRORS)
    harness.user("go")
    harness.assistant(text_part("look"), replace(ran(output), status="error"))
    return harness


def test_an_old_failure_is_shortened() -> None:
    harness = failed()
    age(harness)
    assert text_of(rebased(harness), "m2.1") == SHORT
    assert lanes_of(harness) == {"part:m2.1": "errors"}


def test_the_call_stays() -> None:
    harness = failed()
    age(harness)
    served = rebased(harness).served[1]
    assert [(part.kind, part.input) for part in served.parts] == [("text", ""), ("tool", "{}")]


def test_a_failure_behind_protected_tags_stays() -> None:
    harness = failed()
    harness.user("on")
    harness.step()
    assert errors.needs(view_of(harness)) == ()
    harness.assistant(text_part("so"))
    harness.step()
    assert errors.needs(view_of(harness)) == ("m2.1",)


def test_a_failure_before_any_tag_is_not_old() -> None:
    harness = harness_with(ERRORS)
    harness.assistant(replace(ran(FAILURE), status="error"))
    age(harness)
    harness.step()
    assert errors.rebase(view_of(harness)).edits == ()


@pytest.mark.parametrize("output", ["no", "x" * 100, "ä" * 100])
def test_a_short_failure_stays(output: str) -> None:
    harness = failed(output)
    age(harness)
    assert text_of(rebased(harness), "m2.1") == output


def test_what_did_not_fail_stays() -> None:
    harness = harness_with(ERRORS)
    harness.user("go")
    harness.assistant(ran(FAILURE))
    age(harness)
    harness.step()
    assert errors.needs(view_of(harness)) == ()


def test_a_result_in_a_message_of_its_own_is_shortened() -> None:
    harness = harness_with(ERRORS)
    harness.user("go")
    harness.assistant(asked("c"))
    harness.add_message("tool", replace(answered("c", FAILURE), status="error"))
    age(harness)
    assert text_of(rebased(harness), "m3.0") == SHORT


def test_a_failure_that_was_shortened_before_is_left_alone() -> None:
    harness = failed(SHORT)
    age(harness)
    harness.step()
    assert errors.rebase(view_of(harness)).edits == ()


def test_another_outcome_of_the_call_is_served() -> None:
    harness = failed()
    age(harness)
    rebased(harness)
    harness.change("m2.1", output="y" * 200)
    assert text_of(harness.step(), "m2.1") == "y" * 100 + "... [truncated]"
    harness.change("m2.1", output="FILE", status="completed")
    harness.step()
    assert text_of(rebased(harness), "m2.1") == f"§{harness.session.conversation.last_number}§ FILE"


def test_a_failure_whose_text_could_not_be_read_stays() -> None:
    harness = failed()
    age(harness)
    harness.step()
    assert errors.rebase(replace(view_of(harness), texts={})).edits == ()
