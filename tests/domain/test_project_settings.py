"""What a project may set for itself: a list, declared where each setting is, and nothing else is taken."""

import json
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.codec import wrap
from schemas.envelope import Actor
from schemas.events import Event, SettingsApplied
from schemas.subjects import Address
from services.domain.dream_times import DreamTimes
from services.domain.limits import Commits, History, Limits, MemoryLimits
from services.domain.project_settings import (
    MOST_BYTES,
    MOST_PATHS,
    MOST_VERSIONS,
    OWN,
    ProjectSettings,
    checked_values,
    evolve,
    own_values,
    parse_settings,
    refused_by,
    with_own,
)
from services.settings.dream_tasks import check_times

GROUPS = (Limits(), History(), MemoryLimits(), DreamTimes())
INSTALLATION = own_values(*GROUPS)
OTHERWISE: dict[str, object] = {
    "plan.head": False,
    "plan.head_documents": ("docs/map.md",),
    "plan.key_files": ("src/core.py",),
    "plan.history": False,
    "plan.context": "full",
    "history.enabled": False,
    "memory.enabled": False,
    "dream.slots": {"verify": "30 4 * * *"},
    "dream.zone": "Europe/Berlin",
}
"""Another value for each than the installation's default."""


def fold(*settings: dict[str, object]) -> ProjectSettings:
    state = ProjectSettings()
    for seq, values in enumerate(settings, 1):
        event = SettingsApplied(settings=json.dumps(values))
        state = evolve(state, event, enveloped(event, 10 * seq))
    return state


def enveloped(event: Event, seq: int) -> msgspec.Struct:
    made = wrap(event, Address("p"), id=f"e{seq}", at=datetime(2026, 1, 1, tzinfo=UTC), actor=Actor("person"))
    return msgspec.structs.replace(made, seq=seq)


def test_the_list_is_short_and_names_no_address_no_key_no_budget() -> None:
    assert {*OTHERWISE} == {*OWN} == {*INSTALLATION}
    assert not any(
        word in name for name in OWN for word in ("url", "key_variable", "password", "usd", "tokens", "port")
    )
    assert not any(field.name in OWN for field in msgspec.structs.fields(Commits))


@pytest.mark.parametrize("name", OWN)
def test_each_changes_its_own_group_alone(name: str) -> None:
    settings, problems = checked_values({name: OTHERWISE[name]})
    assert [] == [*problems]
    changed = own_values(*(with_own(group, settings) for group in GROUPS))
    assert {**INSTALLATION, name: OTHERWISE[name]} == changed
    untouched = [with_own(group, settings) == group for group in GROUPS]
    assert 1 == untouched.count(False)


def test_with_nothing_set_the_very_values_of_the_installation_hold() -> None:
    for group in (Limits(), History(), MemoryLimits(enabled=False), DreamTimes(zone="Asia/Tokyo")):
        assert with_own(group, {}) is group
        assert (
            with_own(
                group, {**INSTALLATION, "dream.zone": "Asia/Tokyo"} if isinstance(group, DreamTimes) else INSTALLATION
            )
            is group
        )


def test_memory_is_only_switched_off() -> None:
    off = own_values(Limits(), History(), MemoryLimits(enabled=False), DreamTimes())
    assert with_own(MemoryLimits(enabled=False), {"memory.enabled": True}) == MemoryLimits(enabled=False)
    (sentence,) = refused_by({"memory.enabled": True, "plan.context": "full"}, off, check_times)
    assert "may only switch it off" in sentence
    assert [] == [*refused_by({"memory.enabled": True}, INSTALLATION, check_times)]


