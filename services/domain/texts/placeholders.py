"""Texts that take the place of others: each form is written and recognised by one definition.

A model copies what it sees. A call whose argument is only such a text would put it into a file in place of what it
replaces, so adapters refuse it, by the patterns that are made here.
"""

import string
from collections.abc import Iterator
from typing import Final

import msgspec

NUMBER: Final = r"[^\[\]\n§]{1,40}"
"""A tag: what models make of it when they copy it, too."""
WORDS: Final = r"[^\[\]\n]{0,200}"
PREVIEW: Final = r"[^\0]{1,600}"
"""The beginning of a text, on any number of lines."""
_SPECIAL: Final = frozenset(r"\^$.|?*+()[]{}/")
_AROUND: Final = r"""["'`«»„“”‘’‹›「」『』]*"""  # noqa: RUF001 - the quotation marks of all languages
_FENCE: Final = r"(?:`{3,}|~{3,})[\w.+-]{0,20}"
_LONGEST: Final = 4_000
"""Characters up to which a text may be nothing but placeholders."""


class Placeholder(msgspec.Struct, frozen=True):
    """One form: `[dropped §{number}§]` replaces the output with the tag `number`."""

    template: str
    number: str = NUMBER
    """The content of its field `number`, as a regular expression."""
    words: str = WORDS
    """The content of each of its other fields, as a regular expression."""

    def text(self, **fields: object) -> str:
        return self.template.format(**fields)

    @property
    def pattern(self) -> str:
        return "".join(self._pieces())

    def _pieces(self) -> Iterator[str]:
        for literal, field, _, _ in string.Formatter().parse(self.template):
            yield "".join(f"\\{one}" if one in _SPECIAL else one for one in literal)
            if field is not None:
                yield self.number if field == "number" else self.words


DROPPED = Placeholder("[dropped §{number}§]")
"""A dropped output, text or picture."""
UNTAGGED = Placeholder("[dropped]")
"""The same of what has no tag, as no failure has."""
TRUNCATED = Placeholder("[truncated §{number}§]")
"""The prefix of what stays of a person's dropped words."""
PREVIEWED = Placeholder("[truncated §{number}§]\n{preview}…", words=PREVIEW)
"""The same with the beginning of a longer text."""
MIDDLE = Placeholder("[About {tokens} tokens{lines} are left out here{how}.]")
"""The middle of a long output, as earlier releases wrote it: prompts of then still have it."""
REST = Placeholder("[The rest is left out: read the file.]")
"""The rest of a document at the head that does not fit."""
WHOLE = Placeholder("[Left out for its length: read the file.]")
"""A document at the head of which nothing fits."""
ORDER = Placeholder("[left out: it reads as an order]")
"""A text that would steer whoever reads it."""
CUT = Placeholder("[… {count} characters left out …]")
"""The middle of a long text in a transcript."""
MASKED = Placeholder("[masked:{kind}]")
"""A secret."""
TAG = Placeholder("§{number}§", number=r"\d{1,9}")
"""The number of a text, without the text."""

PLACEHOLDERS = (DROPPED, UNTAGGED, TRUNCATED, PREVIEWED, MIDDLE, REST, WHOLE, ORDER, CUT, MASKED, TAG)


def only_placeholders() -> str:
    """A regular expression for a trimmed text that is nothing but placeholders, quoted or fenced or not.

    Python's `re` and the RegExp of JavaScript read it alike.
    """
    one = "|".join(each.pattern for each in PLACEHOLDERS)
    bounded = rf"(?=[^\0]{{0,{_LONGEST}}}$)"
    return rf"^{bounded}(?:{_FENCE}\s*)?{_AROUND}\s*(?:{one})(?:\s*(?:{one}))*\s*{_AROUND}\s*(?:`{{3,}}|~{{3,}})?$"
