"""Whether OpenCode is well connected, judged from what was seen of it on this machine."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from services.edges.connect import connection
from services.edges.connect.connection import Connection
from services.edges.connect.findings import Finding, PluginConflict, doubtful, ill, well
from services.edges.connect.harnesses.opencode.config import ConfigSource, PluginEntry, Switch

OLDEST = (1, 18, 0)
"""The first release whose hooks do all that the adapter needs."""
NAME, TITLE = "opencode", "OpenCode"
AGAIN = f"run `annals setup {NAME}` again"


class Program(msgspec.Struct, frozen=True):
    """An installed OpenCode. Without a version it did not say one."""

    path: str
    version: str = ""

    @property
    def is_old(self) -> bool:
        numbers = re.match(r"(\d+)\.(\d+)\.(\d+)", self.version)
        return numbers is not None and tuple(map(int, numbers.groups())) < OLDEST


class OpenCodeState(msgspec.Struct, frozen=True):
    """The state of OpenCode as it was found."""

    program: Program | None
    sources: tuple[ConfigSource, ...]
    plugins: tuple[PluginEntry, ...]
    connection: Connection | None
    """The connection by the last of our entries; None: there is none of ours."""
    switches: tuple[Switch, ...] = ()
    switched_off: tuple[str, ...] = ()
    """The configurations in which an earlier setup has switched compaction off."""
    conflicts: tuple[PluginConflict, ...] = ()
    dependencies: Literal["installed", "stand-in", "blocked", "missing"] = "installed"
    folder: str = ""
    """The folder in which OpenCode has its dependencies."""
    ripgrep: str = ""
    small: str = ""
    """The model that it is set to use for small work."""
    wanted: frozenset[str] = frozenset()
    """The strings that setup writes as its entry, in which nothing must be replaced."""

    @property
    def ours(self) -> tuple[PluginEntry, ...]:
        return tuple(one for one in self.plugins if one.is_ours)


def judge(seen: OpenCodeState) -> tuple[Finding, ...]:
    return tuple(_judge(seen))


def _judge(seen: OpenCodeState) -> Iterator[Finding]:
    yield _program(seen.program)
    yield from _configuration(seen)
    if seen.connection is None:
        yield connection.unconnected(NAME, TITLE)
        return
    yield _plugin(seen)
    yield from connection.judge(seen.connection)
    yield _compaction(seen)
    yield from _conflicts(seen)
    yield _dependencies(seen)
    yield _ripgrep(seen)
    yield connection.judge_questions(seen.connection, seen.small)
    yield connection.judge_adapter(seen.connection)


def _program(program: Program | None) -> Finding:
    if program is None:
        return doubtful("opencode", "it is not on the path", "install it, or ignore this where no agent works")
    if program.is_old:
        return doubtful(
            "opencode", f"{program.path} is {program.version}", "the adapter needs 1.18.0: `opencode upgrade`"
        )
    if not program.version:
        return doubtful("opencode", f"{program.path} does not say its version", "try `opencode --version`")
    return well("opencode", f"{program.path} is {program.version}")


def _configuration(seen: OpenCodeState) -> Iterator[Finding]:
    for source in seen.sources:
        if source.error:
            yield ill("configuration", f"{source.place.path} cannot be read: {source.error}", "mend it there")
    if not any(source.error for source in seen.sources):
        read = ", ".join(str(source.place.path) for source in seen.sources) or "there is none"
        yield well("configuration", f"it can be read: {read}")


def _plugin(seen: OpenCodeState) -> Finding:
    specs = sorted({one.spec for one in seen.ours})
    last = seen.ours[-1]
    if len(specs) > 1:
        places = ", ".join(sorted({str(one.source) for one in seen.ours}))
        return ill("plugin", f"two adapters are loaded ({', '.join(specs)})", f"keep one of the entries in {places}")
    if misread := sorted(last.replaced & seen.wanted):
        finding = f"OpenCode replaces `{{env:` or `{{file:` in {last.source}, so that it does not find {misread[0]}"
        return ill("plugin", finding, AGAIN)
    return well("plugin", f"{last.source} loads {last.spec}")


def _compaction(seen: OpenCodeState) -> Finding:
    mode = seen.ours[-1].mode
    off = next((one for one in seen.switches if one.name == "auto" and one.value is False), None)
    if off is None:
        who = "it compacts only while nobody serves it" if mode == "managed" else "it compacts as ever"
        return well("compaction", f"the mode is {mode}: {who}")
    if mode != "managed":
        finding = f"in the mode {mode} OpenCode compacts, and that is switched off{_by(off.source)}"
        return doubtful("compaction", finding, "set compaction.auto to true, or choose `--compaction managed`")
    finding = (
        f"it is switched off{_by(off.source)}: while the installation is away, turns fail where the window is full"
    )
    is_ours = str(off.source) in seen.switched_off
    return doubtful("compaction", finding, f"{AGAIN}, which gives it back" if is_ours else "take that out")


def _by(source: Path | None) -> str:
    return f" in {source}" if source else " in the environment"


def _conflicts(seen: OpenCodeState) -> Iterator[Finding]:
    for one in seen.conflicts:
        yield ill("conflict", f"{one.name} ({one.where}): {one.reason}", one.remedy)
    if not seen.conflicts:
        yield well("conflicts", "no other plugin edits the same prompts")


def _dependencies(seen: OpenCodeState) -> Finding:
    what = "dependencies"
    match seen.dependencies:
        case "blocked":
            finding = f"plugins or tools in {seen.folder} may need @opencode-ai/plugin, which is only stood in for"
            return doubtful(what, finding, "remove package.json, package-lock.json and node_modules there")
        case "missing":
            finding = f"OpenCode asks npm for @opencode-ai/plugin at its start, and waits, in {seen.folder}"
            return doubtful(what, finding, f"start it once with a network, or {AGAIN}")
        case "stand-in":
            return well(what, f"nothing is missing in {seen.folder}, our adapter needs no package")
        case _:
            return well(what, f"@opencode-ai/plugin is installed in {seen.folder}")


def _ripgrep(seen: OpenCodeState) -> Finding:
    if not seen.ripgrep:
        finding = "`rg` is not on the path, and OpenCode's tools grep and glob need it"
        return doubtful("ripgrep", finding, "install ripgrep, or let OpenCode download it")
    return well("ripgrep", seen.ripgrep)
