"""Categories and classes of memories: what follows from which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events.fact import CATEGORIES
from services.memory.classes import (
    CLASSES,
    RULES,
    MemoryClass,
    Placement,
    is_class,
    placed,
    placed_by_class,
)


def test_each_category_has_a_class() -> None:
    expected = {
        "PROJECT_RULES": "feedback",
        "ARCHITECTURE": "decision",
        "CONSTRAINTS": "decision",
        "CONFIG_VALUES": "reference",
        "NAMING": "decision",
    }
    assert expected == {category: place.memory_class for category in CATEGORIES if (place := placed(category))}


def test_each_class_has_its_rule() -> None:
    found = {name: (rule.factor, rule.stale_after_days) for name, rule in RULES.items()}
    assert {
        "feedback": (2.25, None),
        "project": (1.25, 60),
        "decision": (2.5, 45),
        "reference": (1.0, 90),
    } == found
    assert set(CLASSES) == set(RULES)
    assert all(map(is_class, CLASSES))
    assert not is_class("PROJECT_RULES")


@pytest.mark.parametrize(
    ("older", "place"),
    [
        ("USER_DIRECTIVES", Placement("PROJECT_RULES", "feedback")),
        ("USER_PREFERENCES", Placement("PROJECT_RULES", "feedback")),
        ("ARCHITECTURE_DECISIONS", Placement("ARCHITECTURE", "decision")),
        ("CONSTRAINTS", Placement("CONSTRAINTS", "decision")),
        ("WORKFLOW_RULES", Placement("PROJECT_RULES", "decision", 90)),
        ("NAMING", Placement("NAMING", "decision")),
        ("CONFIG_DEFAULTS", Placement("CONFIG_VALUES", "reference")),
        ("ENVIRONMENT", Placement("CONFIG_VALUES", "project")),
        ("KNOWN_ISSUES", Placement("CONSTRAINTS", "project", 30)),
    ],
)
def test_an_older_category_is_mapped(older: str, place: Placement) -> None:
    assert place == placed(older)


def test_a_category_of_today_stays_and_any_other_is_none() -> None:
    assert list(CATEGORIES) == [place.category for category in CATEGORIES if (place := placed(category))]
    assert placed("PREFERENCES") is None
    assert placed("") is None


@pytest.mark.parametrize(
    ("memory_class", "text", "category"),
    [
        ("feedback", "User prefers short diffs.", "PROJECT_RULES"),
        ("feedback", "Always answer in English.", "PROJECT_RULES"),
        ("feedback", "Short diffs from now on.", "PROJECT_RULES"),
        ("decision", "The log lives in JetStream.", "ARCHITECTURE"),
        ("decision", "Never push to main without a review.", "PROJECT_RULES"),
        ("decision", "Event names are nouns with a verb.", "NAMING"),
        ("decision", "Only the desk writes.", "CONSTRAINTS"),
        ("decision", "Rooms must not import each other.", "CONSTRAINTS"),
        ("project", "The service keeps its log in JetStream.", "CONFIG_VALUES"),
        ("reference", "Dashboards live at https://example.test/graphs.", "CONFIG_VALUES"),
    ],
)
def test_a_class_finds_its_category(memory_class: MemoryClass, text: str, category: str) -> None:
    assert Placement(category, memory_class) == placed_by_class(memory_class, text)


@given(st.sampled_from(CLASSES), st.text(max_size=200))
def test_whatever_is_written_in_a_class_stays_in_it_and_has_a_category(memory_class: MemoryClass, text: str) -> None:
    place = placed_by_class(memory_class, text)
    assert memory_class == place.memory_class
    assert place.category in CATEGORIES
