"""The system prompt that OpenCode sends: its date stays, guidance comes behind it, helpers are left alone."""

import msgspec
import pytest

from services.responder.answers.client_manifest import MANIFEST, SKIP
from tests.adapter.conftest import Adapter

Plain = dict[str, object]
TEXT = "You are powered by a model.\n<env>\n  Today's date: {}\n</env>"
FRIDAY, SATURDAY = TEXT.format("Fri Nov 20 2026"), TEXT.format("Sat Nov 21 2026")


@pytest.fixture
def guide() -> Plain:
    return dict(msgspec.to_builtins(MANIFEST))


def test_a_session_that_outlives_midnight_keeps_its_date(adapter: Adapter, guide: Plain) -> None:
    first = adapter("dateOf", [FRIDAY], guide)

    assert first == "Today's date: Fri Nov 20 2026"
    assert adapter("adjusted", [SATURDAY], guide, "primary", first) == adapter(
        "adjusted", [FRIDAY], guide, "primary", ""
    )


def test_another_date_is_no_other_prompt_and_another_word_is(adapter: Adapter, guide: Plain) -> None:
    assert adapter("digestOf", [FRIDAY], guide) == adapter("digestOf", [SATURDAY], guide)
    assert adapter("digestOf", [FRIDAY], guide) != adapter("digestOf", [FRIDAY + "!"], guide)


@pytest.mark.parametrize("mode", ["primary", "reduce_off", "subagent", "additive", "hidden"])
def test_guidance_stands_behind_the_prompt_once(adapter: Adapter, guide: Plain, mode: str) -> None:
    once = adapter("adjusted", [FRIDAY], guide, mode, "")

    assert once == ["\n\n".join(filter(None, [FRIDAY, MANIFEST.system.get(mode)]))]
    assert adapter("adjusted", once, guide, mode, "") == once


def test_guidance_makes_no_further_system_message(adapter: Adapter, guide: Plain) -> None:
    """The chat templates of some local models refuse a second one, and the first changes least."""
    guidance = MANIFEST.system["primary"]
    assert [f"{FRIDAY}\n\n{guidance}", "Be brief."] == adapter("adjusted", [FRIDAY, "Be brief."], guide, "primary", "")
    assert [guidance] == adapter("adjusted", [], guide, "primary", "")
    assert [guidance] == adapter("adjusted", [""], guide, "primary", "")


@pytest.mark.parametrize("opening", SKIP)
def test_a_helper_is_known_by_how_its_prompt_opens(adapter: Adapter, guide: Plain, opening: str) -> None:
    assert adapter("isHelper", [f"{opening} And so on."], guide)
    assert not adapter("isHelper", [FRIDAY], guide)
