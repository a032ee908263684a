"""What a tool call was about, read off its arguments: a pure table of names."""

import posixpath
import re

import msgspec

MAX_TARGET_CHARACTERS = 240
TARGET_KEYS = (
    "filePath", "file_path", "notebook_path", "notebookPath",
    "command", "cmd", "pattern", "query", "url", "path", "description", "name",
)  # fmt: skip
"""Arguments that say what a call is about, the most telling first."""
PATH_KEYS = ("filePath", "file_path", "notebook_path", "notebookPath", "path")
PATCH_KEYS = ("patchText", "patch_text", "patch", "input")
ACTIONS = {
    "read": "read",
    "readfile": "read",
    "view": "read",
    "notebookread": "read",
    "edit": "edited",
    "multiedit": "edited",
    "notebookedit": "edited",
    "write": "written",
    "writefile": "written",
}
"""What a tool does to the file that its arguments name, by the tool's name in small letters without `_`."""
PATCHES = frozenset({"patch", "applypatch"})
VERBS = {"Add": "written", "Update": "edited", "Delete": "deleted"}

_Given = msgspec.defstruct("_Given", [(key, object, None) for key in dict.fromkeys((*TARGET_KEYS, *PATCH_KEYS))])
_arguments = msgspec.json.Decoder(_Given)  # what is not asked for is skipped, however long it is

_HUNK = re.compile(r"^\*\*\* (?:(Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)


class Touch(msgspec.Struct, frozen=True):
    """One file, as the call named it, and what was done to it."""

    path: str
    action: str


class Use(msgspec.Struct, frozen=True):
    """A call: its tool, what it was about, and the files that it reads or changes when it succeeds."""

    tool: str = ""
    target: str = ""
    touches: tuple[Touch, ...] = ()


def use(tool: str, arguments: str) -> Use:
    """Read a call. Arguments that are no JSON object are a patch, or say nothing."""
    given = _given(arguments)
    name = tool.lower().replace("_", "")
    if name in PATCHES:
        touches = _patched(_first(given, PATCH_KEYS) or ("" if given else arguments))
        return Use(tool, _line(touches[0].path) if touches else "", touches)
    path = _first(given, PATH_KEYS)
    touches = (Touch(path, ACTIONS[name]),) if path and name in ACTIONS else ()
    return Use(tool, _line(_first(given, TARGET_KEYS)), touches)


def below(directory: str, path: str) -> str:
    """The path as seen from the directory, if it lies below that; otherwise as it is, without detours."""
    plain = posixpath.normpath(path)
    root = posixpath.normpath(directory) if directory else ""
    if not root or not plain.startswith(root.rstrip("/") + "/"):
        return plain
    return posixpath.relpath(plain, root)


def _given(arguments: str) -> msgspec.Struct | None:
    """The arguments that this table knows; none where they are no JSON object."""
    try:
        return _arguments.decode(arguments)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _first(given: msgspec.Struct | None, keys: tuple[str, ...]) -> str:
    """The first of these arguments that says something; a command may come as a list of words."""
    for key in keys:
        match getattr(given, key, None):
            case str(text) if text.strip():
                return text
            case list(words) if words:
                return " ".join(str(word) for word in words)
            case _:
                pass
    return ""


def _line(text: str) -> str:
    """The first line that says something, in bounded length."""
    found = next((line for line in text.splitlines() if line.strip()), "")
    return " ".join(found.split())[:MAX_TARGET_CHARACTERS]


def _patched(patch: str) -> tuple[Touch, ...]:
    """The files of a patch in the `*** Update File` form; a file that moves is deleted and written."""
    touches: list[Touch] = []
    for verb, path in _HUNK.findall(patch):
        if not verb:
            if touches:
                touches[-1] = Touch(touches[-1].path, "deleted")
            touches.append(Touch(path, "written"))
        else:
            touches.append(Touch(path, VERBS[verb]))
    return tuple(touches)
