"""Recorded sessions as turns that can be played again in a real harness, with files that hold what was read."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib.resources import as_file, files
from itertools import chain
from pathlib import Path, PurePosixPath

import msgspec

from schemas.inbox import MessageSeen, PartSeen
from services.domain.tools.request import request_of
from services.domain.tools.shell import shown_file
from services.edges.client.readers import read
from services.edges.client.transcript import Transcript
from tests.harness.provider import Call
from tests.helpers.recordings import SHIPPED, foreign_files

ROOT = Path(__file__).parents[3]

READS = frozenset({"read", "read_file"})
WRITES = frozenset({"write", "write_file"})
EDITS = frozenset({"edit", "multiedit", "replace", "apply_patch", "str_replace"})
DESCRIBED = 4_000
"""Characters of a recorded call's arguments that stand in those of the call that is made in its place."""
_PATHS = ("filePath", "file_path", "path", "absolute_path")
_FRAME = re.compile(r"</?(?:path|type|content|entries|file)>[^\n]*\n?")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add) File: (.+)$", re.MULTILINE)
_LISTED = re.compile(r"<type>directory</type>")
"""A directory that was read: its names are shown, and no text of a file."""
_NUMBER = re.compile(r"^\s*\d+(?:[|:→]|\t) ?", re.MULTILINE)


class Recorded(msgspec.Struct, frozen=True):
    """One call as it was made."""

    tool: str
    input: str
    output: str


class Step(msgspec.Struct, frozen=True):
    """One answer of the model."""

    answer: MessageSeen
    text: str = ""
    reasoning: str = ""
    calls: tuple[Recorded, ...] = ()
    ready: tuple[Call, ...] = ()
    """Calls that need not be made into others."""


class Turn(msgspec.Struct, frozen=True):
    """What a person said, and the answers until the agent was done."""

    words: str
    steps: tuple[Step, ...]


def found(stem: str) -> Transcript | None:
    """A recording by a part of its file's name; those that come along are looked at last."""
    paths = [*foreign_files("transcripts/neutral/*.gz"), *sorted(SHIPPED.glob("*.gz"))]
    path = next((one for one in paths if stem in one.name), None)
    return _longest(read(path)) if path else None


def shipped() -> list[Transcript]:
    """The recordings that come along, the longest first."""
    sessions = [*read(SHIPPED)]
    with as_file(files("services.edges.client") / "recorded") as folder:
        sessions += read(folder)
    unique = {one.session: one for one in sessions if not one.seen.parent and len(one.messages) > 1}
    return sorted(unique.values(), key=lambda one: -len(one.messages))


def _longest(sessions: Iterator[Transcript]) -> Transcript:
    return max(sessions, key=lambda one: len(one.messages))


def turns(transcript: Transcript, most: int = 0) -> list[Turn]:
    """The session as turns, up to so many answers."""
    results = {
        part.call: part for message in transcript.messages for part in message.parts if part.type == "tool_result"
    }
    made: list[tuple[str, list[Step]]] = []
    count = 0
    for message in transcript.messages:
        if message.role == "user":
            words = _words(message)
            if words and made and not made[-1][1]:
                made[-1] = (f"{made[-1][0]}\n{words}", [])
            elif words:
                made.append((words, []))
        elif message.role == "assistant" and made:
            step = _step(message, results)
            made[-1][1].extend([step] if step.text or step.calls else [])
            count += 1
            if count == most:
                break
    return [Turn(words, tuple(_ended(steps))) for words, steps in made]


def _words(message: MessageSeen) -> str:
    texts = [part.text for part in message.parts if part.type in ("text", "compaction") and not part.ignored]
    return "\n".join(texts).strip()


def _step(message: MessageSeen, results: Mapping[str, PartSeen]) -> Step:
    parts = [part for part in message.parts if not part.ignored]
    return Step(
        answer=message,
        text="\n".join(part.text for part in parts if part.type == "text").strip(),
        reasoning="\n".join(part.text for part in parts if part.type == "reasoning").strip(),
        calls=tuple(
            Recorded(part.tool, part.input, part.output or (results[part.call].output if part.call in results else ""))
            for part in parts
            if part.type in ("tool", "tool_call")
        ),
    )


