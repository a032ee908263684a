"""Makes recorded calls into ones that a real harness can run, and lays out the files that they need."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path, PurePosixPath

import msgspec

from services.domain.tools import names
from services.domain.tools.arguments import PATHS, REMOVED, WRITTEN, Arguments, arguments_of, first
from services.domain.tools.request import patch_in, request_of, sections
from services.domain.tools.shell import shown_file
from tests.bench.side.recordings import Recorded, Step
from tests.harness.provider import Call

DESCRIBED = 4_000
"""Characters of a recorded call's arguments that stand in those of the call that is made in its place."""
_FRAME = re.compile(r"</?(?:path|type|content|entries|file)>[^\n]*\n?")
_LISTED = re.compile(r"<type>directory</type>")
"""A directory that was read: its names are shown, and no text of a file."""
_NUMBER = re.compile(r"^\s*\d+(?:[|:→]|\t) ?", re.MULTILINE)


class Change(msgspec.Struct, frozen=True):
    """What a call changed in one file: `new` stands where `old` stood, or is all of it where nothing did."""

    path: str
    old: str
    new: str


class Workshop:
    """Makes the calls of one session."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._count = 0

    def calls(self, step: Step) -> tuple[Call, ...]:
        taken: set[Path] = set()
        return (*step.ready, *(call for one in step.calls for call in self._calls(one, taken)))

    def _calls(self, recorded: Recorded, taken: set[Path]) -> Iterator[Call]:
        self._count += 1
        read = self._read(recorded, taken)
        changed = [self._changed(change, taken) for change in changes(recorded)]
        if read is not None:
            yield read
        elif changed and None not in changed:
            yield from filter(None, changed)
        else:
            described = f"{recorded.tool} {recorded.input}"[:DESCRIBED]
            yield Call("bash", {"command": self._command(recorded), "description": described})

    def _read(self, recorded: Recorded, taken: set[Path]) -> Call | None:
        """The file with what was shown of it, where it was read."""
        if names.plain(recorded.tool) not in names.READS or _LISTED.search(recorded.output):
            return None
        path = self._path(first(arguments_of(recorded.input), PATHS), taken)
        if path is None:
            return None
        taken.add(path)
        _lay(path, _NUMBER.sub("", _FRAME.sub("", recorded.output)) or "(empty)\n")
        return Call("read", {"filePath": str(path)})

    def _changed(self, change: Change, taken: set[Path]) -> Call | None:
        """The same change of a file that holds what stood there."""
        path = self._path(change.path, taken)
        if path is None:
            return None
        taken.add(path)
        if not change.old or change.old == change.new:
            return Call("write", {"filePath": str(path), "content": change.new})
        _lay(path, change.old)
        return Call("edit", {"filePath": str(path), "oldString": change.old, "newString": change.new})

    def _command(self, recorded: Recorded) -> str:
        """A command with the recorded output: it prints a file if that was what was done, and else it is run."""
        place = f"outputs/{self._count:04d}"
        shown = shown_file(request_of(recorded.tool, recorded.input).target)
        output = self._workspace / place / (_end(shown) or "output.txt")
        _lay(output, recorded.output or "(no output)\n")
        if shown:
            return f"cat {place}/{_end(shown)}"
        _lay(self._workspace / place / "run.sh", f"cat {place}/output.txt\n")
        return f"sh {place}/run.sh"

    def _path(self, named: str, taken: AbstractSet[Path]) -> Path | None:
        """A file in the workspace under the name that it had in the project, or next to that if it is taken."""
        inner = PurePosixPath(named.removeprefix(str(self._workspace)).lstrip("/"))
        if not named or ".." in inner.parts or not inner.parts or len(str(inner)) > 200:
            return None
        path = self._workspace / "project" / inner
        if path in taken or path.is_dir() or any(one.is_file() for one in path.parents):
            return self._workspace / f"project-{self._count:04d}" / inner
        return path


def changes(recorded: Recorded) -> Iterator[Change]:
    """What a recorded call changed, file by file; none where it is not known to change any."""
    given, tool = arguments_of(recorded.input), names.plain(recorded.tool)
    if tool in names.PATCHES:
        for path, section in sections(patch_in(given)):
            old, new = _side(section, "-"), _side(section, "+")
            if old or new:
                yield Change(path, old, new)
    elif tool in names.EDITS | names.WRITES:
        several = given.get("edits")
        for one in several if isinstance(several, list) else [given]:
            old, new = (_text(one, keys) if isinstance(one, dict) else "" for keys in (REMOVED, WRITTEN))
            if old or new:
                yield Change(first(given, PATHS), old, new)


def _text(given: Arguments, keys: tuple[str, ...]) -> str:
    return next((text for key in keys if isinstance(text := given.get(key), str)), "")


def _side(section: str, sign: str) -> str:
    """The lines of a patch that stood in the file before, or stand there after it."""
    return "\n".join(line[1:] for line in section.splitlines() if line.startswith((" ", sign)))


def _end(path: str) -> str:
    """A file's name with the folder that it is in."""
    return "/".join(part for part in PurePosixPath(path).parts[-2:] if part not in ("/", ".."))


def _lay(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, errors="replace")
