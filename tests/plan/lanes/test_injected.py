import pytest

from services.domain.texts.clean import BANNERS, without_injected
from services.plan.lanes import injected
from tests.helpers.cost import bare_operations
from tests.helpers.harness import Harness, replace, text_part
from tests.helpers.stripping import (
    age,
    harness_with,
    lanes_of,
    rebased,
    text_of,
    view_of,
)

INJECTED = injected.LANE
REMINDER = "<system-reminder>x</system-reminder>"
DIRECTIVE = "[SYSTEM DIRECTIVE: OH-MY-OPENCODE - TODO]"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (REMINDER, ""),
        (f"Do this\n{REMINDER}\nthanks", "Do this\n\nthanks"),
        (f"{DIRECTIVE}\ncontinue\n\nkeep", "keep"),
        ("[SYSTEM DIRECTIVE: MAGIC-CONTEXT - X]\nstay\n\nhere", "[SYSTEM DIRECTIVE: MAGIC-CONTEXT - X]\nstay\n\nhere"),
        ("  no mark  ", "  no mark  "),
        ("<SYSTEM-REMINDER>x\ny</System-Reminder> go", "go"),
        ("<system-reminder>never closed", "<system-reminder>never closed"),
        ("go <!-- OMO_INTERNAL_INITIATOR -->", "go"),
        (f"keep\n\n{DIRECTIVE}\nsteps:\n\n- one\n- two\n\n1. three\n\nkeep too", "keep\n\nkeep too"),
        (f"{DIRECTIVE}\nall of it", ""),
        ("keep\n[Category+Skill Reminder]\nuse it\n\n- keep", "keep\n- keep"),
        (f"{DIRECTIVE}\na\n\n{DIRECTIVE}\nb\n\nkeep", "keep"),
    ],
)
def test_what_was_injected_goes(text: str, left: str) -> None:
    assert without_injected(text) == left


@pytest.mark.parametrize("banner", BANNERS)
def test_a_banner_goes_up_to_a_blank_line(banner: str) -> None:
    assert without_injected(f"before\n\n{banner} and\nmore\n \nbehind") == "before\n\nbehind"


@pytest.mark.parametrize("piece", ["<system-reminder>", DIRECTIVE + "\n", "\n\n\n- ", BANNERS[0] + "\n\n", "\n" * 100])
def test_it_costs_little_on_any_text(piece: str) -> None:
    assert 80 > bare_operations(lambda: without_injected(DIRECTIVE + piece * 10_000))


def prompted(text: str, *, synthetic: bool = False) -> Harness:
    harness = harness_with(INJECTED)
    harness.add_message("user", replace(text_part(text), synthetic=synthetic))
    harness.assistant(text_part("ok"))
    return harness


def test_old_prompts_are_served_without_it_and_with_their_tag() -> None:
    harness = prompted(f"Do this\n{REMINDER}\nthanks")
    age(harness)
    assert text_of(rebased(harness), "m1.0") == "§1§ Do this\n\nthanks"
    assert lanes_of(harness) == {"part:m1.0": "injected"}


def test_a_prompt_of_nothing_else_is_dropped_and_stays_a_turn() -> None:
    harness = prompted(REMINDER)
    age(harness)
    call = rebased(harness)
    assert (call.served[0].role, text_of(call, "m1.0")) == ("user", "[dropped §1§]")
    assert 1 in harness.session.drops.dropped


def test_what_holds_in_the_running_turn_stays() -> None:
    harness = prompted(f"Do this {REMINDER}")
    for _ in range(6):
        harness.assistant(text_part("so"))
    harness.step()
    assert injected.rebase(view_of(harness)).edits == ()


def test_a_protected_prompt_stays() -> None:
    harness = prompted(f"Do this {REMINDER}")
    harness.user("on")
    harness.drop()
    harness.step()
    harness.without("m2")
    harness.step()
    assert injected.rebase(view_of(harness)).edits == ()


def test_what_an_agent_says_is_its_own() -> None:
    harness = harness_with(INJECTED)
    harness.user("go")
    harness.assistant(text_part(f"It says {REMINDER}"))
    age(harness)
    harness.step()
    assert injected.rebase(view_of(harness)).edits == ()


def test_a_mark_behind_the_beginning_of_a_text_is_found_in_what_no_person_wrote() -> None:
    text = "word " * 200 + REMINDER
    for synthetic, read in ((True, ("m1.0",)), (False, ())):
        harness = prompted(text, synthetic=synthetic)
        age(harness)
        harness.step()
        assert injected.needs(view_of(harness)) == read
    harness = prompted(text, synthetic=True)
    age(harness)
    assert text_of(rebased(harness), "m1.0") == "§1§ " + text.removesuffix(REMINDER).rstrip()


def test_a_prompt_that_was_changed_is_looked_at_again() -> None:
    harness = prompted(f"Do this {REMINDER}")
    age(harness)
    rebased(harness)
    harness.change("m1.0", text="Do that")
    assert text_of(harness.step(), "m1.0") == "§1§ Do that"


def test_the_same_without_tags_in_view() -> None:
    harness = prompted(f"Do this {REMINDER}")
    harness.mode = "subagent"
    age(harness)
    assert text_of(rebased(harness), "m1.0") == "Do this"
    harness.change("m1.0", text="Do that")
    assert text_of(harness.step(), "m1.0") == "Do that"
    assert "part:m1.0" not in harness.edits
