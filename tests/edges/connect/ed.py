"""A made-up harness, all of it in one file: `ed` reads one configuration of one line for each plugin."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from services.edges.connect import connection, files
from services.edges.connect.base import Harness
from services.edges.connect.connection import Reported
from services.edges.connect.edit import patch
from services.edges.connect.findings import Finding, PluginConflict, well
from services.edges.connect.written import BUNDLE, ConfigurationRecord, Unsuitable, WantedEntry, digest_of
from services.settings import Settings

LOAD = "load "


class Entry(NamedTuple):
    """One line that loads a plugin, with its options behind it."""

    spec: str
    options: dict[str, object]
    source: Path

    @property
    def path(self) -> Path:
        return Path(self.spec.removeprefix("file://"))


def is_ours(line: str) -> bool:
    return line.startswith(LOAD) and line.split()[1].endswith(f"/{BUNDLE}")


class Ed(Harness):
    """The standard editor, had it an agent."""

    name = "ed"
    title = "Ed"

    @property
    def is_here(self) -> bool:
        return self._user.exists()

    @property
    def _user(self) -> Path:
        return Path(self.environment["HOME"]) / ".edrc"

    def configuration(self, *, project: bool) -> Path:
        return self.here / ".edrc" if project else self._user

    def connect(
        self, text: str, wanted: WantedEntry, known: ConfigurationRecord | None
    ) -> tuple[str, ConfigurationRecord]:
        if "\0" in text:
            raise Unsuitable("it is no text; write it anew")
        line = f"{LOAD}{wanted.spec} {msgspec.json.encode(wanted.options).decode()}\n"
        rest = "".join(one for one in text.splitlines(keepends=True) if not is_ours(one))
        after = rest + line
        if after == text:
            return text, known or ConfigurationRecord()
        return after, ConfigurationRecord(patches=(patch(text, after),), digest=digest_of(after))

    def disconnect(self, text: str, known: ConfigurationRecord | None) -> str:
        if known is not None and (restored := known.undone(text)) is not None:
            return restored
        return "".join(one for one in text.splitlines(keepends=True) if not is_ours(one))

    def is_bare(self, text: str) -> bool:
        return not text.strip()

    def conflicts(self) -> tuple[PluginConflict, ...]:
        if "load vi\n" not in (files.read(self._user) or ""):
            return ()
        return (PluginConflict("vi", self._user, "it edits the same lines", "leave it"),)

    def judge(self, settings: Settings, reported: Reported) -> Iterable[Finding]:
        text = files.read(self._user) or ""
        yield well("ed", f"{len(text.splitlines())} lines can be read")
        ours = [line.split(" ", 2) for line in text.splitlines() if is_ours(line)]
        if not ours:
            yield connection.unconnected(self.name, self.title)
            return
        _, spec, options = ours[-1]
        entry = Entry(spec, msgspec.json.decode(options, type=dict[str, object]), self._user)
        seen = self.connection(settings, entry, reported)
        yield from connection.judge(seen)
        yield connection.judge_adapter(seen)


HARNESS = Ed
