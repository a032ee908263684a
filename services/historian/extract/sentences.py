"""Sentences of what an agent or a person wrote, in any language: without code, tables and marks of layout."""

import re
from collections.abc import Iterator

from services.kit.history.clean import flat

SHORTEST, LONGEST = 12, 320
"""UTF-8 bytes of what says something by itself, and characters of what is kept of a sentence."""
FEW, FEWEST = 4, 2
"""Words that a sentence has at least, with and without what stands in back quotes."""
SPEECH = 0.75
"""The share of letters, from which on a line is no data."""
HEADING = 90
_PASTED = re.compile(r"^\s*(?:at \S+ ?\(|\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|[\w.]+Error:|Traceback|[$>%] )|\S+:\d+:\d+")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_LINE_MARK = re.compile(r"^\s*(?:[-*+•]\s+(?:\[[ xX]\]\s*)?|\d{1,3}[.)]\s+|#{1,6}\s+|>\s*)+")
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_TITLED = re.compile(r"^\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*\s*)$")
_CLOSED = (":", "\uff1a", ".", "!", "?")
_EMPHASIS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__")
_END = re.compile(r"(?<=[.!?…])[)\"'”\u2019]*\s+(?=[^\s\d.,;:])|(?<=[。\uff01\uff1f])\s*")
_ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|z\.B|d\.h|bzw)|\b\w)\.$", re.IGNORECASE)
_WRAPPED = re.compile(r"(?<=[^\s.:!?;|])\n[ \t]*(?=[a-z\u0430-\u044f`(])")
"""The end of a line that is not the end of a sentence."""
_CODE = re.compile(r"`[^`]*`")
_WORD = re.compile(r"\w+")
_TABLE = re.compile(r"^\s*\|.*\|\s*$|^\s*[-=|+─━┌└├│ ]{4,}$")


def prose(text: str) -> str:
    """A text without blocks of code, and with its sentences on one line each."""
    return _WRAPPED.sub(" ", _FENCE.sub("", text))


def lines(text: str) -> Iterator[str]:
    """Lines that say something, without the marks before them."""
    for line in prose(text).splitlines():
        if not _TABLE.match(line):
            plain = flat(_EMPHASIS.sub("", _LINE_MARK.sub("", line)))
            if _WORD.search(plain):
                yield f"{plain}:" if _TITLED.match(line) and not plain.endswith(_CLOSED) else plain


def headings(text: str) -> list[str]:
    """The headings of a text that has several."""
    found = [flat(_EMPHASIS.sub("", line)) for line in _HEADING.findall(prose(text))]
    return found if len(found) > 1 else []


def speech(text: str) -> Iterator[str]:
    """Lines that a person may have put in words: no code, no data and no logs."""
    for line in lines(text):
        letters = sum(one.isalpha() for one in line)
        if letters >= SPEECH * len(line.replace(" ", "")) and not _PASTED.search(line):
            yield line


def sentences(text: str) -> Iterator[str]:
    """Sentences in their order.

    One that is too short to say anything goes with the next of its line, and a heading with what it is a heading of.
    """
    heading = ""
    for line in lines(text):
        if len(line) <= HEADING and line.endswith((":", "\uff1a")):
            heading = line
            continue
        held, heading = heading, ""
        for piece in _END.split(line):
            held = f"{held} {piece}".strip()
            if len(held.encode()) >= SHORTEST and not _ABBREVIATED.search(held):
                yield held
                held = ""
        if held and (len(held.encode()) >= SHORTEST or held == line):
            yield held


def says_much(sentence: str) -> bool:
    """Whether there are words in it, not only names and code."""
    return len(words(sentence)) >= FEW and len(words(_CODE.sub("", sentence))) >= FEWEST


def words(text: str) -> frozenset[str]:
    """Its words in small letters; of scripts without blanks, pairs of characters."""
    found: set[str] = set()
    for word in _WORD.findall(text.lower()):
        if word.isascii() or len(word) < 3 or word[0] < "\u2e80":  # noqa: PLR2004
            found.add(word)
        else:
            found.update(word[at : at + 2] for at in range(len(word) - 1))
    return frozenset(found)


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of the shorter stands in the other, 0 to 1."""
    return len(one & other) / max(1, min(len(one), len(other)))
