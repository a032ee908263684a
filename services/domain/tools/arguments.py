"""The arguments of a tool call: what they are called in the harnesses, and how they are read."""

from collections.abc import Iterator, Mapping

import msgspec

PATHS = ("filePath", "file_path", "notebook_path", "notebookPath", "path", "absolute_path", "file", "filename")
COMMANDS = ("command", "cmd", "script")
PATCH_TEXTS = ("patchText", "patch_text", "patch", "input")
WRITTEN = (
    "newString", "new_string", "newText", "new_text", "content", "contents", "new_str", "file_text", "insert_text",
    "new_source", "edits",
)  # fmt: skip
"""Arguments that hold what is put into a file."""
REMOVED = ("oldString", "old_string", "oldText", "old_text", "old_str")
SOUGHT = ("pattern", "query", "regex", "glob", "symbol", "url")
SUBJECTS = (*PATHS, *SOUGHT, "module", "action", "subject", "title", "name", "description", "prompt")
"""Arguments that say what a call is about, the most telling first; a command comes before them all."""
ASKING = ("prompt", "questions", "question")
"""Arguments of a call that asks someone: another agent, or a person."""

Arguments = Mapping[str, object]

_decoder = msgspec.json.Decoder()


def decoded(text: str) -> object:
    """The value of this JSON; none where it is no JSON, or nested too deeply."""
    try:
        return _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def arguments_of(text: str) -> Arguments:
    """The arguments of a call by their names. A text that is no JSON object is taken for a patch."""
    value = decoded(text)
    if isinstance(value, dict):
        return value
    patch = value if isinstance(value, str) else text
    return {PATCH_TEXTS[-1]: patch} if patch else {}


def first(given: Arguments, keys: tuple[str, ...]) -> str:
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


def all_text(value: object) -> str:
    """All that a value says, without its keys."""
    return "\n".join(_texts(value))


def _texts(value: object) -> Iterator[str]:
    """In their order. A value may be nested as deeply as it can be decoded, which is deeper than calls may go."""
    left = [value]
    while left:
        match left.pop():
            case str(text):
                yield text
            case dict(named):
                left += reversed(named.values())
            case list(listed):
                left += reversed(listed)
            case _:
                pass
