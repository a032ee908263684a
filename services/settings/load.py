"""Loads the settings from the environment, a person's file and the defaults; and how they are handed on.

A value that cannot be used is named, and the next source holds in its place: nothing that a person writes into a
setting ends a command.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from pydantic import SecretStr, ValidationError
from pydantic_core import ErrorDetails

from services.settings.entries import SettingEntry, value_of
from services.settings.groups import Settings
from services.settings.models import EVERYTHING, build_group
from services.settings.sources import (
    DEFAULT,
    ENTRIES,
    File,
    Problem,
    SettingsSource,
    Variables,
    unusable,
    user_file,
)


class LoadedSettings(msgspec.Struct, frozen=True):
    """The settings that hold, and how they came about."""

    settings: Settings
    sources: Mapping[str, str]
    """By the name of a setting in a file: `default`, `environment` or the path of a file."""
    problems: tuple[Problem, ...] = ()
    project: Path | None = None
    """The file of the project that has tightened them, if any."""

    def value(self, entry: SettingEntry) -> object:
        return value_of(self.settings, entry)


def load(variables: Mapping[str, str] = os.environ) -> LoadedSettings:
    """The settings of this environment: variables hold before the user's file, and that before the defaults."""
    own, file = Variables(variables), File(user_file(variables))
    layers: tuple[SettingsSource, ...] = (own, file)
    problems: list[tuple[SettingEntry, SettingsSource, ErrorDetails]] = []
    while True:
        try:
            settings = build_group(Settings, EVERYTHING(sources=layers))  # type: ignore[call-arg] # asked for by the model
            break
        except ValidationError as error:
            problems += _refused(error, layers)
    sources = {key: next((one.name for one in layers if key in one.given), DEFAULT) for key in ENTRIES}
    refused = (unusable(entry, source, error, sources[entry.key]) for entry, source, error in problems)
    return LoadedSettings(settings, sources, (*file.problems, *own.unknown(settings), *refused))


def _refused(
    wrong: ValidationError, layers: Sequence[SettingsSource]
) -> Iterator[tuple[SettingEntry, SettingsSource, ErrorDetails]]:
    """The values that cannot be used, each taken from the first source that has it, so that the next one counts."""
    errors = {".".join(map(str, error["loc"][:2])): error for error in wrong.errors(include_input=False)}
    for key, error in errors.items():
        source = next(source for source in layers if key in source.given)
        del source.given[key]
        yield ENTRIES[key], source, error


def environment(settings: Settings) -> dict[str, str]:
    """The variables from which a process of its own reads these very settings, secrets included."""
    return {entry.variable: _written(value_of(settings, entry)) for entry in ENTRIES.values()}


def _written(value: object) -> str:
    """A value as a variable holds it: whatever is not plain is JSON."""
    plain = value.get_secret_value() if isinstance(value, SecretStr) else value
    if isinstance(plain, str | Path):
        return str(plain)
    return msgspec.json.encode(plain, enc_hook=SecretStr.get_secret_value).decode()
