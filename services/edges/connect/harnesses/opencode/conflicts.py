"""Plugins that edit the same prompts as Annals does: two of them at once ruin each other's work, and the cache."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from services.edges.connect.findings import PluginConflict
from services.edges.connect.harnesses.opencode.config import PluginEntry, package

PRUNING = "it prunes the same messages"
MEMORY = "it writes its own memory into the same prompts"
MANAGERS = {
    "@tarquinen/opencode-dcp": PRUNING,
    "opencode-dcp": PRUNING,
    "opencode-dynamic-context-pruning": PRUNING,
    "@cortexkit/opencode-magic-context": "it manages the same context",
    "opencode-magic-context": "it manages the same context",
    "magic-context": "it manages the same context",
    "opencode-working-memory": MEMORY,
}
HOOKED = ("oh-my-opencode", "oh-my-openagent")
"""Plugins of many parts, of which only these hooks are in the way."""
HOOKS = ("preemptive-compaction", "context-window-monitor", "anthropic-context-window-limit-recovery")

_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?P<code>(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\()\s*(?P<quote>["'])(?P<name>[^"'\n]+)(?P=quote))"""
    r"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`""",
    re.DOTALL,
)


class DiscoveredPlugin(msgspec.Struct, frozen=True):
    """A file that OpenCode loads because of the folder it is in."""

    path: Path
    code: str


def conflicts(
    plugins: Sequence[PluginEntry], discovered: Sequence[DiscoveredPlugin], disabled_hooks: frozenset[str]
) -> tuple[PluginConflict, ...]:
    """`disabled_hooks` are those that the configuration of the hooked plugins switches off."""
    found: dict[tuple[str, Path], PluginConflict] = {}
    for one in plugins:
        for name in _names(one):
            found |= _judge(name, one.source, f'remove its entry from "plugin" in {one.source}', disabled_hooks)
    for file in discovered:
        for name in (file.path.stem, *imports(file.code)):
            found |= _judge(name, file.path, f"move {file.path} out of this folder", disabled_hooks)
    return tuple(found.values())


def imports(code: str) -> tuple[str, ...]:
    """The packages that a file of JavaScript imports; comments and other strings do not count."""
    return tuple(dict.fromkeys(package(found["name"]) for found in _CODE.finditer(code) if found["code"]))


def disabled_hooks(contents: Sequence[Mapping[str, object]]) -> frozenset[str]:
    """The hooks that any of these configurations of a hooked plugin switches off."""
    found: set[str] = set()
    for content in contents:
        for block in (content, content.get("[opencode]"), content.get("opencode")):
            listed = block.get("disabled_hooks") if isinstance(block, Mapping) else None
            found |= {str(name) for name in (listed if isinstance(listed, list) else ())}
    return frozenset(found)


def _names(plugin: PluginEntry) -> tuple[str, ...]:
    """The package of an entry; a file is known by its name, and by the package that it was installed with."""
    if plugin.path is None:
        return (package(plugin.spec),)
    parts = plugin.path.parts
    if "node_modules" in parts:
        behind = len(parts) - parts[::-1].index("node_modules")
        return (package("/".join(parts[behind : behind + 2])),)
    return (plugin.path.stem, plugin.path.name)


def _judge(name: str, where: Path, removal: str, disabled: frozenset[str]) -> dict[tuple[str, Path], PluginConflict]:
    if name in MANAGERS:
        return {(name, where): PluginConflict(name, where, MANAGERS[name], removal)}
    active = [hook for hook in HOOKS if hook not in disabled]
    if name in HOOKED and active:
        hooks = ", ".join(active)
        remedy = f'add {hooks} to "disabled_hooks" in its configuration, or {removal}'
        return {
            (name, where): PluginConflict(name, where, f"its hooks {hooks} compact or watch the same context", remedy)
        }
    return {}
