"""The sentences of a text of Markdown, one by one, and what of the text is none."""

import re
from collections.abc import Iterator

from services.domain.texts.bounds import flat
from services.domain.texts.own import unquoted_lines
from services.domain.texts.paragraphs import paragraphs
from services.domain.texts.sentences import is_informative, split
from services.edges.memory.stores.statement import Omission, Statement

LONGEST = 400
"""Characters of a memory."""
TWICE = "is there twice"
_MARKS = re.compile(r"\*\*|__")
_NO_PROSE = ("#", "|", "@", "<!--")
"""The beginnings of headings, rows of tables, references to files, and comments."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Characters that no sentence has; the ends of lines and tabulators aside."""


def sentences_of(statement: Statement) -> Iterator[Statement | Omission]:
    """The sentences of a statement, each once, as statements of their own: what can be proposed, and what cannot."""
    if statement.is_whole:
        yield Omission(_UNPRINTABLE) if _CONTROL.search(statement.text) else statement
        return
    for one in sentences(statement.text):
        yield one if isinstance(one, Omission) else Statement(one, statement.category)


def sentences(text: str) -> Iterator[str | Omission]:
    """The sentences of a Markdown text, each once: without code, quotations, headings, tables and what is too long."""
    seen: set[str] = set()
    unquoted = [*unquoted_lines(text, most=len(text))]
    prose = [line for line in unquoted if not line.lstrip().startswith(_NO_PROSE)]
    if others := _count(text.splitlines()) - _count(prose):
        yield Omission("is code, a quotation, a heading, a table or a comment", others)
    for paragraph in paragraphs(_MARKS.sub("", "\n".join(prose))):
        for sentence in (flat(one) for item in paragraph.items for one in split(item)):
            if reason := _reason(sentence, is_new=sentence not in seen):
                yield Omission(reason)
            else:
                seen.add(sentence)
                yield sentence


_UNPRINTABLE = "has control characters"


def _reason(sentence: str, *, is_new: bool) -> str:
    """The reason why a sentence is not proposed; empty: it is."""
    if not is_new:
        return TWICE
    if _CONTROL.search(sentence):
        return _UNPRINTABLE
    if "\ufffd" in sentence:
        return "has bytes that are no UTF-8"
    if len(sentence) > LONGEST:
        return f"is longer than {LONGEST} characters"
    if not is_informative(sentence):
        return "has too few words to be understood alone"
    return "only leads in what follows" if sentence.endswith(":") else ""


def _count(lines: list[str]) -> int:
    return sum(1 for line in lines if line.strip())
