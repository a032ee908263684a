"""Edits of a document: pieces of text that are replaced, each named by itself and not by the number of a line.

An edit replaces whole lines. Its old text is once in the document and its new one once in the result, so that it can be
seen of any version whether an edit is still to be made, was made, or no longer fits. None touches a protected line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

import msgspec

from services.domain.documents.lines import DocLine, lines_of, protected_lines, read_lines

MOST_CONTEXT = 40
"""Lines that are added to an edit until its text is there once."""
MOST_PAIRS = 500_000
"""Pairs of equal lines of two versions up to which these are compared line by line."""


class TextEdit(msgspec.Struct, frozen=True):
    """A piece of a document, and what is to replace it."""

    old: str
    new: str


class EditMisfit(ValueError):
    """Edits cannot be made to a text; says why."""


class Hunk(msgspec.Struct, frozen=True):
    """Lines of a document that are replaced, from the first to the one behind the last, and by what."""

    start: int
    end: int
    lines: tuple[str, ...]


def compared(before: str, after: str) -> list[Hunk]:
    """The differences between two versions of a document: one piece, where too many lines are in common."""
    old, new = lines_of(before), lines_of(after)
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    if not old and not new:
        return []
    times, others = Counter(old), Counter(new)
    if sum(count * others[line] for line, count in times.items()) > MOST_PAIRS:
        return [Hunk(first, first + len(old), tuple(new))]
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [Hunk(first + a, first + b, tuple(new[c:d])) for tag, a, b, c, d in codes if tag != "equal"]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of lines that are the same at the beginning."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def with_hunks(before: str, hunks: Iterable[Hunk]) -> str:
    """The document with these lines, which do not overlap."""
    lines = lines_of(before)
    for hunk in sorted(hunks, key=lambda one: -one.start):
        lines[hunk.start : hunk.end] = hunk.lines
    return "".join(lines)


def edits_of(before: str, hunks: Iterable[Hunk]) -> tuple[TextEdit, ...]:
    """The edits that make these changes, but for those of protected lines and those that no text can name."""
    lines = read_lines(before)
    left = [_Place(one.start, one.end, (one,)) for one in sorted(hunks, key=lambda one: one.start)]
    left = [one for one in left if not any(line.is_protected for line in lines[one.start : one.end])]
    while True:
        after = with_hunks(before, (hunk for one in left for hunk in one.hunks))
        grown = [_grown(lines, before, after, one) for one in left]
        joined = [*_joined(one for one in grown if one is not None)]
        if joined == left:
            break
        left = joined
    is_harmless = protected_lines(before) == protected_lines(after)
    return tuple(TextEdit(one.old(lines), one.new(lines)) for one in left) if is_harmless else ()


class _Place(msgspec.Struct, frozen=True):
    """Lines of a document, from the first to the one behind the last, and what changes in them."""

    start: int
    end: int
    hunks: tuple[Hunk, ...]

    def old(self, lines: Sequence[DocLine]) -> str:
        """The text as it is."""
        return "".join(line.text for line in lines[self.start : self.end])

    def new(self, lines: Sequence[DocLine]) -> str:
        """The text as it is to be."""
        shifted = (Hunk(one.start - self.start, one.end - self.start, one.lines) for one in self.hunks)
        return with_hunks(self.old(lines), shifted)


def _grown(lines: Sequence[DocLine], before: str, after: str, place: _Place) -> _Place | None:
    """The place with as many lines around it as it takes to name it; none: it cannot be named."""
    for _ in range(MOST_CONTEXT):
        if _is_named(before, after, place.old(lines), place.new(lines)):
            return place
        start = place.start - (place.start > 0 and not lines[place.start - 1].is_protected)
        end = place.end + (place.end < len(lines) and not lines[place.end].is_protected)
        if (start, end) == (place.start, place.end):
            return None
        place = _Place(start, end, place.hunks)
    return None


def _is_named(before: str, after: str, old: str, new: str) -> bool:
    """Whether the texts of an edit identify it, in the document as it is and as it is to be."""
    if not (is_once(before, old) and is_once(after, new)):
        return False
    return (new in old or new not in before) and (old in new or old not in after)


def _joined(places: Iterable[_Place]) -> Iterator[_Place]:
    """The places with those in one that have grown into each other."""
    last: _Place | None = None
    for place in places:
        if last is not None and place.start < last.end:
            last = _Place(min(last.start, place.start), max(last.end, place.end), (*last.hunks, *place.hunks))
            continue
        if last is not None:
            yield last
        last = place
    if last is not None:
        yield last


def is_once(text: str, piece: str) -> bool:
    """Whether a piece is in a text exactly once, also where two of it would overlap."""
    at = text.find(piece) if piece else -1
    return at >= 0 and text.find(piece, at + 1) < 0


def edited(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with all of these edits made, also where some were made before. Raises `EditMisfit`."""
    found = sorted(_places(text, edits))
    if any(end > at for (_, end, _), (at, _, _) in pairwise(found)):
        raise EditMisfit("two of its changes are about the same lines")
    result = text
    for at, end, new in reversed(found):
        result = f"{result[:at]}{new}{result[end:]}"
    if protected_lines(text) != protected_lines(result):
        raise EditMisfit("it would change protected lines")
    return result


def _places(text: str, edits: Iterable[TextEdit]) -> Iterator[tuple[int, int, str]]:
    """The place and the new text of each edit that is still to be made: from, to, and by what."""
    spans = [*_protected_spans(text)]
    for number, edit in enumerate(edits, 1):
        if _is_made(text, edit):
            continue
        if not is_once(text, edit.old):
            times = "is no longer there" if edit.old not in text else "is there more than once"
            raise EditMisfit(f"the text of its change {number} {times}")
        at = text.find(edit.old)
        end = at + len(edit.old)
        if any(begin < end and at < last for begin, last in spans):
            raise EditMisfit(f"its change {number} is about protected lines")
        yield at, end, edit.new


def _is_made(text: str, edit: TextEdit) -> bool:
    """Whether an edit was made before."""
    return is_once(text, edit.new) and (edit.old in edit.new or edit.old not in text)


def _protected_spans(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for line in read_lines(text):
        if line.is_protected:
            yield at, at + len(line.text)
        at += len(line.text)
