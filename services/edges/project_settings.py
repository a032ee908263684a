"""Settings of an installation that a project's file may change: it may restrict, and permit nothing more.

Budgets and sizes may get lower, protection higher, models fewer, and what touches texts may be switched off. Each
definition says which of these it takes; with hosts, keys, paths and all the rest a project has no say. Only commands
read such a file, where they are run within its project; rooms get the settings that hold.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
from pydantic import ValidationError

from services.settings import LoadedSettings, Problem, Settings, load
from services.settings.entries import ALLOWED, Rule, SettingEntry, value_of
from services.settings.models import parse_value
from services.settings.sources import ENTRIES, FILE, File, unusable

REMEDY = "set it for the whole installation, as docs/settings.md says"
FOR_ITSELF = "set it for this project alone with `annals project settings apply`"


def project_file(here: Path) -> Path | None:
    """The settings of the project that a folder lies in: searched upwards, as far as the root of the work tree.

    What cannot be looked into has none: a path may be longer than the system takes.
    """
    for folder in (here, *here.parents):
        path = folder / ".annals" / FILE
        if os.path.isfile(path):  # noqa: PTH113 - that of pathlib raises there
            return path
        if os.path.exists(folder / ".git"):  # noqa: PTH110 - so does this
            return None
    return None


def load_here(here: Path | None, environment: Mapping[str, str] = os.environ) -> LoadedSettings:
    """The settings of a command that is run in this folder, tightened by the project that it lies in; None: by none."""
    return load_with(None if here is None else project_file(here), environment)


def load_with(path: Path | None, environment: Mapping[str, str] = os.environ) -> LoadedSettings:
    """The settings of this environment, tightened by this file of a project's; None: by none."""
    loaded = load(environment)
    if path is None:
        return loaded
    file = File(path)
    settings, tightened, loose = tighten(loaded.settings, file)
    sources = {**loaded.sources, **dict.fromkeys(tightened, str(path))}
    return LoadedSettings(settings, sources, (*loaded.problems, *file.problems, *loose), path)


def tighten(settings: Settings, file: File) -> tuple[Settings, tuple[str, ...], tuple[Problem, ...]]:
    """The settings with a project's file, the names of those that it has tightened, and what of it is not used."""
    tightened, problems = [], []
    for key, value in file.given.items():
        entry = ENTRIES[key]
        now = value_of(settings, entry)
        wanted = _wanted(entry, file, value, now)
        if isinstance(wanted, Problem):
            problems.append(wanted)
        elif wanted != now:
            settings = _with(settings, entry, wanted)
            tightened.append(key)
    return settings, tuple(tightened), tuple(problems)


def _wanted(entry: SettingEntry, file: File, value: object, now: object) -> object:
    """The value that a project gives, or why it is not used."""
    if entry.rule is None:
        return Problem(file.where(entry), "a project has no say in it", FOR_ITSELF if entry.own else REMEDY)
    try:
        wanted = parse_value(entry, value)
    except ValidationError as error:
        return unusable(entry, file, error.errors()[0], "the installation")
    if not _is_tighter(entry.rule, wanted, now):
        return Problem(
            file.where(entry),
            f"a project may only {ALLOWED[entry.rule]}, so it is not used",
            FOR_ITSELF if entry.own == "any" else REMEDY,
        )
    return wanted


def _is_tighter(rule: Rule, wanted: object, now: object) -> bool:
    """Whether a value is as tight as what holds, or tighter."""
    match rule, wanted, now:
        case "lower", int() | float(), int() | float():
            return wanted <= now
        case "higher", int() | float(), int() | float():
            return wanted >= now
        case "off", bool(), bool():
            return now or not wanted
        case "fewer", tuple(), tuple():
            return wanted == tuple(one for one in now if one in wanted)
    raise AssertionError(f"no setting of this type has the rule {rule!r}")


def _with(settings: Settings, entry: SettingEntry, value: object) -> Settings:
    group = msgspec.structs.replace(getattr(settings, entry.group), **{entry.name: value})
    return msgspec.structs.replace(settings, **{entry.group: group})
