"""Whose words the lines of a message are: its sender's, or somebody else's that were copied into it.

Two readers take rules from messages, and both ask here: what is asked to be remembered, and what is laid down without
being asked. Where it is not certain that a person typed a line, a person decides on what it says.
"""

import re
from collections.abc import Iterable, Iterator

from services.domain.texts.own import MarkedLine, marked_lines
from services.domain.texts.paste_patterns import ASCRIBES, ATTRIBUTION, SPEAKER, THEIRS
from services.memory.requests.lines_above import LinesAbove, ends_with_contact, is_between_titles

_CODE = re.compile(
    r"\s{0,12}(?://|/\*|\*/|<!--|#+(?:\s|!|$)|--\s|;\s|[{}\[\]]|[\"'][\w.-]{1,40}[\"']\s?:"
    r"|\d{1,5}(?:[ ]{2,}|\t|\s?[|\u2502]\s)\S"
    r"|(?:error|warning|warn|hint|fatal|deprecated|caution|npm (?:warn|err!?))\b(?:\[\w+\])?\s?[:!\]]?\s)",
    re.IGNORECASE,
)
"""A comment, a heading, data, a numbered line of a file, or what a program printed."""
_FORM = re.compile(
    r"\s{0,12}(?:[-*•]\s)?(?:as an? [\w ]{2,30}, i want\b|(?:ac ?\d*|q|a|given|when|then) ?: |given\b.{3,60}, when\b"
    r"|acceptance criteria\b)",
    re.IGNORECASE,
)
"""A line of a specification."""
_OF_A_COMMENT = re.compile(r"\s{0,12}[*/#;-]{0,3}\s{0,4}(?:@[a-z]{2,20}\s|:[a-z]{2,20}(?: \w{1,40})?:|\\[a-z]{3,20}\s)")
"""The line of a comment that says what a parameter is."""
_INDENT = re.compile(r"(?: {2,}|\t)(?![-*+•]\s|\d{1,3}[.)]\s)\S")
_QUOTED = re.compile(
    r"\"[^\"\n]{0,400}\"|\u201c[^\u201d\n]{0,400}\u201d|\u201e[^\u201c\u201d\n]{0,400}[\u201c\u201d]"
    r"|\u00ab[^\u00bb\n]{0,400}\u00bb|\u300c[^\u300d\n]{0,400}\u300d|\u300e[^\u300f\n]{0,400}\u300f|`[^`\n]{0,400}`"
    r"|(?<!\w)['\u2018][^'\u2018\u2019\n]{0,400}['\u2019](?!\w)|(?<!\w)[\"\u201c\u201e\u00ab\u300c][^\n]{0,2000}$"
)
"""A quotation within a sentence, whether or not it ends in it."""


def marked_message(text: str) -> tuple[MarkedLine, ...]:
    """The lines of a message, each with what shows that somebody else may have written it."""
    lines = marked_lines(text)
    above, is_signed = LinesAbove(), ends_with_contact(text)
    found: list[MarkedLine] = []
    texts = ["", *(line.text for line in lines), ""]
    before, behind = [*_newest(texts[:-2])], [*_newest(texts[:1:-1])][::-1]
    for at, (line, mark) in enumerate(lines):
        is_copied = is_signed or above.are_copied
        if not (mark or is_copied):
            is_between = is_between_titles(line, before[at], behind[at])
            is_copied = is_between or _is_copied(line, texts[at], texts[at + 2])
        found.append(MarkedLine(line, mark or ("pasted" if is_copied else "")))
        above.read(line, mark)
    return tuple(found)


def _newest(lines: Iterable[str]) -> Iterator[str]:
    """For each line that one, or the last one before it that is not empty."""
    newest = ""
    for line in lines:
        newest = line if line.strip() else newest
        yield newest


def own_parts(text: str) -> tuple[str, ...]:
    """The lines of a message that its sender certainly typed; empty lines part paragraphs."""
    return tuple("" if mark else line for line, mark in marked_message(text))


def is_ascribed(before: str) -> bool:
    """Whether the words before a request ascribe it to somebody else: `the mail says: from now on ...`."""
    return any(one.search(before) for one in (ATTRIBUTION, THEIRS, ASCRIBES)) or SPEAKER.match(before) is not None


def outside_quotations(sentence: str) -> str:
    """A sentence without what stands in quotation marks within it."""
    return _QUOTED.sub(" ", sentence)


def quotations(sentence: str) -> str:
    """The quotations within a sentence, in quotation marks."""
    return "\n".join(found[0] for found in _QUOTED.finditer(sentence))


def _is_copied(line: str, above: str, below: str) -> bool:
    """Whether it has the form of a comment, of data or of a specification, or is set in below the line above."""
    if _CODE.match(line) or _FORM.match(line):
        return True
    if _OF_A_COMMENT.match(below) or _OF_A_COMMENT.match(above):
        return True
    return _INDENT.match(line) is not None and bool(above.strip())
