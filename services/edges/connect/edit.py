"""Edits of a JSON text that touch nothing but what they are about: comments, order and layout stay."""

import json
import re
from collections.abc import Collection, Iterator, Sequence

import msgspec

from services.edges.connect.jsonc import Member, Node, parse

_BLANK = " \t"
_SPACE = " \t\r\n"
_SUBSTITUTED = re.compile(r"\{(?=(?:env|file):)")
_INDENTED = re.compile(r'\n([ \t]+)"')

Path = Sequence[str | int]


class Patch(msgspec.Struct, frozen=True):
    """One edit of a text, so that it can be undone to the byte."""

    at: int
    removed: str
    inserted: str

    def undo(self, text: str) -> str:
        return text[: self.at] + self.removed + text[self.at + len(self.inserted) :]


def patch(before: str, after: str) -> Patch:
    """The one stretch in which two texts differ."""
    shorter = min(len(before), len(after))
    start = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    end = next((n for n in range(shorter - start) if before[-1 - n] != after[-1 - n]), shorter - start)
    return Patch(start, before[start : len(before) - end], after[start : len(after) - end])


def replace(text: str, path: Path, value: object, verbatim: Collection[str] = ()) -> str:
    """Replace the value that is there. `verbatim`: strings of it in which the reader must replace nothing."""
    node = at(parse(text), path)
    return text[: node.start] + _json(value, verbatim) + text[node.end :]


def append(text: str, path: Path, value: object, name: str | None = None, verbatim: Collection[str] = ()) -> str:
    """Add a last member to the object or array at this path. `verbatim`: as for `replace`."""
    container = at(parse(text), path)
    last = container.members[-1] if container.members else None
    close = container.end - 1
    place = len(text[:close].rstrip(_SPACE))
    is_closed_below = "\n" in text[place:close]
    added = _json(value, verbatim) if name is None else f"{_json(name)}: {_json(value, verbatim)}"
    if last is not None and last.comma >= 0:
        added += ","
    if is_closed_below or (last is None and ("\n" in text or not path)):
        added = f"{_newline(text)}{_indent(text, container, last)}{added}"
        if not is_closed_below:
            added += f"{_newline(text)}{_line_indent(text, container.start)}"
    elif last is not None:
        added = f" {added}"
    text = text[:place] + added + text[place:]
    if last is not None and last.comma < 0:
        text = text[: last.end] + "," + text[last.end :]
    return text


def remove(text: str, path: Path) -> str:
    """Take a member out, with its comma and, where it has one to itself, its line."""
    container = at(parse(text), path[:-1])
    index = _index(container, path[-1])
    member = container.members[index]
    comma = member.comma if member.comma >= 0 or index == 0 else container.members[index - 1].comma
    start, end = _stretch(text, member)
    cuts = [(start, end)] if comma < 0 or start <= comma < end else sorted([(start, end), (comma, comma + 1)])
    for first, after in reversed(cuts):
        text = text[:first] + text[after:]
    return _collapse(text, path[:-1])


def at(node: Node, path: Path) -> Node:
    """The value at a path. Raises `KeyError` where there is none."""
    for step in path:
        node = node.members[_index(node, step)].node
    return node


def replaced(text: str, path: Path) -> frozenset[str]:
    """The strings of the value at a path in which OpenCode replaces something, since nothing escapes it there."""
    return frozenset(_replaced(text, at(parse(text), path)))


def _replaced(text: str, node: Node) -> Iterator[str]:
    if isinstance(node.value, str) and _SUBSTITUTED.search(text[node.start : node.end]):
        yield node.value
    for member in node.members:
        yield from _replaced(text, member.node)


def _index(container: Node, step: str | int) -> int:
    """The position of a member; of several of one name the last one counts."""
    for index in reversed(range(len(container.members))):
        if step == (index if container.kind == "array" else container.members[index].name):
            return index
    raise KeyError(step)


def _stretch(text: str, member: Member) -> tuple[int, int]:
    """From where to where a member is cut out, with the blank or the line break that only it needs."""
    has_comma_at_once = member.comma == member.end
    end = member.end + 1 if has_comma_at_once else member.end
    before = len(text[: member.start].rstrip(_BLANK))
    behind = len(text) - len(text[end:].lstrip(_BLANK))
    if text[before - 1] == "\n":
        if text[behind : behind + 1] in "\r\n":
            return before - (2 if text[before - 2 : before] == "\r\n" else 1), end
        return member.start, behind
    if text[before - 1] in "[{":
        return member.start, behind if has_comma_at_once else end
    return before, end


def _collapse(text: str, path: Path) -> str:
    """Close an object or array up in which nothing is left."""
    container = at(parse(text), path)
    is_blank = not text[container.start + 1 : container.end - 1].strip(_SPACE)
    return text[: container.start + 1] + text[container.end - 1 :] if is_blank else text


def _indent(text: str, container: Node, last: Member | None) -> str:
    if last is not None and text[: last.start].rstrip(_BLANK).endswith("\n"):
        return _line_indent(text, last.start)
    unit = _INDENTED.search(text)
    return _line_indent(text, container.start) + (unit[1] if unit else "  ")


def _line_indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(_BLANK))]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _json(value: object, verbatim: Collection[str] = ()) -> str:
    """A value as JSON. OpenCode replaces `{env:NAME}` and `{file:NAME}` in a configuration before it reads the JSON."""
    text = json.dumps(value, ensure_ascii=False)
    for one in filter(_SUBSTITUTED.search, verbatim):
        plain = json.dumps(one, ensure_ascii=False)
        text = text.replace(plain, _SUBSTITUTED.sub(r"\\u007b", plain))
    return text
