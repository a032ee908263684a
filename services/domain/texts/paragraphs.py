"""Paragraphs: sentences that belong together, and the line above them; without code and markup, in any language."""

from collections.abc import Iterator

import msgspec

from services.domain.texts.bounds import flat, unlinked
from services.domain.texts.layout import BELOW, TextLine, lines
from services.domain.texts.sentences import split

HEADING = 90
"""Characters up to which a line that ends with a colon leads in what follows."""
_LEAD = (":", "\uff1a")


class Paragraph(msgspec.Struct, frozen=True):
    """Sentences of one paragraph, or the items of a list, and what they stand below."""

    head: str = ""
    """Without a colon."""
    items: tuple[str, ...] = ()
    listed: bool = False


def paragraphs(text: str) -> Iterator[Paragraph]:
    """Its sentences, in order. A list belongs to the line that introduces it."""
    heads: list[tuple[int, str]] = []
    items: list[str] = []
    headings: set[str] = set()
    kind = ""
    is_fresh = False
    for line in [*lines(text), TextLine("", kind="blank")]:
        is_lead = line.kind == "heading" or (line.text.endswith(_LEAD) and len(line.text) <= HEADING)
        is_back = line.kind == "item" and bool(heads) and line.indent <= heads[-1][0]
        if items and (is_lead or is_back or line.kind != kind):
            yield Paragraph(_head(heads, headings), tuple(items), kind in {"item", "row"})
            items = []
        if line.kind == "blank":
            kind = "" if kind == "text" and not is_fresh else kind
            continue
        if line.kind == "text" and not is_fresh and kind != "text":
            heads = [one for one in heads if one[0] < BELOW]
        kind = line.kind
        is_fresh = is_lead
        if is_lead:
            level = line.indent - (kind == "text")
            heads = [one for one in heads if one[0] < level]
            heads.append((level, line.text.rstrip(" :\uff1a")))
        elif kind == "text":
            items += split(line.text)
        else:
            heads = [one for one in heads if one[0] < line.indent]
            items.append(line.text)
    if is_fresh and kind != "heading":  # it leads in what is done next
        yield Paragraph(_head(heads[:-1], headings), tuple(split(heads[-1][1])))


def sentences(text: str) -> Iterator[str]:
    """Sentences in their order, the first below a heading with that before it."""
    for paragraph in paragraphs(text):
        pieces = [piece for item in paragraph.items for piece in split(item)]
        yield from (f"{paragraph.head}: {pieces[0]}" if paragraph.head else pieces[0], *pieces[1:])


def opening(text: str) -> str:
    """The beginning of a message: its first sentence, or its heading."""
    lines = [flat(line.strip(" #*")) for line in unlinked(text).splitlines() if line.strip(" #*-=`")]
    if len(lines) > 1 and lines[0].endswith((":", "\uff1a")):
        return f"{lines[0]} {lines[1]}"
    if text.lstrip().startswith("#"):
        return lines[0] if lines else ""
    return next(sentences(text), flat(text))


def _head(heads: list[tuple[int, str]], headings: set[str]) -> str:
    """The nearest line above, with the one above that where it was not given yet."""
    if not heads:
        return ""
    *above, nearest = (text for _, text in heads)
    whole = f"{above[-1]}: {nearest}" if above and headings.isdisjoint((above[-1], nearest)) else nearest
    headings.update((*above[-1:], nearest))
    return whole if len(whole) <= HEADING else nearest
