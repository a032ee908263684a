"""Literals of a query, which a text must have word for word: quoted words, symbols, paths, codes, hashes, ids."""

import re
from collections.abc import Iterator
from typing import NamedTuple

MOST = 5
SHORTEST, LONGEST = 3, 200
"""Characters of a literal."""
SHORTEST_END = 4
"""Characters of a part of a name that identifies it."""
MOST_IDS = 5
READ = 10_000
"""Characters of a query that are looked at."""
_QUOTED = re.compile(r"`([^`\n]{3,80})`|\"([^\"\n]{3,80})\"|“([^”\n]{3,80})”|(?<!\w)'([^'\n]{3,80})'(?!\w)")
_RUN = re.compile(r"[^\s`\"“”<>|,;(){}\[\]]{3,200}")
_AROUND = ".:!?'*_-="
_PATH = re.compile(r"(?:[~.]{0,2}/)?(?:[\w.@+-]{1,64}/){1,16}[\w.@+-]{1,64}(?::\d{1,6})?")
_COMMAND = re.compile(r"/[a-z][\w-]{2,63}")
_DOTTED = re.compile(
    r"[A-Za-z_]\w{0,63}(?:(?:\.|::|->|#)[A-Za-z_]\w{0,63}){1,16}(?:\(\))?|[\w-]{1,64}\.[a-z]\w{0,9}(?::\d{1,6})?"
)
_SNAKE = re.compile(r"_{0,2}[A-Za-z0-9]{1,64}(?:[_-][A-Za-z0-9]{1,64}){1,16}_{0,2}")
_HUMPS = re.compile(r"[a-z0-9]+[A-Z]\w*|[A-Z]+[a-z]+[A-Z]\w*")
_CODE = re.compile(r"[A-Z]{1,10}-?\d{2,10}|0x[0-9a-fA-F]{2,32}|[A-Z][A-Z0-9]*_[A-Z0-9_]+")
_HASH = re.compile(r"(?=[0-9a-f]*\d)[0-9a-f]{7,64}")
_NUMBERED_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,3}|:\d{1,6})?")
"""An address of IPv4, also of a network, and with a port."""
_HEX_ADDRESS = re.compile(
    r"(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}"
    r"|(?:[0-9A-Fa-f]{1,4}:){1,6}(?::[0-9A-Fa-f]{1,4}){1,6}(?:/\d{1,3})?"
    r"|(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"
)
"""An address of IPv6, whole or with a gap, or one of a network card. A time such as 12:30:00 is none."""
_TICKET = re.compile(r"(?:[\w.-]{1,64}/)?[\w.-]{0,64}#\d{1,9}")
"""The number of an issue or a change, alone or behind its project."""
_ASSIGNED = re.compile(r"-{0,2}[A-Za-z_][\w.-]{0,63}=[\w./:,+-]{1,64}")
"""A name with its value, as of a label, a variable or an option: meant as a whole in a query. In outputs its parts are
names."""
_LINE = re.compile(r"(?::\d{1,6})+\Z")
"""The number of a line behind a path: it changes with every edit."""
_LETTER = re.compile(r"[^\W\d_]")
_SHAPES = (_PATH, _COMMAND, _DOTTED, _SNAKE, _HUMPS, _CODE, _HASH, _NUMBERED_ADDRESS, _TICKET)
_ID = re.compile(r"#?\d{1,9}|(?=[0-9a-f-]*\d)[0-9a-f][0-9a-f-]{6,63}|[a-z]{2,12}_[0-9A-Za-z_-]{4,80}|§\d{1,9}§")


def literals(query: str) -> tuple[str, ...]:
    """The literals that are meant word for word, at most `MOST`, in the order of the query."""
    return tuple(dict.fromkeys(_literals(query[:READ])))[:MOST]


def _literals(query: str) -> Iterator[str]:
    for found in _QUOTED.finditer(query):
        yield next(filter(None, found.groups())).strip()
    for found in _RUN.finditer(query):
        if name := name_in(found[0]):
            yield name
        elif _ASSIGNED.fullmatch(found[0]):
            yield found[0]


def name_in(run: str) -> str:
    """The name that characters without a blank between them are, without marks around it; empty: they are none."""
    bare = run.strip(_AROUND) if not run.startswith("_") else run.rstrip(_AROUND[:-3])
    if not SHORTEST <= len(bare) <= LONGEST:
        return ""
    if _HEX_ADDRESS.fullmatch(bare):
        return bare
    return _LINE.sub("", bare) if any(shape.fullmatch(bare) for shape in _SHAPES) else ""


def is_address(name: str) -> bool:
    """Whether a name is an address in a network, which may be made of digits and signs alone."""
    return bool(_NUMBERED_ADDRESS.fullmatch(name) or _HEX_ADDRESS.fullmatch(name))


def is_ticket(name: str) -> bool:
    """Whether a name is the number of an issue or a change, such as `#123`."""
    return bool(_TICKET.fullmatch(name))


def runs(text: str) -> Iterator[str]:
    """The runs of characters in a text without blanks, quotes and brackets."""
    return (found[0] for found in _RUN.finditer(text))


_JOINTS = re.compile(r"[/\\]|::|->|#")


def end_of(name: str) -> str:
    """The last part of a name with several, such as the file of a path; the whole where it is too short."""
    last = _JOINTS.split(name)[-1].removesuffix("()")
    return last if len(last) >= SHORTEST_END else name


class NamesAsked(NamedTuple):
    """Names in a query that are looked for among the names in calls of tools."""

    names: tuple[str, ...] = ()
    is_all: bool = False
    """Whether the query is nothing but these names."""


def names_asked(query: str) -> NamesAsked:
    """The literals of a query; of one that is a single word, that word. A sentence without a literal asks for none."""
    found = literals(query)
    word = query.strip().strip(_AROUND)
    if not found and SHORTEST <= len(word) <= LONGEST and len(query.split()) == 1:
        return NamesAsked((word,), is_all=True)
    rest = query[:READ]
    for name in found:
        rest = rest.replace(name, " ")
    return NamesAsked(found, is_all=bool(found) and not _LETTER.search(rest))


def ids(query: str) -> tuple[str, ...]:
    """The ids of a query that is made of nothing else, without the marks around numbers."""
    found = query.split()
    if not 1 <= len(found) <= MOST_IDS or not all(_ID.fullmatch(one) for one in found):
        return ()
    return tuple(one.strip("#§") for one in found)


def holds(text: str, literal: str) -> bool:
    """Whether a text holds it, in any case. What has no letters is not found in a longer number."""
    if _LETTER.search(literal):
        return literal.casefold() in text.casefold()
    return bool(re.search(rf"(?<!\d)(?<!\d\.){re.escape(literal)}(?!\.?\d)", text))
