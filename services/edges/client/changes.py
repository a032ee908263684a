"""Texts in the arguments of a call: those that an agent wrote, and those that it expected in a file."""

import re
from collections.abc import Iterator

import msgspec

_LINE_NUMBER = re.compile(r"^\s*\d+(?:[|:→]|\t)\s?")
_OLD = ("old_string", "oldString", "oldText", "old_str")
_PATCH = "*** Begin Patch"


class FileEdit(msgspec.Struct, frozen=True):
    """One change that an agent made to a file, by the agent's own call."""

    old: str


def flat(text: str) -> str:
    """A text without what a reading adds or an agent gets wrong: numbers of lines, empty lines, spaces."""
    lines = (" ".join(_LINE_NUMBER.sub("", line).split()) for line in text.splitlines())
    return "\n".join(filter(None, lines))


def argument_texts(arguments: str) -> tuple[str, ...]:
    """The texts in a call's arguments, which are JSON; of a patch, what the file looks like afterwards."""
    try:
        leaves = list(_leaves(msgspec.json.decode(arguments)))
    except ValueError:
        leaves = [arguments]
    return tuple(_patched(leaf) if _PATCH in leaf else leaf for leaf in leaves)


def _leaves(value: object) -> Iterator[str]:
    match value:
        case dict():
            for inner in value.values():
                yield from _leaves(inner)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case None | bool():
            pass
        case _:
            yield str(value)


def edits(arguments: str) -> tuple[FileEdit, ...]:
    """The texts that a call expected in a file: old texts, or the context and the removed lines of each hunk."""
    try:
        value = msgspec.json.decode(arguments)
    except ValueError:
        value = arguments
    return tuple(FileEdit(old) for old in _olds(value) if flat(old))


def _olds(value: object) -> Iterator[str]:
    match value:
        case dict():
            for key, inner in value.items():
                if key in _OLD and isinstance(inner, str):
                    yield inner
                else:
                    yield from _olds(inner)
        case list():
            for inner in value:
                yield from _olds(inner)
        case str() if _PATCH in value:
            yield from _hunks(value)


def _hunks(patch: str) -> Iterator[str]:
    hunk: list[str] = []
    for line in patch.splitlines():
        if line.startswith(("@@", "***")):
            yield "\n".join(hunk)
            hunk = []
        elif line.startswith((" ", "-")):
            hunk.append(line[1:])
    yield "\n".join(hunk)


def _patched(patch: str) -> str:
    """The lines that a patch leaves in the file, with the names of the files."""
    added = (line[1:] if line.startswith((" ", "+")) else line for line in patch.splitlines())
    return "\n".join(line for line in added if not line.startswith("-"))
