"""The layout of what an agent or a person wrote: lines of text, items of lists, rows of tables and headings."""

import re
from collections.abc import Iterator

import msgspec

from services.domain.texts.bounds import flat, unlinked

WIDTH = 50
"""Characters from which on a line without an end goes on in the next."""
LONGEST = 4_000
"""Characters from which on nothing is put to a line any more."""
SECTION, BELOW = -9, -2
"""The places of headings, by their rank: everything up to the next one belongs to them."""
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"^(?:(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s*)?|>\s*)+(?:[✅✓✔]\s*)?|^[✅✓✔☑]\s*")
_HEADING = re.compile(r"#{1,6}[ \t]++")
_BOLD = re.compile(r"^\*\*[^*]+\*\*:?$")
_EMPHASIS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__")
_ENDS = (*".:!?;|。", "\uff01", "\uff1f", "\uff1a", "\uff1b")
_LOWER = re.compile(r"[a-z\u0430-\u044f`(]")
_WORD = re.compile(r"\w")
_RULE = re.compile(r"[-=|+─━┌└├│: ]{3,}")


class TextLine(msgspec.Struct, frozen=True):
    """A line, or several that are one."""

    text: str
    indent: int = 0
    kind: str = "text"
    """text, item, row, heading or blank."""


def lines(text: str) -> Iterator[TextLine]:
    """Lines that say something, and empty ones; what goes on in the next line is put together."""
    previous: TextLine | None = None
    rows = 0
    for raw in _FENCE.sub("\n", unlinked(text)).splitlines():
        line = _line(raw)
        rows = rows + 1 if line.kind == "row" else 0
        if rows == 1 or _RULE.fullmatch(raw.strip()):
            continue
        if previous and line.kind == "text" and _goes_on(previous, line):
            previous = msgspec.structs.replace(previous, text=f"{previous.text} {line.text}")
            continue
        if previous:
            yield previous
        previous = line
    if previous:
        yield previous


def _line(raw: str) -> TextLine:
    plain = raw.strip()
    indent = len(raw) - len(raw.lstrip())
    if len(plain) > 2 and plain[0] == plain[-1] == "|":  # noqa: PLR2004 - something stands between the two
        cells = (flat(_EMPHASIS.sub("", one)) for one in plain[1:-1].split("|"))
        return TextLine(": ".join(filter(None, cells)), 0, "row")
    if not _WORD.search(plain):
        return TextLine("", kind="blank")
    if found := _HEADING.match(plain):
        rank = len(plain) - len(plain.lstrip("#"))
        return TextLine(flat(_EMPHASIS.sub("", plain[found.end() :].rstrip(" \t#"))), SECTION + rank, "heading")
    if _BOLD.match(plain):
        return TextLine(flat(plain.strip("*: ")), -1, "heading")
    marked = _MARK.match(plain)
    words = flat(_EMPHASIS.sub("", plain[marked.end() :] if marked else plain))
    return TextLine(words, indent, "item" if marked else "text") if words else TextLine("", kind="blank")


def _goes_on(previous: TextLine, line: TextLine) -> bool:
    """Whether a line is the rest of the one before it."""
    if previous.kind not in {"text", "item"} or previous.text.endswith(_ENDS) or len(previous.text) > LONGEST:
        return False
    return (
        bool(_LOWER.match(line.text))
        or len(previous.text) >= WIDTH
        or (previous.kind == "item" and line.indent > previous.indent)
    )
