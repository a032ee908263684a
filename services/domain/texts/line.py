"""A text of somebody as the one line of it that is shown."""

import re
import unicodedata
from collections.abc import Iterator

from services.domain.texts.bounds import beginning, flat
from services.domain.texts.posing import unposed

LONGEST = 400
"""Characters of a text that are shown."""
LEAST = 40
"""Characters of a line that are worth showing where all of it finds no room."""
_POSING = re.compile(r"^(?:[#>*+|=~_\s-]++|\[[A-Za-z]?\d{1,9}\]|(?:A|S|TC)\s?[:\uff1a])+")
"""Beginnings that would make a line a heading, a quotation, a numbered one or the words of an agent, a harness or a
tool."""


def plain(text: str) -> str:
    """A text on one line, without what nobody sees, and without what would make more of it than a sentence."""
    bare = flat(text[: LONGEST * 2])
    if not bare.isascii() or not bare.isprintable():
        bare = flat("".join(map(_visible, bare)))
    while (text := _POSING.sub("", unposed(bare))) != bare:
        bare = text
    return beginning(bare, LONGEST)


def shorter(line: str) -> Iterator[str]:
    """Ever shorter beginnings of a line, for where it finds no room."""
    most = len(line)
    while most > LEAST:
        most = max(LEAST, most * 3 // 4)
        yield beginning(line, most)


def _visible(one: str) -> str:
    return "" if unicodedata.category(one) in {"Cc", "Cf", "Cs", "Co"} else one