def _ended(steps: Sequence[Step]) -> Iterator[Step]:
    """A turn ends with words, and only there: words that were said without a call go with the next one."""
    waiting: list[Step] = []
    for step in steps:
        waiting.append(step)
        if step.calls:
            yield _joined(waiting)
            waiting = []
    yield _joined(waiting) if waiting else Step(MessageSeen("", "assistant"), text="That is done.")


def _joined(steps: Sequence[Step]) -> Step:
    last = steps[-1]
    parts = tuple(part for step in steps for part in step.answer.parts)
    return Step(
        answer=msgspec.structs.replace(last.answer, parts=parts),
        text="\n".join(step.text for step in steps if step.text),
        reasoning="\n".join(step.reasoning for step in steps if step.reasoning),
        calls=last.calls,
    )


def moved(turn: Turn, home: str, workspace: str) -> Turn:
    """The turn as it would have been in another directory."""
    if not home:
        return turn
    return msgspec.json.decode(msgspec.json.encode(turn).replace(home.encode(), workspace.encode()), type=Turn)


class Workshop:
    """Makes recorded calls into ones that a real harness can run, and lays out the files that they need."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._count = 0

    def calls(self, step: Step) -> tuple[Call, ...]:
        taken: set[Path] = set()
        return (*step.ready, *(self._call(one, taken) for one in step.calls))

    def _call(self, recorded: Recorded, taken: set[Path]) -> Call:
        self._count += 1
        given = _arguments(recorded.input)
        kind = recorded.tool.lower()
        if kind in READS and not _LISTED.search(recorded.output) and (path := self._path(given, taken)) is not None:
            taken.add(path)
            _lay(path, _NUMBER.sub("", _FRAME.sub("", recorded.output)) or "(empty)\n")
            return Call("read", {"filePath": str(path)})
        if kind in WRITES | EDITS:
            path = self._workspace / "changes" / f"{self._count:04d}{_suffix(given)}"
            return Call("write", {"filePath": str(path), "content": _content(given, recorded.input)})
        described = f"{recorded.tool} {recorded.input}"[:DESCRIBED]
        return Call("bash", {"command": self._command(recorded), "description": described})

    def _command(self, recorded: Recorded) -> str:
        """A command that says what was said: it shows a file if that was what was done, and else it is run."""
        place = f"outputs/{self._count:04d}"
        shown = shown_file(request_of(recorded.tool, recorded.input).target)
        said = self._workspace / place / (_end(shown) or "said.txt")
        _lay(said, recorded.output or "(no output)\n")
        if shown:
            return f"cat {place}/{_end(shown)}"
        _lay(self._workspace / place / "run.sh", f"cat {place}/said.txt\n")
        return f"sh {place}/run.sh"

    def _path(self, given: Mapping[str, object], taken: AbstractSet[Path]) -> Path | None:
        """A file in the workspace under the name that it had in the project, or beside that if it is taken."""
        named = next((str(given[key]) for key in _PATHS if given.get(key)), "")
        inner = PurePosixPath(named.removeprefix(str(self._workspace)).lstrip("/"))
        if not named or ".." in inner.parts or not inner.parts or len(str(inner)) > 200:
            return None
        path = self._workspace / "project" / inner
        if path in taken or path.is_dir() or any(one.is_file() for one in path.parents):
            return self._workspace / f"project-{self._count:04d}" / inner
        return path


def _arguments(text: str) -> Mapping[str, object]:
    try:
        given = msgspec.json.decode(text)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {"content": str(given)}


def _content(given: Mapping[str, object], whole: str) -> str:
    """What an edit says: all of its arguments as text, so that nothing that was written is lost."""
    texts = [str(value) for key, value in given.items() if key not in _PATHS and isinstance(value, str)]
    return "\n".join(texts) or whole


def _suffix(given: Mapping[str, object]) -> str:
    """The end of the name of the file that was changed."""
    patched = (found[1] for value in given.values() if (found := _PATCHED.search(str(value))))
    named = next(chain((str(given[key]) for key in _PATHS if given.get(key)), patched), "")
    return f"/{_end(named)}" if _end(named) else ".txt"


def _end(path: str) -> str:
    """A file's name with the folder that it is in."""
    return "/".join(part for part in PurePosixPath(path).parts[-2:] if part not in ("/", ".."))


def _lay(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, errors="replace")
