"""The request of a tool call, read off its tool and its arguments: its kind, and the files it touches.

The tool's name decides where the table of names has it; the names of the arguments decide otherwise. What a tool that
nobody knows names as its files is taken for files, but not for touched: it may be of another machine.
"""

import posixpath
import re
from typing import Literal

import msgspec

from services.domain.tools import names
from services.domain.tools.arguments import (
    COMMANDS,
    PATCH_TEXTS,
    PATHS,
    REMOVED,
    SOUGHT,
    SUBJECTS,
    WRITTEN,
    Arguments,
    all_text,
    arguments_of,
    first,
)

Kind = Literal["run", "edit", "read", "search", "other"]
"""Runs a command, changes files, shows a file, looks for something, or does anything else."""

MAX_TARGET_CHARACTERS = 240
MAX_PATH_CHARACTERS = 4_096
"""A longer path is none."""
_VERBS = {"Add": "written", "Update": "edited", "Delete": "deleted"}
_PATCHING = re.compile(r"\bapply_?patch\b", re.IGNORECASE)
"""A command of the shell that applies a patch says so."""
_FILE_LINE = re.compile(r"^\*\*\* (?:(Add|Update|Delete) File|Move to): +(\S(?:.*\S)?)[^\S\n]*$", re.MULTILINE)


class Touch(msgspec.Struct, frozen=True):
    """One file, as the call named it, and what is done to it: read, edited, written or deleted."""

    path: str
    action: str


class Request(msgspec.Struct, frozen=True):
    """The request of a call."""

    tool: str = ""
    kind: Kind = "other"
    target: str = ""
    """The subject of the call, in at most 240 characters: a path, the first line of a command, a pattern."""
    files: tuple[str, ...] = ()
    """The files that it names."""
    touches: tuple[Touch, ...] = ()
    """The files that it reads or changes when it succeeds, where its tool is known."""


def request_of(tool: str, arguments: str) -> Request:
    """The request of a call with these arguments, as JSON or as the bare text of a patch."""
    return read_request(tool, arguments_of(arguments))


def read_request(tool: str, given: Arguments) -> Request:
    name = names.plain(tool)
    touches = patched(patch_in(given)) or _touched(name, given)
    files = tuple(dict.fromkeys(touch.path for touch in touches)) or tuple(_paths(given))
    kind = _kind(name, given, touches, files)
    return Request(tool, kind, _line(subject(kind, given, files)), files, touches)


def subject(kind: Kind, given: Arguments, files: tuple[str, ...]) -> str:
    """The subject of a call, as given in its arguments."""
    if kind == "search":
        return first(given, SOUGHT) or first(given, PATHS) or first(given, SUBJECTS)
    if kind in ("edit", "read") and files:
        return files[0]
    return command_of(kind, given) or (files[0] if files else "") or first(given, SUBJECTS)


def command_of(kind: Kind, given: Arguments) -> str:
    """The command that is run in a shell."""
    return first(given, COMMANDS) if kind == "run" else ""


def patch_in(given: Arguments) -> str:
    """The patch among these arguments, as an argument of its own or within a command that applies it."""
    own = next((text for key in PATCH_TEXTS if _FILE_LINE.search(text := all_text(given.get(key)))), "")
    if own:
        return own
    commands = (all_text(given.get(key)) for key in COMMANDS)
    return next((text for text in commands if _PATCHING.search(text) and _FILE_LINE.search(text)), "")


def patched(patch: str) -> tuple[Touch, ...]:
    """The files of a patch in the `*** Update File` form; a file that moves is deleted and written."""
    touches: list[Touch] = []
    for verb, path in _FILE_LINE.findall(patch):
        if len(path) > MAX_PATH_CHARACTERS:
            continue
        if verb:
            touches.append(Touch(path, _VERBS[verb]))
            continue
        if touches:
            touches[-1] = Touch(touches[-1].path, "deleted")
        touches.append(Touch(path, "written"))
    return tuple(touches)


def sections(patch: str) -> tuple[tuple[str, str], ...]:
    """The files of a patch, each with the lines of its section."""
    pieces = _FILE_LINE.split(patch)
    return tuple(zip(pieces[2::3], pieces[3::3], strict=True))


def below(directory: str, path: str) -> str:
    """The path as seen from the directory, if it lies below that; otherwise as it is, without detours."""
    plain = posixpath.normpath(path)
    root = posixpath.normpath(directory) if directory else ""
    if not root or not plain.startswith(root.rstrip("/") + "/"):
        return plain
    return posixpath.relpath(plain, root)


def _touched(name: str, given: Arguments) -> tuple[Touch, ...]:
    action = names.ACTIONS.get(name, "")
    if name in names.EDITORS:
        action = names.EDITOR_ACTIONS.get(first(given, COMMANDS), "")
    return tuple(Touch(path, action) for path in _paths(given)) if action else ()


def _paths(given: Arguments) -> list[str]:
    path = first(given, PATHS).strip()
    return [path] if path and "\n" not in path and len(path) <= MAX_PATH_CHARACTERS else []


def _kind(name: str, given: Arguments, touches: tuple[Touch, ...], files: tuple[str, ...]) -> Kind:
    if touches:
        return "read" if all(touch.action == "read" for touch in touches) else "edit"
    if name in names.LOOKUPS:
        return "search"
    if files and (any(key in given for key in REMOVED) or any(all_text(given.get(key)).strip() for key in WRITTEN)):
        return "edit"
    if first(given, COMMANDS):
        return "run"
    if any(all_text(given.get(key)) for key in SOUGHT):
        return "search"
    return "read" if files else "other"


def _line(text: str) -> str:
    """The first line that says something, in bounded length."""
    found = next((line for line in text.splitlines() if line.strip()), "")
    return " ".join(found.split())[:MAX_TARGET_CHARACTERS]
