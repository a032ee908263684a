"""Sources of settings, and faults of what was found there."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

import msgspec
from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import EnvSettingsSource, PydanticBaseSettingsSource, TomlConfigSettingsSource

from services.settings.entries import PREFIX, SettingEntry, entries_of, groups_of
from services.settings.groups import Settings
from services.settings.models import EVERYTHING

FILE = "config.toml"
PAGE = "docs/settings.md lists all"
OF_COMPOSE = frozenset({"ANNALS_PASSWORD", "ANNALS_ROOM_PASSWORD", "ANNALS_PERSON_PASSWORD", "ANNALS_BIND"})
"""The variables of `.env` for compose.yaml and the broker's container, which rooms see as well."""
ENVIRONMENT = "environment"
DEFAULT = "default"
ENTRIES: Mapping[str, SettingEntry] = {
    entry.key: entry for path, group in groups_of(Settings) for entry in entries_of(group, path)
}
"""All settings, by their names in a file."""
VARIABLES: Mapping[str, SettingEntry] = {entry.variable: entry for entry in ENTRIES.values()}
"""The same, by their names in the environment."""


class Problem(msgspec.Struct, frozen=True):
    """Something that was found and is not used, and what to do about it. It quotes no value that may be a key."""

    where: str
    what: str
    remedy: str

    @property
    def line(self) -> str:
        return f"{self.where}: {self.what}; {self.remedy}"


class SettingsSource(PydanticBaseSettingsSource):
    """A source of settings, from which may be taken what cannot be used."""

    name: str
    """`environment`, or the path of the file."""
    given: dict[str, object]
    """The values that it has, by the names of settings in a file."""

    def __call__(self) -> dict[str, Any]:
        """The values that it has and no source before it, so that the mappings of two sources are never mixed."""
        before = dict(_flat(self.current_state))
        tables: dict[str, Any] = {}
        for key, value in self.given.items():
            if key not in before:
                *groups, name = key.split(".")
                (tables.setdefault(groups[0], {}) if groups else tables)[name] = value
        return tables

    def where(self, entry: SettingEntry) -> str:
        return f"{entry.variable if self.name == ENVIRONMENT else entry.key} ({self.name})"


class Variables(SettingsSource, EnvSettingsSource):
    """The environment. An empty variable says nothing, but where an empty text is a value."""

    name = ENVIRONMENT

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__(EVERYTHING)
        known = ((VARIABLES.get(name.upper()), text) for name, text in environment.items())
        self.env_vars = {
            entry.variable.lower(): text for entry, text in known if entry and (text or entry.kind in {str, SecretStr})
        }
        self.given = dict(_flat(EnvSettingsSource.__call__(self)))
        self._names = frozenset(environment)

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: str) -> object:
        """A value out of JSON; what is none stays a text, which is then refused in the name of its setting."""
        try:
            return super().decode_complex_value(field_name, field, value)
        except (ValueError, RecursionError):
            return value

    def unknown(self, settings: Settings) -> Iterator[Problem]:
        """Variables that look like settings and are none; one that is named as a provider's key is no mistake."""
        keys = {provider.key_variable for provider in settings.model.providers.values()}
        for name in sorted(self._names - OF_COMPOSE - keys):
            if name.upper().startswith(PREFIX) and name.upper() not in VARIABLES:
                yield _unknown(name, f"{name} ({ENVIRONMENT})", VARIABLES)


class File(SettingsSource, TomlConfigSettingsSource):
    """A file of settings; nothing, where there is none or where it cannot be read as a whole."""

    problems: tuple[Problem, ...] = ()
    """Faults of the settings that are no faults of single values."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        try:
            super().__init__(EVERYTHING, path)
        except (OSError, ValueError, RecursionError) as error:
            super().__init__(EVERYTHING, None)
            what = f"nothing of it is used, as it cannot be read ({error})"
            self.problems = (Problem(self.name, what, "mend the file"),)
        found = dict(_flat(self.toml_data))
        self.given = {key: value for key, value in found.items() if key in ENTRIES}
        self.problems += tuple(_unknown(key, f"{key} ({path})", ENTRIES) for key in found if key not in ENTRIES)


def user_file(environment: Mapping[str, str]) -> Path:
    """A person's own settings on this machine."""
    home = Path(environment.get("HOME") or Path.home())
    return Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "annals" / FILE


def unusable(entry: SettingEntry, source: SettingsSource, error: ErrorDetails, holding: str) -> Problem:
    """The fault of a value, and which one counts in its place: `holding` is the source of that."""
    complaint = error["msg"].removeprefix("Value error, ").replace("Input ", "it ", 1).replace("tuple", "list")
    inner = ".".join(map(str, error["loc"])).removeprefix(entry.key).lstrip(".")
    holds = "its default holds" if holding == DEFAULT else f"what {holding} says holds"
    as_json = ", as JSON" if get_args(entry.kind) and source.name == ENVIRONMENT else ""
    remedy = f"give {entry.bounds}" if entry.bounds else f"docs/settings.md says what it takes{as_json}"
    return Problem(source.where(entry), f"it is not used ({complaint}{inner and f' at {inner}'}), and {holds}", remedy)


def _unknown(name: str, where: str, known: Mapping[str, SettingEntry]) -> Problem:
    near = get_close_matches(name.upper() if known is VARIABLES else name, known, n=1, cutoff=0.7)
    return Problem(where, "there is no such setting", f"did you mean {near[0]}?" if near else PAGE)


def _flat(tables: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The content of a file: the settings of its root, and those of each table that is a group."""
    for name, value in tables.items():
        if isinstance(value, dict) and name in EVERYTHING.model_fields:
            yield from ((f"{name}.{inner}", one) for inner, one in value.items())
        else:
            yield name, value
