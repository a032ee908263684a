"""A person's words in less room: how they begin, and above all the rules that they give."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise

import msgspec

from services.domain.texts import phrase_patterns
from services.domain.texts.bounds import beginning

_SIGN = " … "
"""Marks where something is left out."""
_SENTENCE = re.compile(r"(?<=[.!?;…])(?<!&amp;)(?<!&lt;)(?<!&gt;)\s+|(?<=\s/)\s|(?<=[。\uff01\uff1f\uff1b])")
"""The end of a sentence, or of a line that was put to others with a stroke. A sign that is escaped ends none."""
_CLAUSE = re.compile(r"(?<=[,:])\s+|(?<=\s[—–-])\s|(?<=[\uff0c\uff1a])")  # noqa: RUF001 - dashes of prose
_QUESTION = ("?", "\uff1f")

Size = Callable[[str], int]


class _Sentence(msgspec.Struct, frozen=True):
    clauses: tuple[str, ...]
    """With what separates each from the next."""
    is_rule: bool = False
    ruling: int = 0
    """The clause that makes it a rule."""


def octets(text: str) -> int:
    """Its length in UTF-8."""
    return len(text.encode())


def is_rule(sentence: str) -> bool:
    """Whether it says how it is to be or not to be, and does not ask."""
    return phrase_patterns.RULE.search(sentence) is not None and not sentence.rstrip().endswith(_QUESTION)


def rules_in(text: str) -> str:
    """Those of its sentences that give a rule, with signs where others are left out."""
    sentences = _sentences(text)
    return _join(["".join(one.clauses) for one in sentences], [at for at, one in enumerate(sentences) if one.is_rule])


def abridged(text: str, most: int) -> str:
    """At most so many characters: its rules and how it begins; without a rule, or room for one, only its beginning."""
    return (rules_in(text) and with_rules(text, most)) or beginning(text, most)


def with_rules(text: str, most: int, size: Size = len) -> str:
    """At most so much of it: its rules in their order, then as many clauses from its beginning on as there is room for.

    Nothing is cut within a clause: it may be that none fits.
    """
    if size(text) <= most:
        return text
    sentences = _sentences(text)
    clauses = [clause for one in sentences for clause in one.clauses]
    room = most - size(_SIGN)
    chosen: set[int] = set()
    for rule in _rules(sentences):
        cost = size("".join(clauses[rule.start : rule.stop])) + size(_SIGN)
        if cost <= room and chosen.isdisjoint(rule):
            chosen.update(rule)
            room -= cost
    for at, clause in enumerate(clauses):
        room -= 0 if at in chosen else size(clause)
        if room < 0:
            break
        chosen.add(at)
    return _join(clauses, sorted(chosen))


@lru_cache(maxsize=1024)  # each rendering of a history abridges the same words
def _sentences(text: str) -> tuple[_Sentence, ...]:
    return tuple(_sentence(_parts(one, _CLAUSE)) for one in _parts(text, _SENTENCE))


def _sentence(clauses: Sequence[str]) -> _Sentence:
    if not is_rule("".join(clauses)):
        return _Sentence(tuple(clauses))
    return _Sentence(
        tuple(clauses), is_rule=True, ruling=next((at for at, one in enumerate(clauses) if is_rule(one)), 0)
    )


def _rules(sentences: Sequence[_Sentence]) -> Iterator[range]:
    """The clauses of each rule: its whole sentence, and behind that only what follows from where it is one."""
    first = 0
    for one in sentences:
        last = first + len(one.clauses)
        if one.is_rule:
            yield range(first, last)
            yield range(first + one.ruling, last)
        first = last


def _parts(text: str, separator: re.Pattern[str]) -> list[str]:
    """All of a text, each part with what separates it from the next."""
    edges = [0, *(found.end() for found in separator.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(edges) if start < end]


def _join(parts: Sequence[str], chosen: Sequence[int]) -> str:
    """The parts that stay, in order, with an ellipsis wherever others are left out."""
    runs = groupby(enumerate(chosen), key=lambda pair: pair[1] - pair[0])
    text = _SIGN.join("".join(parts[at] for _, at in run).strip(" /,…") for _, run in runs)
    return f"{text} …" if chosen and chosen[-1] + 1 < len(parts) else text
