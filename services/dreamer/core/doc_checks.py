"""Whether a new text of a section may be proposed: it says nothing of a file that nobody has shown, and loses nothing.

It is a question of form and of names. Code cannot see whether a sentence is true, which is why a person decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from services.domain.documents.lines import lines_of, read_lines
from services.domain.secrets import mask
from services.domain.texts.injection import steers
from services.domain.texts.risky import risk_of
from services.dreamer.core.doc_folder import DocFolder
from services.dreamer.core.doc_paths import named_paths
from services.dreamer.core.doc_sections import DocSection, headings_in, is_heading
from services.dreamer.core.keeping import BINDING
from services.memory.sameness import words_of

LONGER, ROOM = 2, 1_000
"""The factor, and the characters in addition, by which a new text may be longer than the old one."""
_TOKEN = re.compile(r"\w+(?:[./\\:@#$&+=~^%*-]+\w+)*(?:\(\))?|\$\w+")
_CODE = re.compile(r"`+[^`\n]+`+")
_LIKE_CODE = re.compile(r"\d|[^\W\d_][./\\:@#$&+=~^%*]+\w|_|[a-z][A-Z]|[A-Z]{2}|\(\)\Z|\A\$")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_ADDRESS = re.compile(
    r"\w{1,20}://[^\s)>\]]+|\bwww\.[^\s)>\]]+|@[\w-]+\.\w+|\b(?:mailto|javascript|data|file):\S+", re.IGNORECASE
)
_TARGET = re.compile(r"\]\(([^()\s]*)|^ {0,3}\[[^\]\n]{1,100}\]:[ \t]{0,8}(\S*)|\]\[([^\]\n]*)", re.MULTILINE)
"""The target of a link: written behind it, in a definition, or by the name of one."""
_MARKUP = re.compile(r"<[A-Za-z!/?][^\s<>]*|&[#\w]{1,32};|!\[|\{[{%#]")


class ShownExcerpts(NamedTuple):
    """The excerpts of the project that a model was shown."""

    words: AbstractSet[str]
    """Names in the subjects of commits, in the beginnings of files, and the paths of these files."""
    folder: DocFolder


def names_in(text: str) -> frozenset[str]:
    """The words that are written like code: in back quotes, or with a stroke, a digit or an upper-case letter."""
    quoted = [token for code in _CODE.findall(text) for token in _TOKEN.findall(code)]
    return frozenset((*quoted, *(token for token in _TOKEN.findall(_CODE.sub(" ", text)) if _LIKE_CODE.search(token))))


def words_shown(text: str) -> frozenset[str]:
    """The names that a text of a commit or a file shows, and the parts of them."""
    tokens = _TOKEN.findall(text)
    return frozenset((*tokens, *(part for token in tokens for part in re.split(r"[^\w]+", token) if part)))


def fault_of(document: str, section: DocSection, new: str, gone: AbstractSet[str], shown: ShownExcerpts) -> str:
    """The reason why a text may not replace a section, in a sentence; empty: it may. `gone`: paths without a file."""
    return next(_faults(document, section, new, gone, shown), "")


def _faults(
    document: str, section: DocSection, new: str, gone: AbstractSet[str], shown: ShownExcerpts
) -> Iterator[str]:
    old = section.text
    if not new.strip() or len(new) > LONGER * len(old) + ROOM:
        yield "the text is empty, or much longer than the old one"
        return
    if {*new} - {*document} - {chr(one) for one in range(0x20, 0x7F)}:
        yield "the text has characters that the document does not have"
    yield from _of_form(document, section, new)
    if _more(_MARKUP, new, old) or _more(_ADDRESS, new, old):
        yield "the text has HTML, a comment, an image or an address that the section does not have"
    if any(not shown.folder.exists(target) for target in _targets(new) - _targets(old)):
        yield "the text links to what is not there"
    if _more(_NUMBER, new, old):
        yield "the text has a number that the section does not have"
    if _unknown(old, new, shown):
        yield "the text has a name or a path that nothing shows"
    if wrong := _lost(old, new, gone):
        yield wrong
    if _orders(old, new):
        yield "the text gives agents an order that only a person may give"
    if mask(new) != new:
        yield "the text has a secret"


def _of_form(document: str, section: DocSection, new: str) -> Iterator[str]:
    """Headings and protected lines are the same, and nothing behind the section becomes something else by it."""
    lines, old = lines_of(document), section.text
    before, behind = "".join(lines[: section.start]), "".join(lines[section.end :])
    result = f"{before}{new}{behind}"
    was, now = read_lines(document), read_lines(result)
    if [line.text for line in was if line.is_protected] != [line.text for line in now if line.is_protected]:
        yield "the text changes protected lines"
    is_moved = section.start < len(was) and is_heading(was[section.start]) and lines_of(new)[0] != lines_of(old)[0]
    if is_moved or headings_in(was) != headings_in(now):
        yield "the text changes a heading"
    if [line.text for line in was if line.is_code] != [line.text for line in now if line.is_code]:
        yield "the text changes a code block"
    count = len(lines) - section.end
    if count and [line[1:] for line in was[-count:]] != [line[1:] for line in now[-count:]]:
        yield "the text opens a comment that it does not close"


def _more(pattern: re.Pattern[str], new: str, old: str) -> bool:
    """Whether the new text has something of a kind that the old one does not have, or has more often."""
    return bool(Counter(pattern.findall(new)) - Counter(pattern.findall(old)))


def _targets(text: str) -> frozenset[str]:
    return frozenset("".join(groups) for groups in _TARGET.findall(text))


def _unknown(old: str, new: str, shown: ShownExcerpts) -> list[str]:
    """Names that neither the section nor what a model was shown has. A path has to be there."""
    fresh = names_in(new) - names_in(old) - shown.words
    paths = {*named_paths(new)} - {*named_paths(old)}
    return [one for one in (*paths, *fresh) if not shown.folder.is_known(one)]


def _lost(old: str, new: str, gone: AbstractSet[str]) -> str:
    """Whether the text flattens the section: of what is about files that are there, half of the words stay at least."""
    there = {path for path in named_paths(old) if path not in gone}
    if there - {*named_paths(new)}:
        return "the text leaves out a path that is there"
    if _bindings(old) != _bindings(new):
        return "the text has another negation or rule"
    left = "".join(line for line in lines_of(old) if not any(path in line for path in gone))
    counted = Counter(words_of(left))
    left_in = counted & Counter(words_of(new))
    return "the text leaves out more than half of the section" if 2 * left_in.total() < counted.total() else ""


def _bindings(text: str) -> Counter[str]:
    return Counter(word for word in words_of(text) if word in BINDING)


def _orders(old: str, new: str) -> bool:
    """Whether the text gives an order that the section does not give."""
    known = {*lines_of(old)}
    added = [line for line in lines_of(new) if line not in known]
    pieces: Sequence[str] = ["".join(added), *added]
    if any(steers(piece) or risk_of(piece) for piece in pieces):
        return True
    return steers(new) or bool(risk_of(new) and not risk_of(old))
