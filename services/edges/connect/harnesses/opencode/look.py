"""Examines OpenCode on this machine: its program, its configuration, and the plugins it would load."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from services.edges.connect import files
from services.edges.connect.edit import replaced
from services.edges.connect.findings import PluginConflict
from services.edges.connect.harnesses.opencode.config import ConfigSource, plugins
from services.edges.connect.harnesses.opencode.conflicts import DiscoveredPlugin, conflicts, disabled_hooks
from services.edges.connect.harnesses.opencode.judgement import Program
from services.edges.connect.harnesses.opencode.places import ConfigFile, Places
from services.edges.connect.jsonc import UnreadableConfig, value

PATIENCE = 60.0
"""Seconds that OpenCode has to say its version: a machine that is busy is not unwell for that."""
DISCOVERED = ("plugin/*.[tj]s", "plugins/*.[tj]s")
HOOKED_FILES = ("oh-my-opencode", "oh-my-openagent", "omo")


def program(environment: Mapping[str, str]) -> Program | None:
    """The OpenCode on the path."""
    path = shutil.which("opencode", path=environment.get("PATH"))
    if path is None:
        return None
    try:
        answer = subprocess.run(  # noqa: S603 - the person's own program, by its full path
            [path, "--version"], capture_output=True, text=True, timeout=PATIENCE, env=dict(environment), check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return Program(path)
    found = re.search(r"\d+\.\d+\.\d+\S*", answer.stdout)
    return Program(path, found[0] if found else "")


def executable(name: str, environment: Mapping[str, str], *others: Path) -> str:
    """The path of a program, on the path or in one of these folders; empty: it is nowhere."""
    return shutil.which(name, path=os.pathsep.join([environment.get("PATH", ""), *map(str, others)])) or ""


def source(place: ConfigFile, text: str | None) -> ConfigSource:
    """A configuration as one text has it, or why it cannot be read. OpenCode takes an empty file for an empty one."""
    if text is None or not text:
        return ConfigSource(place)
    try:
        content = value(text)
    except UnreadableConfig as error:
        return ConfigSource(place, error=str(error))
    if not isinstance(content, dict):
        return ConfigSource(place, error="it is not an object")
    return ConfigSource(place, content, replaced=replaced(text, ("plugin",)) if "plugin" in content else frozenset())


def sources(where: Places) -> tuple[ConfigSource, ...]:
    """All configuration files that exist, in the order in which OpenCode merges them."""
    found = []
    for place in where.files:
        try:
            text = files.read(place.path)
        except UnreadableConfig as error:
            found.append(ConfigSource(place, error=str(error)))
            continue
        if text is not None:
            found.append(source(place, text))
    return tuple(found)


def found_conflicts(where: Places, sources: Sequence[ConfigSource]) -> tuple[PluginConflict, ...]:
    """The plugins that are in the way, over all configurations and folders."""
    return conflicts(plugins(sources), _discovered(where), _disabled(where))


def _discovered(where: Places) -> tuple[DiscoveredPlugin, ...]:
    paths = [path for folder in where.folders for name in DISCOVERED for path in sorted(folder.glob(name))]
    return tuple(DiscoveredPlugin(path, _code(path)) for path in paths)


def _code(path: Path) -> str:
    """The code of a plugin; empty where OpenCode can load none from there either: it is known by its name."""
    try:
        return (files.content(path) or b"").decode(errors="replace")
    except UnreadableConfig:
        return ""


def _disabled(where: Places) -> frozenset[str]:
    """The hooks that are switched off in the configuration of the hooked plugins, wherever they keep it."""
    homes = {folder.parent / ".omo" for folder in where.folders if folder.name == ".opencode"}
    contents = []
    for folder in (*where.folders, *homes):
        for name in HOOKED_FILES:
            for ending in ("json", "jsonc"):
                path = folder / f"{name}.{ending}"
                contents.append(source(ConfigFile(path, "user"), _text(path)).value)
    return disabled_hooks(contents)


def _text(path: Path) -> str | None:
    try:
        return files.read(path)
    except UnreadableConfig:
        return None
