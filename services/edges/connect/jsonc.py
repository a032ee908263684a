"""JSON with comments, as a tree that has each value's place in its text. The only importer of Lark."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

GRAMMAR = r"""
start: _value
_value: object | array | STRING | NUMBER | CONSTANT
object: "{" (pair (COMMA pair)* COMMA?)? "}"
array: "[" (_value (COMMA _value)* COMMA?)? "]"
pair: STRING ":" _value

COMMA: ","
CONSTANT: "true" | "false" | "null"
STRING: /"([^"\\\x00-\x1f]|\\["\\\/bfnrt]|\\u[0-9a-fA-F]{4})*"/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/
COMMENT: /\/\/[^\n\r]*/ | /\/\*(.|\n)*?\*\//
SPACE: /[ \t\r\n\ufeff]+/
%ignore COMMENT
%ignore SPACE
"""


END = "$END"
MOST_QUOTED = 20
"""Characters of the text that a message may quote: the text may contain somebody's keys."""


class UnreadableConfig(ValueError):
    """A text that is no JSON with comments; says where."""


class Node(NamedTuple):
    """A value with its place in the text."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    value: object
    members: "tuple[Member, ...]" = ()


class Member(NamedTuple):
    """An item of an array, or a name with its value. `comma` is the position of the comma behind it, -1 for none."""

    name: str | None
    start: int
    node: Node
    comma: int = -1

    @property
    def end(self) -> int:
        return self.node.end


def parse(text: str) -> Node:
    """The tree of a text. Raises `UnreadableConfig` for what OpenCode could not read either."""
    try:
        tree = _parser().parse(text)
    except UnexpectedToken as error:
        raise UnreadableConfig(_complaint(text, error.token.start_pos if error.token.type != END else None)) from error
    except UnexpectedInput as error:
        raise UnreadableConfig(_complaint(text, error.pos_in_stream)) from error
    try:
        return _node(tree.children[0])
    except RecursionError as error:
        raise UnreadableConfig("it is nested too deeply") from error
    except ValueError as error:  # of a number with thousands of digits
        raise UnreadableConfig("a number in it is too long") from error


def value(text: str) -> object:
    return parse(text).value


def find(node: Node, name: str) -> Node | None:
    """The value of this name; of several the last one, which is the one that counts."""
    return next((member.node for member in reversed(node.members) if member.name == name), None)


@lru_cache(1)
def _parser() -> "Lark":
    return Lark(GRAMMAR, parser="lalr", propagate_positions=True, maybe_placeholders=False)


def _complaint(text: str, position: int | None) -> str:
    if position is None:
        return "the text ends too early: a bracket is not closed"
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    rest = text[position : position + MOST_QUOTED].partition("\n")[0].strip()
    return f"line {line}, column {column}: {rest!r} is not expected here"


def _node(branch: "Tree[Token] | Token") -> Node:
    if isinstance(branch, Token):
        start = _known(branch.start_pos)
        return Node("scalar", start, start + len(branch), json.loads(branch))
    start, end = _known(branch.meta.start_pos), _known(branch.meta.end_pos)
    members = _members(branch.children)
    if branch.data == "object":
        return Node("object", start, end, {member.name: member.node.value for member in members}, members)
    return Node("array", start, end, [member.node.value for member in members], members)


def _members(children: "Sequence[Tree[Token] | Token]") -> tuple[Member, ...]:
    found: list[Member] = []
    for child in children:
        if isinstance(child, Token) and child.type == "COMMA":
            found[-1] = found[-1]._replace(comma=_known(child.start_pos))
        elif isinstance(child, Tree) and child.data == "pair":
            name, inner = child.children
            found.append(Member(json.loads(str(name)), _known(child.meta.start_pos), _node(inner)))
        else:
            node = _node(child)
            found.append(Member(None, node.start, node))
    return tuple(found)


def _known(position: int | None) -> int:
    if position is None:
        raise TypeError("a parsed value has no place in its text")
    return position