def test_of_slots_a_project_names_those_that_are_other_than_the_installation_s() -> None:
    installation = DreamTimes(slots={"verify": "0 3 * * *", "classify": ""}, zone="Asia/Tokyo")
    own = with_own(installation, {"dream.slots": {"verify": "30 4 * * *", "improve": ""}})
    assert ({"verify": "30 4 * * *", "classify": "", "improve": ""}, "Asia/Tokyo") == (own.slots, own.zone)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"dream.slots": {"verfy": "0 3 * * *"}},
            "dream.slots cannot be used: there is no task 'verfy': did you mean 'verify'?",
        ),
        (
            {"dream.zone": "Berlin"},
            "dream.zone cannot be used: there is no time zone 'Berlin': write one as `Europe/Berlin`",
        ),
        ({"dream.zone": "../../etc/passwd"}, "dream.zone cannot be used: there is no time zone"),
    ],
)
def test_a_task_or_a_zone_that_an_installation_does_not_have_is_refused_with_the_right_form(
    settings: dict[str, object], sentence: str
) -> None:
    (problem,) = refused_by(settings, INSTALLATION, check_times)
    assert problem.startswith(sentence)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("plan.contxt", "did you mean plan.context?"),
        ("context", "did you mean plan.context?"),
        ("key_files", "did you mean plan.key_files?"),
        ("plan.keyfiles", "did you mean plan.key_files?"),
        ("plans.context", "did you mean plan.context?"),
        ("memory.enable", "did you mean memory.enabled?"),
        ("history", "did you mean plan.history?"),
        ("nats.url", "it may set plan.head, "),
        ("model.daily_usd", "it may set plan.head, "),
        ("", "it may set plan.head, "),
        ("plan.context\x1b[2J", "did you mean plan.context?"),
    ],
)
def test_a_name_outside_of_the_list_is_refused_with_the_nearest(name: str, remedy: str) -> None:
    settings, (problem,) = checked_values({name: "lean", "plan.head": False})
    assert {"plan.head": False} == settings
    assert remedy in problem
    assert "\x1b" not in problem


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("plan.context", "Lean", "give one of lean, balanced, full"),
        ("plan.context", 1, "give one of"),
        ("plan.context", None, "give one of"),
        ("plan.head", "false", "give true or false"),
        ("plan.head", 0, "give true or false"),
        ("history.enabled", {"a": {"b": {}}}, "give true or false"),
        ("dream.slots", {"verify": "60 * * * *"}, "has a minute that cannot be: write minute, hour"),
        ("dream.slots", {"verify": "02:00"}, "has 1 fields instead of 5"),
        ("dream.slots", {"verify": 5}, 'give tasks, such as `verify = "0 3 * * *"`'),
        ("dream.slots", "0 3 * * *", 'give tasks, such as `verify = "0 3 * * *"`'),
        ("dream.zone", 1, "give a time zone such as `Europe/Berlin`"),
        ("plan.key_files", "src/core.py", "give a list of at most 50 paths"),
        ("plan.key_files", [1], "it names int instead of a path"),
        ("plan.key_files", [["a"]], "it names list instead of a path"),
        ("plan.key_files", ["/etc/passwd"], "is no path within a project"),
        ("plan.key_files", ["a/../../b"], "is no path within a project"),
        ("plan.key_files", ["C:\\x"], "is no path within a project"),
        ("plan.key_files", [""], "is no path within a project"),
        ("plan.head_documents", ["a\nb.md"], "characters in it that nobody can see"),
        ("plan.head_documents", ["a\u202eb.md"], "characters in it that nobody can see"),
        ("plan.head_documents", ["\x1b[31m.md"], "characters in it that nobody can see"),
        ("plan.head_documents", ["x" * 301], "has more than 300 characters"),
        ("plan.head_documents", [f"{number}.md" for number in range(MOST_PATHS + 1)], "it names 51 files"),
    ],
)
def test_a_value_of_another_kind_is_refused_with_what_would_be_right(name: str, value: object, sentence: str) -> None:
    settings, (problem,) = checked_values({name: value})
    assert {} == settings
    assert problem.startswith(f"{name} cannot be used (")
    assert sentence in problem
    assert problem.isprintable()
    assert len(problem) < 400


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        '{"plan.head": }',
        "[" * 20_000,
        '{"a":' * 5_000,
        '{"plan.head": "' + "x" * MOST_BYTES + '"}',
    ],
)
def test_what_is_no_object_of_settings_is_refused_as_a_whole(text: str) -> None:
    settings, (problem,) = parse_settings(text)
    assert {} == settings
    assert problem


def test_of_many_problems_the_first_are_named() -> None:
    _, problems = checked_values(dict.fromkeys((f"x{number}" for number in range(500)), 1))
    assert (21, "and 480 more") == (len(problems), problems[-1])


def test_paths_are_spelled_in_one_way_and_once() -> None:
    settings, _ = checked_values({"plan.key_files": ["./src//a.py", "src/a.py", "b.py"]})
    assert {"plan.key_files": ("src/a.py", "b.py")} == settings


def test_the_newest_fact_has_all_settings_and_those_at_a_position_are_known() -> None:
    state = fold({"plan.context": "full", "plan.head": False}, {"plan.context": "lean"}, {})
    assert [{}, {"plan.context": "full", "plan.head": False}, {"plan.context": "lean"}, {}] == [
        state.at(position) for position in (9, 19, 29, 99)
    ]
    assert (30, {}) == state.newest


def test_a_fact_that_comes_again_changes_nothing_and_one_of_another_release_is_read_as_far_as_possible() -> None:
    state = fold({"plan.head": False})
    event = SettingsApplied(settings="{}")
    assert state is evolve(state, event, enveloped(event, 10))
    assert {"plan.context": "lean"} == fold({"plan.context": "lean", "plan.gone": 1, "plan.head": "no"}).newest.settings


def test_what_is_remembered_is_bounded() -> None:
    assert MOST_VERSIONS == len(fold(*({} for _ in range(MOST_VERSIONS + 5))).versions)


@given(
    st.dictionaries(
        st.sampled_from([*OWN]) | st.text(max_size=20),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=20),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        ),
        max_size=6,
    )
)
def test_whatever_is_given_is_used_or_refused_in_a_sentence(values: dict[str, object]) -> None:
    settings, problems = checked_values(values)
    assert len(settings) + len(problems) == len(values)
    again, none = parse_settings(msgspec.json.encode(dict(settings)).decode())
    assert (settings, []) == (again, [*none])
    for group in (Limits(), History(), MemoryLimits()):
        with_own(group, settings)
