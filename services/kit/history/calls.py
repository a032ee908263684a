"""A tool call as a reader of history needs it: what it did, to which files, and whether it failed."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from services.kit.history.faults import exited, fault
from services.kit.history.said import Piece
from services.kit.history.tasks import Task, progress, tasks

PATHS = ("filePath", "file_path", "notebook_path", "notebookPath", "path", "file", "filename")
COMMANDS = ("command", "cmd", "script")
PATCHES = ("patchText", "patch_text", "patch", "input")
WRITTEN = (
    "newString", "new_string", "newText", "new_text", "content", "contents", "new_str", "file_text", "insert_text",
    "new_source", "edits",
)  # fmt: skip
"""Arguments that hold what is put into a file."""
REMOVED = ("oldString", "old_string", "oldText", "old_text", "old_str")
SEARCHES = ("pattern", "query", "regex", "glob", "symbol", "url")
KEYS = (*PATHS, *SEARCHES, "module", "action", "subject", "title", "name", "description", "prompt")
"""Arguments that say what a call is about, the most telling first; a command comes before them all."""
ASKING = ("prompt", "questions", "question")
"""Arguments of a call that asks someone: another agent, or a person."""
TOOLS = ("tool", "tool_call", "tool_result")

_decoder = msgspec.json.Decoder()
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
_WRAPPING = re.compile(r"^task_id:.*$|</?[a-z_]+>|^agentId:.*$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_ADDED = re.compile(r"^[+](.*)$", re.MULTILINE)


class Call(msgspec.Struct, frozen=True):
    """One use of a tool."""

    tool: str
    act: str
    """run (a command), edit, read (a file), find, or other."""
    target: str = ""
    """What it was about, on one line: a path, a command, a pattern."""
    files: tuple[str, ...] = ()
    command: str = ""
    description: str = ""
    arguments: str = ""
    """All that its arguments say, without their keys."""
    wrote: tuple[tuple[str, str], ...] = ()
    """Files, and what it puts into each."""
    output: str = ""
    """The result, without what the harness wraps around it."""
    failed: bool = False
    tasks: tuple[Task, ...] = ()
    """What it says of the agent's plan."""
    report: str = ""
    """What another agent answered, or the person who was asked by a tool."""
    plan: str = ""
    """A plan that it hands in to be agreed to."""

    @property
    def error(self) -> str:
        """The line that says what went wrong; empty where nothing did."""
        return fault(self.output) if self.failed else ""


def call(piece: Piece) -> Call:
    """Read a call. Arguments that are no JSON object are a patch, or say nothing."""
    given = _given(piece.input)
    output = plain(piece.output)
    command = _first(given, COMMANDS)
    patch = next((text for key in (*PATCHES, *COMMANDS) if _PATCHED.search(text := _text(given.get(key)))), "")
    files = tuple(dict.fromkeys(_PATCHED.findall(patch) or _paths(given)))
    written = "\n".join(_text(given.get(key)) for key in WRITTEN).strip()
    changes = bool(patch or written) or any(key in given for key in REMOVED)
    act = _act(given, command, files, changes=changes)
    plan = tasks(given, output) if act == "other" else ()
    target = _sought(given) if act == "find" else command or (files[0] if files else "") or _first(given, KEYS)
    return Call(
        tool=piece.tool,
        act=act,
        target=" ".join((target or progress(plan)).split()),
        files=files,
        command=command,
        description=_first(given, ("description",)) if command else "",
        arguments=_text(given),
        wrote=_sections(patch) if patch else tuple((path, written) for path in files[:1] if changes),
        output=output,
        failed=piece.status == "error" or exited(piece.output, output),
        tasks=plan,
        report=_WRAPPING.sub("", output).strip() if act == "other" and any(key in given for key in ASKING) else "",
        plan=_text(given.get("plan")) if act == "other" and not plan else "",
    )


def plain(output: str) -> str:
    """An output without colours, and without a JSON object around it, as some harnesses keep them."""
    if "\x1b" in output:
        output = _COLOUR.sub("", output)
    if not output.startswith("{"):
        return output
    value = _decoded(output)
    for key in ("functionResponse", "response", "output"):
        if isinstance(value, dict) and key in value:
            value = value[key]
    return value if isinstance(value, str) else output


def _act(given: Mapping[str, object], command: str, files: tuple[str, ...], *, changes: bool) -> str:
    if files and changes:
        return "edit"
    if command:
        return "run"
    if any(_text(given.get(key)) for key in SEARCHES):
        return "find"
    return "read" if files else "other"


def _sought(given: Mapping[str, object]) -> str:
    """What was looked for, and where."""
    where = _first(given, PATHS)
    return f"{_first(given, SEARCHES)} in {where}" if where else _first(given, SEARCHES)


def _given(arguments: str) -> dict[str, object]:
    value = _decoded(arguments)
    if isinstance(value, dict):
        return value
    text = value if isinstance(value, str) else arguments
    return {"patch": text} if text else {}


def _decoded(text: str) -> object:
    try:
        return _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _first(given: Mapping[str, object], keys: tuple[str, ...]) -> str:
    """The first of these arguments that says something; a command may come as a list of words."""
    for key in keys:
        match given.get(key):
            case str(text) if text.strip():
                return text
            case list(words) if words and all(isinstance(word, str) for word in words):
                return " ".join(map(str, words))
            case _:
                pass
    return ""


def _paths(given: Mapping[str, object]) -> list[str]:
    path = _first(given, PATHS).strip()
    return [path] if path and "\n" not in path else []


def _sections(patch: str) -> tuple[tuple[str, str], ...]:
    """The files of a patch, and the lines that it adds to each."""
    _, *parts = _PATCHED.split(patch)
    return tuple((path, "\n".join(_ADDED.findall(body))) for path, body in zip(parts[::2], parts[1::2], strict=True))


def _text(value: object) -> str:
    """All that a value says, without its keys."""
    return "\n".join(_texts(value))


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for one in value.values():
                yield from _texts(one)
        case list():
            for one in value:
                yield from _texts(one)
        case _:
            pass
