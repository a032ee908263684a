"""OpenCode's configuration of plugins and compaction, merged from all of its files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec

from services.edges.connect.harnesses.opencode.places import ConfigFile
from services.edges.connect.written import BUNDLE

PACKAGE = "@annals/opencode"
SWITCHES = ("auto", "prune")
DEFAULTS = {"auto": True, "prune": False}
"""OpenCode's defaults."""


class ConfigSource(msgspec.Struct, frozen=True):
    """One file with what it says; an unreadable one with the reason."""

    place: ConfigFile
    value: Mapping[str, object] = {}
    error: str = ""
    replaced: frozenset[str] = frozenset()
    """The strings in the list of plugins in which OpenCode replaces something."""


class PluginEntry(NamedTuple):
    """One plugin of a configuration."""

    spec: str
    options: Mapping[str, object]
    source: Path
    replaced: frozenset[str] = frozenset()
    """The strings of it in which OpenCode replaces something before it reads them."""

    @property
    def path(self) -> Path | None:
        """The file that it names, if it names one."""
        if self.spec.startswith("file:"):
            return Path(unquote(urlsplit(self.spec).path))
        if self.spec.startswith("/"):
            return Path(self.spec)
        return self.source.parent / self.spec if self.spec.startswith(".") else None

    @property
    def is_ours(self) -> bool:
        return self.path.name == BUNDLE if self.path is not None else package(self.spec) == PACKAGE

    @property
    def mode(self) -> str:
        return str(self.options.get("compaction", "managed"))


class Switch(NamedTuple):
    """A switch of OpenCode's own compaction, with the file that decides it; None: nobody does."""

    name: str
    value: object
    source: Path | None


def package(spec: str) -> str:
    """The name of the package that a plugin's entry or an import names, without version, alias and path."""
    _, _, aliased = spec.partition("@npm:")
    name = (aliased or spec).strip()
    scope, slash, rest = name.partition("/")
    if name.startswith("@") and slash:
        return f"{scope}/{rest.split('@')[0].split('/')[0]}"
    return name.split("@")[0].split("/")[0]


def entries(source: ConfigSource) -> tuple[PluginEntry, ...]:
    """The plugins that one file lists. What OpenCode would refuse is left out."""
    listed = source.value.get("plugin")
    found = [entry(item, source.place.path) for item in (listed if isinstance(listed, list) else ())]
    return tuple(
        one._replace(replaced=source.replaced & strings([one.spec, one.options])) for one in found if one is not None
    )


def strings(value: object) -> frozenset[str]:
    """All strings of a value of JSON, but for the names of members."""
    if isinstance(value, str):
        return frozenset({value})
    members = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return frozenset[str]().union(*map(strings, members))


def entry(item: object, source: Path) -> PluginEntry | None:
    match item:
        case str():
            return PluginEntry(item, {}, source)
        case [str() as spec, dict() as options]:
            return PluginEntry(spec, options, source)
        case _:
            return None


def plugins(sources: Sequence[ConfigSource]) -> tuple[PluginEntry, ...]:
    """All that are loaded. Of the user's own files the last list counts; the other files' lists are joined."""
    user = [source for source in sources if source.place.scope == "user" and "plugin" in source.value]
    rest = [source for source in sources if source.place.scope != "user"]
    return tuple(one for source in (*user[-1:], *rest) for one in entries(source))


def small_model(sources: Sequence[ConfigSource]) -> str:
    """The model for small work, as the last file that names one has it; empty: none does."""
    named = [source.value["small_model"] for source in sources if "small_model" in source.value]
    return named[-1] if named and isinstance(named[-1], str) else ""


def switches(sources: Sequence[ConfigSource]) -> tuple[Switch, ...]:
    """OpenCode's own compaction, as the last file that speaks of it decides."""
    return tuple(_switch(sources, name) for name in SWITCHES)


def _switch(sources: Sequence[ConfigSource], name: str) -> Switch:
    for source in reversed(sources):
        compaction = source.value.get("compaction")
        if isinstance(compaction, dict) and name in compaction:
            return Switch(name, compaction[name], source.place.path)
    return Switch(name, DEFAULTS[name], None)
