"""The two ends of a long text: cut at the ends of lines where there are some, and never inside a character."""

from typing import NamedTuple

from services.domain.tokens import tokens


class Ends(NamedTuple):
    """What stays of a text, and how much is left out between."""

    head: str
    tail: str
    tokens: int
    """Estimated, of what is left out."""
    lines: int
    """Line ends in it."""


def ends(text: str, most: int) -> Ends | None:
    """The ends of a text, each of at most `most` UTF-8 bytes; none where that leaves nothing out.

    A line end counts where an end keeps more than half of its length by it.
    """
    data = text.encode()
    if len(data) <= 2 * most:
        return None
    head = _to_line_end(data[:most].decode(errors="ignore"))
    tail = _from_line_end(data[-most:].decode(errors="ignore"))
    left = len(data) - len(head.encode()) - len(tail.encode())
    return Ends(head, tail, tokens(left), text.count("\n", len(head), len(text) - len(tail)))


def _to_line_end(text: str) -> str:
    end = text.rfind("\n") + 1
    return text[:end] if 2 * end > len(text) else text


def _from_line_end(text: str) -> str:
    start = text.find("\n") + 1
    return text[start:] if 2 * start < len(text) else text
