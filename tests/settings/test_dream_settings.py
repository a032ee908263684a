"""What cannot be a slot of the dreamer is refused where it is set, with the right form."""

import pytest

from services.settings import Dream, load


def test_slots_of_tasks_are_taken() -> None:
    loaded = load({"ANNALS_DREAM__SLOTS": '{"repeated_notes": "30 4 * * SUN"}', "ANNALS_DREAM__ZONE": "Europe/Berlin"})
    assert ([], {"repeated_notes": "30 4 * * SUN"}) == ([*loaded.problems], loaded.settings.dream.slots)


@pytest.mark.parametrize(
    ("variable", "value", "remedy"),
    [
        ("SLOTS", '{"repeated_notes": "0 25 * * *"}', 'such as "0 2 * * *"'),
        ("SLOTS", '{"repeated_notes": "02:00-06:00"}', "has 1 fields instead of 5"),
        ("SLOTS", '{"repeated_note": "0 2 * * *"}', "did you mean 'repeated_notes'?"),
        ("SLOTS", '{"x": ""}', "there are "),
        ("ZONE", "Berlin", "write one as `Europe/Berlin`"),
        ("ZONE", "../../etc/passwd", "there is no time zone"),
    ],
)
def test_a_wrong_one_is_named_with_the_right_form_and_the_default_holds(variable: str, value: str, remedy: str) -> None:
    loaded = load({f"ANNALS_DREAM__{variable}": value})
    (problem,) = loaded.problems
    assert remedy in problem.line
    assert f"ANNALS_DREAM__{variable}" in problem.line
    assert Dream() == loaded.settings.dream


def test_an_empty_slot_switches_a_task_off() -> None:
    assert {"repeated_notes": ""} == load({"ANNALS_DREAM__SLOTS": '{"repeated_notes": ""}'}).settings.dream.slots
