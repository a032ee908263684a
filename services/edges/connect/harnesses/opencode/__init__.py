"""OpenCode: its configuration over several files, its compaction, its dependencies, and who else edits its prompts."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal

from services.edges.connect import bundle
from services.edges.connect.base import Harness
from services.edges.connect.connection import Reported
from services.edges.connect.findings import Finding, PluginConflict
from services.edges.connect.harnesses.opencode import change, judgement, stub
from services.edges.connect.harnesses.opencode.config import (
    ConfigSource,
    Switch,
    entries,
    plugins,
    small_model,
    strings,
    switches,
)
from services.edges.connect.harnesses.opencode.judgement import OpenCodeState, Program
from services.edges.connect.harnesses.opencode.look import executable, found_conflicts, program, source, sources
from services.edges.connect.harnesses.opencode.places import FILES, Places, places
from services.edges.connect.written import ConfigurationRecord, Mode, WantedEntry
from services.settings import Settings

OVERRULING = {"auto": "OPENCODE_DISABLE_AUTOCOMPACT", "prune": "OPENCODE_DISABLE_PRUNE"}


class OpenCode(Harness):
    """OpenCode, from 1.18.0 on."""

    name = judgement.NAME
    title = judgement.TITLE
    answers = True

    @cached_property
    def places(self) -> Places:
        """The places where it looks for its configuration."""
        return places(self.environment, self.here)

    @cached_property
    def sources(self) -> tuple[ConfigSource, ...]:
        """The configurations in its files."""
        return sources(self.places)

    @cached_property
    def program(self) -> Program | None:
        """The one on the path."""
        return program(self.environment)

    @property
    def is_here(self) -> bool:
        return bool(self.sources) or executable("opencode", self.environment) != ""

    def configuration(self, *, project: bool) -> Path:
        """The file to change: of the user's files the one whose list of plugins counts."""
        if project:
            there = [one for path in self.places.project for one in self.sources if one.place.path == path]
            ours = [one for one in there if any(entry.is_ours for entry in entries(one))]
            return next((one.place.path for one in (*ours, *there)), self.places.project[0])
        user = [one for one in self.sources if one.place.scope == "user"]
        named = [one for one in user if one.place.path.name in FILES]
        deciding = [one for one in user if "plugin" in one.value] or named
        return deciding[-1].place.path if deciding else self.places.user / FILES[0]

    def connect(
        self, text: str, wanted: WantedEntry, known: ConfigurationRecord | None
    ) -> tuple[str, ConfigurationRecord]:
        return change.connect(text, wanted, known)

    def disconnect(self, text: str, known: ConfigurationRecord | None) -> str:
        return change.disconnect(text, known)

    def is_bare(self, text: str) -> bool:
        return change.is_bare(text)

    def conflicts(self) -> tuple[PluginConflict, ...]:
        return found_conflicts(self.places, self.sources)

    def remarks(self) -> Iterable[str]:
        if self.program is None:
            yield "Note: there is no `opencode` on the path. Its configuration is written all the same."
        elif self.program.is_old:
            version = self.program.version
            yield f"Note: OpenCode {version} is older than 1.18.0, which the adapter needs; `opencode upgrade`."
        user = self.places.user
        if stub.has_package(user) and not stub.is_declared(user):
            yield f"Note: the package.json in {user} stays as it is. OpenCode asks npm for {stub.NEEDED} at its start."

    def warnings(self, path: Path, text: str, mode: Mode) -> Iterable[str]:
        """A warning where nothing would compact while the installation is away."""
        if mode != "managed":
            return
        texts = {one.place.path: one for one in self.sources}
        planned = [
            source(place, text) if place.path == path else texts[place.path]
            for place in self.places.files
            if place.path == path or place.path in texts
        ]
        automatic = next(switch for switch in switches(planned) if switch.name == "auto")
        if automatic.value is False:
            yield (
                f"Note: {automatic.source} says that compaction.auto is false. Take that out, or nothing keeps the "
                "context small while the installation is away."
            )

    def stand_ins(self, configuration: Path) -> tuple[Path, ...]:
        project = [configuration.parent] if configuration.parent.name == ".opencode" else []
        return tuple(folder for folder in dict.fromkeys((self.places.user, *project)) if stub.is_wanted(folder))

    def stand_in_remark(self, folder: Path) -> str:
        return f"In {folder}, three small files keep OpenCode from asking npm at its start."

    def make(self, folder: Path) -> None:
        stub.make(folder)

    def take_away(self, folder: Path) -> None:
        stub.take_away(folder)

    def judge(self, settings: Settings, reported: Reported) -> Iterable[Finding]:
        return judgement.judge(self.look(settings, reported))

    def look(self, settings: Settings, reported: Reported) -> OpenCodeState:
        """All that is seen of it."""
        loaded = plugins(self.sources)
        ours = [one for one in loaded if one.is_ours]
        home = Path(self.environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        noted = bundle.load(settings.data, self.name)
        wanted = self.wanted(settings, "managed")
        return OpenCodeState(
            program=self.program,
            sources=self.sources,
            plugins=loaded,
            connection=self.connection(settings, ours[-1], reported, *ours[:-1]) if ours else None,
            switches=tuple(_overruled(switch, self.environment) for switch in switches(self.sources)),
            switched_off=tuple(path for path, one in noted.items() if one.written.switches_before),
            conflicts=self.conflicts(),
            dependencies=_dependencies(self.places.user),
            folder=str(self.places.user),
            ripgrep=executable("rg", self.environment, home / "opencode" / "bin"),
            small=small_model(self.sources),
            wanted=strings([wanted.spec, wanted.options]),
        )


def _overruled(switch: Switch, environment: Mapping[str, str]) -> Switch:
    return Switch(switch.name, value=False, source=None) if environment.get(OVERRULING[switch.name]) else switch


def _dependencies(folder: Path) -> Literal["installed", "stand-in", "blocked", "missing"]:
    if stub.is_ours(folder):
        return "blocked" if stub.has_code(folder) else "stand-in"
    return "installed" if stub.is_declared(folder) else "missing"


HARNESS = OpenCode
