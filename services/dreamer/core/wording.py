"""Whether a text says no more and nothing else than another one that it was made of.

It is a question of words, and of their order. A text may leave words out and put a verb into another tense. It may not
bring a number, a name, a path or any other word of its own, lose a number, a name, a negation, a condition or a reason,
or say its words in another order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from services.dreamer.core.keeping import weights_of
from services.memory.decide.context import LONGEST
from services.memory.sameness import words_of

CACHED = 16_384
CONDITIONS = frozenset({
    "if", "unless", "when", "whenever", "before", "after", "until", "till", "except", "while", "during", "once", "per",
    "each", "every", "all", "any", "both", "either", "or", "more", "less", "most", "least", "than", "between", "over",
    "under", "above", "below", "up", "down", "first", "last", "then", "wenn", "bevor", "nachdem", "bis", "si", "avant",
    "après", "jusqu'à",
})  # fmt: skip
"""Words on which it depends when a sentence holds, and for what."""
EMPTY = frozenset({
    "the", "a", "an", "it", "its", "this", "that", "these", "those", "there",
})  # fmt: skip
"""Words that may come, go, and change their place."""
NARRATIVE = frozenset({
    "we", "i", "I", "our", "my", "have", "has", "had", "did", "do", "does", "decided", "decide", "agreed", "agree",
    "found", "find", "noticed", "notice", "learned", "learn", "realized", "realised", "figured", "finally", "also",
    "note", "please",
})  # fmt: skip
"""Words of how something came about: nothing of a fact is lost with them, and none of its limits in time."""
_BEING = frozenset({
    "is", "are", "be", "been", "was", "were", "am", "being",
})  # fmt: skip
_BETWEEN = frozenset({"of", "to", "in", "for", "with", "from", "by", "at", "on", "as", "and", "be", "each", "all"})
"""Stems of words that only bind others together."""
_ALL = frozenset({"each", "every", "all", "always"})
_TOKENS = re.compile(r"`[^`\n]+`|\S+")
_EDGES = "\"'“”‘’«»()[]{},;:!?.…"  # noqa: RUF001 - quotation marks of prose
_ENDING = re.compile(r"(?:ied|ies|ing|ed|es|s|e)\Z")
_PLAIN = re.compile(r"[a-z]{3,}")
_MARKED = re.compile(r"\d|[^\W\d_][._/\\:@#=+$%-]+\w|_|[a-z][A-Z]|[A-Z]{2}|\A[./~@$#-]|\(\)\Z")
"""The form of a token that is a name, a number, a path or code, at any place."""
SHORTEST_STEM = 2


def words_lost_or_new(text: str, original: str) -> str:
    """The reason why a text does not mean the same as the original, as a sentence; empty: it does."""
    if not text or "\n" in text or len(text) > LONGEST:
        return f"the text is empty, has several lines, or has more than {LONGEST} characters"
    if len(original) > LONGEST:
        return "the memory is longer than a text may be"
    names, known = _names(text), _names(original)
    if any(one not in _tokens(original) for one in names):
        return "the text has a name, a number or a path that the memory does not have"
    if any(one not in _tokens(text) for one in known):
        return "the text leaves out a name, a number or a path"
    if [one for one in names if one in known] != [one for one in known if one in names]:
        return "the text has names or numbers in another order"
    if weights_in(text) != weights_in(original):
        return "the text has another negation, condition or reason"
    if not _is_in_order(content_in_order(text), content_in_order(original)):
        return "the text has words of its own, or the words in another order"
    return ""


def marked_names(text: str) -> Counter[str]:
    """Names, numbers, paths and code that are such at any place of a sentence, and how often there is each."""
    found = ((token, _bare(token)) for token in _TOKENS.findall(text))
    return Counter(plain for token, plain in found if plain and (token.startswith("`") or _MARKED.search(plain)))


def is_only_tidied(text: str, original: str) -> bool:
    """Whether only words of how something came about are left out."""
    left = Counter(content_in_order(original)) - Counter(content_in_order(text))
    return all(word in _NARRATIVE_STEMS for word in left)


def is_close(one: str, other: str) -> bool:
    """Whether two texts have the same numbers, names, negations and conditions, in one order: they may be one fact."""
    if max(len(one), len(other)) > LONGEST:
        return False
    return _names(one) == _names(other) and _limits(one) == _limits(other)


@lru_cache(CACHED)
def content_of(text: str) -> frozenset[str]:
    """The stems of the words that a text is about."""
    return frozenset(content_in_order(text)) - _NARRATIVE_STEMS - _BETWEEN


@lru_cache(CACHED)
def _tokens(text: str) -> frozenset[str]:
    return frozenset(_bare(token) for token in _TOKENS.findall(text))


def _bare(token: str) -> str:
    if token.startswith("`"):
        return token.strip("`")
    plain = token.strip(_EDGES)
    return f"{plain}()" if f"{plain}()" in token else plain


@lru_cache(CACHED)
def _names(text: str) -> tuple[str, ...]:
    """Names, numbers, paths and code, each once, in their order. A capital at the beginning of a sentence is none."""
    return tuple(dict.fromkeys(_each_name(text)))


def _each_name(text: str) -> Iterator[str]:
    is_beginning = True
    for token in _TOKENS.findall(text):
        plain = _bare(token)
        is_name = token.startswith("`") or _MARKED.search(plain) or (plain[:1].isupper() and not is_beginning)
        if plain and is_name and plain.lower() not in NARRATIVE | EMPTY:
            yield plain
        is_beginning = token.rstrip("\"'”’»)").endswith((".", "!", "?", ":"))  # noqa: RUF001 - quotation marks


@lru_cache(CACHED)
def weights_in(text: str) -> Counter[str]:
    """The negations, conditions and reasons of a text, and how often there is each."""
    return weights_of(text) + Counter(word for word in words_of(text) if word in CONDITIONS)


def _limits(text: str) -> Counter[str]:
    """The same without words for all there are: `each table` and `tables` may be one."""
    return Counter({word: count for word, count in weights_in(text).items() if word not in _ALL})


@lru_cache(CACHED)
def content_in_order(text: str) -> tuple[str, ...]:
    """The stems of the words of a text in their order, without those that may come and go."""
    return tuple(stem(word) for word in words_of(text) if word not in EMPTY)


def stem(word: str) -> str:
    """A word of English prose without its ending: `uses`, `used` and `using` are one. Any other word is itself."""
    if word in _BEING:
        return "be"
    if not _PLAIN.fullmatch(word):
        return word
    bare = _ENDING.sub("", word)
    if len(bare) > SHORTEST_STEM and bare[-1] == bare[-2] and bare != word:
        bare = bare[:-1]
    return bare if len(bare) >= SHORTEST_STEM else word


def _is_in_order(some: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether the whole has all of some, in the same order."""
    left = iter(whole)
    return all(word in left for word in some)


_NARRATIVE_STEMS = frozenset(map(stem, NARRATIVE))
