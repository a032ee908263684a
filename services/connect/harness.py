"""Whether OpenCode is well connected, judged from what was seen of it on this machine."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from services.connect.config import Entry, Source, Switch
from services.connect.conflicts import Conflict
from services.connect.findings import Finding, doubtful, ill, well

OLDEST = (1, 18, 0)
"""The first release whose hooks do all that the adapter needs."""
AGAIN = "run `annals setup opencode` again"
WHERE = ("broker", "url")


class Program(msgspec.Struct, frozen=True):
    """An installed OpenCode. Without a version it did not say one."""

    path: str
    version: str = ""

    @property
    def is_old(self) -> bool:
        numbers = re.match(r"(\d+)\.(\d+)\.(\d+)", self.version)
        return numbers is not None and tuple(map(int, numbers.groups())) < OLDEST


class Adapter(msgspec.Struct, frozen=True):
    """The adapter that said last what it is."""

    at: str = ""
    version: str = ""
    harness_version: str = ""
    digest: str = ""


class Seen(msgspec.Struct, frozen=True):
    """What was seen of OpenCode."""

    program: Program | None
    sources: tuple[Source, ...]
    plugins: tuple[Entry, ...]
    wanted: Mapping[str, object]
    """The options that point to this house."""
    loaded: str = ""
    """The digest of the bundle that OpenCode is told to load; empty: there is none."""
    installed: str = ""
    """The digest of the bundle that this installation has; empty: it has none."""
    switches: tuple[Switch, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    dependencies: Literal["installed", "stand-in", "blocked", "missing"] = "installed"
    folder: str = ""
    """Where OpenCode keeps its dependencies."""
    ripgrep: str = ""
    adapter: Adapter | None = None
    is_silent: bool = False
    """Whether nobody could say which adapter was seen last."""

    @property
    def ours(self) -> tuple[Entry, ...]:
        return tuple(one for one in self.plugins if one.is_ours)


def judge(seen: Seen) -> tuple[Finding, ...]:
    return tuple(_judge(seen))


def _judge(seen: Seen) -> Iterator[Finding]:
    yield _program(seen.program)
    yield from _configuration(seen)
    if not seen.ours:
        yield doubtful("plugin", "OpenCode is not connected to any house", "connect it: `annals setup opencode`")
        return
    yield from _plugin(seen)
    yield _compaction(seen)
    yield from _conflicts(seen)
    yield _dependencies(seen)
    yield _ripgrep(seen)
    yield _adapter(seen)


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


def _configuration(seen: Seen) -> Iterator[Finding]:
    for source in seen.sources:
        if source.error:
            yield ill("configuration", f"{source.place.path} cannot be read: {source.error}", "mend it there")
    if not any(source.error for source in seen.sources):
        read = ", ".join(str(source.place.path) for source in seen.sources) or "there is none"
        yield well("configuration", f"it can be read: {read}")


def _plugin(seen: Seen) -> Iterator[Finding]:
    specs = sorted({one.spec for one in seen.ours})
    last = seen.ours[-1]
    if len(specs) > 1:
        places = ", ".join(sorted({str(one.source) for one in seen.ours}))
        yield ill("plugin", f"two adapters are loaded ({', '.join(specs)})", f"keep one of the entries in {places}")
    else:
        yield well("plugin", f"{last.source} loads {last.spec}")
    yield _bundle(seen, last)
    yield _options(seen, last)


def _bundle(seen: Seen, entry: Entry) -> Finding:
    if not seen.loaded:
        return ill("bundle", f"{entry.path or entry.spec} does not exist", AGAIN)
    if not seen.installed:
        return doubtful("bundle", "this installation has none to compare it with", "build it: `make adapter`")
    if seen.loaded != seen.installed:
        return doubtful("bundle", "it is not the one of this installation", f"{AGAIN}, then restart OpenCode")
    return well("bundle", f"it is the one of this installation ({seen.installed[:12]})")


def _options(seen: Seen, entry: Entry) -> Finding:
    if "password" in entry.options:
        remedy = f"take it out of {entry.source}; the adapter reads it where `annals setup opencode` says"
        return ill("broker option", "a password stands in a configuration", remedy)
    there = next((str(entry.options[name]) for name in WHERE if name in entry.options), "nowhere")
    here = next((str(seen.wanted[name]) for name in WHERE if name in seen.wanted), "nowhere")
    if there != here:
        return ill("broker option", f"the adapter is sent to {there}, and this house is at {here}", AGAIN)
    return well("broker option", f"the adapter is sent to {there}")


def _compaction(seen: Seen) -> Finding:
    mode = seen.ours[-1].mode
    on = [switch for switch in seen.switches if switch.value is not False]
    if mode == "managed" and on:
        said = ", ".join(f"compaction.{one.name} is on{_by(one.source)}" for one in on)
        return ill("compaction", f"{said}, and Annals manages the context, too", f"set it to false, or {AGAIN}")
    automatic = next((one for one in seen.switches if one.name == "auto"), None)
    if mode != "managed" and automatic is not None and automatic.value is False:
        finding = f"in the mode {mode} OpenCode compacts, and that is switched off{_by(automatic.source)}"
        return doubtful("compaction", finding, "set compaction.auto to true, or choose `--compaction managed`")
    return well("compaction", f"the mode is {mode}, and OpenCode's own switches fit")


def _by(source: Path | None) -> str:
    return f" in {source}" if source else ""


def _conflicts(seen: Seen) -> Iterator[Finding]:
    for one in seen.conflicts:
        yield ill("conflict", f"{one.name} ({one.where}): {one.reason}", one.remedy)
    if not seen.conflicts:
        yield well("conflicts", "no other plugin edits the same prompts")


def _dependencies(seen: Seen) -> Finding:
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


def _ripgrep(seen: Seen) -> Finding:
    if not seen.ripgrep:
        finding = "`rg` is not on the path, and OpenCode's tools grep and glob need it"
        return doubtful("ripgrep", finding, "install ripgrep, or let OpenCode download it")
    return well("ripgrep", seen.ripgrep)


def _adapter(seen: Seen) -> Finding:
    adapter = seen.adapter
    if seen.is_silent:
        return doubtful("adapter", "nobody answers which adapter was seen last", "see what is said of the house")
    if adapter is None:
        return doubtful("adapter", "no session of this adapter was seen yet", "restart OpenCode and say something")
    said = f"{adapter.version} in OpenCode {adapter.harness_version or 'of an unknown version'}, {adapter.at}"
    if seen.installed and adapter.digest and adapter.digest != seen.installed:
        return doubtful(
            "adapter", f"the last one seen is another one than this installation's ({said})", "restart OpenCode"
        )
    return well("adapter", f"seen: {said}")
