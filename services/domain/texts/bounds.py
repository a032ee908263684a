"""Texts made shorter, flat, or free of what they only point at."""

import re

from services.domain.texts.placeholders import CUT

_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\((?!https?:)[^()\s]+\)")
MOST = 60_000
"""Characters of one text that are looked at; of what is longer the beginning and the end."""
_CUT_BYTES = 60
_CLAUSE = re.compile(r"[.;:,!?](?= )|[。；，！？：]| [—–-] ")  # noqa: RUF001 - the marks of other scripts
_OPENING = {"(": ")", "[": "]"}


def unlinked(text: str) -> str:
    """Links to files as what they are called."""
    return _LINK.sub(r"\1", text) if "](" in text else text


def bounded(text: str) -> str:
    """A text without its middle where it is very long."""
    return text if len(text) <= MOST else f"{text[: MOST * 3 // 4]}\n{text[-MOST // 4 :]}"


def flat(text: str) -> str:
    """On one line."""
    return " ".join(text.split())


def in_line(text: str, most: int) -> str:
    """The beginning of a text on one line, of so many characters at most. Of a long one no more is looked at."""
    line = flat(text[: 8 * most])
    return line if len(line) <= most and len(text) <= 8 * most else f"{line[: most - 1]}…"


def shortened(text: str, most: int) -> str:
    """At most `most` UTF-8 bytes: the beginning and the end, and how much is left out between."""
    if len(text) * 4 <= most or len(data := text.encode()) <= most:
        return text
    room = max(0, most - _CUT_BYTES)
    head = data[: room * 2 // 3].decode(errors="ignore")
    tail = data[len(data) - room // 3 :].decode(errors="ignore")
    return f"{head} {CUT.text(count=len(text) - len(head) - len(tail))} {tail}".strip()


def beginning(text: str, most: int) -> str:
    """At most `most` characters, with a sign that more followed: cut behind a clause, or at least between words.

    No code and no bracket is left open.
    """
    if len(text) <= most:
        return text
    cut = _closed(text[: max(0, most - 1)])
    clause = max((found.start() for found in _CLAUSE.finditer(cut)), default=0)
    word = cut.rfind(" ")
    end = clause if clause * 3 > most * 2 else word if word * 2 > most else len(cut)
    return f"{cut[:end].rstrip(' ,;:.—–-…')}…"  # noqa: RUF001 - dashes of prose


def _closed(text: str) -> str:
    """Without the code, or the bracket, that does not end in it, if that leaves half of it."""
    ends = [text.rfind("`")] if text.count("`") % 2 else []
    ends += [text.rfind(mark) for mark, other in _OPENING.items() if text.rfind(mark) > text.rfind(other)]
    end = min(ends, default=len(text))
    return text[:end] if end * 2 > len(text) else text
