"""The names in a text: what an agent has to know to work on, and what it can look up where a text shows it.

A name is a run of letters, digits and `_ . @ ~ + / -` that is one of these: a path (a slash within, or an extension),
an identifier (an underscore within, camelCase, or dotted), a number of three digits or more, or a hash (seven hex
digits or more); or the first words behind an `Error:`. Prose is left out, and what is longer than 160 characters.
A longer name shows the shorter ones in it: a path its ends (`src/a.py` shows `a.py`), a dotted name its identifiers.
"""

import re
from collections.abc import Iterator

LONGEST = 160
SHORTEST_DOTTED = 5
DIGITS = 3

_RUN = re.compile(r"[\w.@~+/-]+")
_PIECE = re.compile(r"[/.@~+-]+")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_HASH = re.compile(r"(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{7,160}")
_ERROR = re.compile(r"(?:Error|Exception|error|panic)\b: {0,3}([^\n]{8,400})")
_ERROR_WORDS = 6


def names(text: str) -> frozenset[str]:
    """The names in a text, each as it is written."""
    found = {name for run in _RUN.findall(text) if (name := run.strip(".@~+/-")) and is_name(name)}
    return frozenset(found | set(_errors(text)))


def is_name(word: str) -> bool:
    """Whether a run of characters names something."""
    if len(word) > LONGEST:
        return False
    if "/" in word:
        return all(len(piece) > 1 for piece in word.split("/") if piece)
    return _is_plain_name(word) or ("." in word and len(word) >= SHORTEST_DOTTED)


def _is_plain_name(word: str) -> bool:
    if word.isdecimal():
        return len(word) >= DIGITS
    return "_" in word.strip("_") or bool(_CAMEL.search(word)) or bool(_HASH.fullmatch(word))


def _errors(text: str) -> Iterator[str]:
    for message in _ERROR.findall(text):
        yield " ".join(message.split()[:_ERROR_WORDS])


def shows(text: str) -> frozenset[str]:
    """The names in a text, and the shorter ones that they show."""
    whole = names(text)
    return whole | {short for name in whole if len(name) <= LONGEST for short in _within(name)}


def _within(name: str) -> Iterator[str]:
    at = name.find("/")
    while at >= 0:
        yield name[at + 1 :]
        at = name.find("/", at + 1)
    yield from (piece for piece in _PIECE.split(name) if piece != name and _is_plain_name(piece))
