"""Answers to who applies a project's own settings: when what has changed takes effect."""

import json

import pytest

from schemas.commands import SettingsApply
from schemas.events import SettingsApplied
from services.desk.core.commands import decide
from services.desk.core.settings import OF_DREAMER, OF_SESSIONS, SettingsContext
from services.domain.dream_times import DreamTimes
from services.domain.limits import History, Limits, MemoryLimits
from services.domain.project_settings import ProjectSettings, Version, own_values
from services.settings.dream_tasks import check_times

CONTEXT = SettingsContext("person", own_values(Limits(), History(), MemoryLimits(), DreamTimes()), check_times)
SLOTS = {"dream.slots": {"verify": "0 3 * * *"}}
ZONE = {"dream.zone": "Europe/Berlin"}
FULL = {"plan.context": "full"}


@pytest.mark.parametrize(
    ("before", "now", "sentences"),
    [
        ({}, FULL, (OF_SESSIONS,)),
        ({}, SLOTS, (OF_DREAMER,)),
        ({}, ZONE, (OF_DREAMER,)),
        ({}, FULL | SLOTS, (OF_SESSIONS, OF_DREAMER)),
        (FULL, FULL | SLOTS, (OF_DREAMER,)),
        (SLOTS, {}, (OF_DREAMER,)),
        (SLOTS | FULL, SLOTS, (OF_SESSIONS,)),
    ],
    ids=str,
)
def test_who_applies_settings_reads_when_what_has_changed_takes_effect(
    before: dict[str, object], now: dict[str, object], sentences: tuple[str, ...]
) -> None:
    state = ProjectSettings((Version(1, before),)) if before else ProjectSettings()
    decision = decide(state, SettingsApply(json.dumps(now)), CONTEXT)
    assert [SettingsApplied] == [type(event) for event in decision.events]
    for sentence in (OF_SESSIONS, OF_DREAMER):
        assert (sentence in sentences) == (sentence in decision.text)


@pytest.mark.parametrize(
    ("before", "now", "sentence"),
    [
        ({}, ZONE | FULL, "This project sets dream.zone, plan.context for itself from now on"),
        (FULL, FULL, "This project sets plan.context for itself already; nothing was changed."),
        (FULL, {}, "This project has the settings of the installation from now on"),
        ({}, {}, "This project has the settings of the installation already; nothing was changed."),
    ],
    ids=str,
)
def test_the_answer_names_what_the_project_sets(
    before: dict[str, object], now: dict[str, object], sentence: str
) -> None:
    state = ProjectSettings((Version(1, before),)) if before else ProjectSettings()
    assert decide(state, SettingsApply(json.dumps(now)), CONTEXT).text.startswith(sentence)
