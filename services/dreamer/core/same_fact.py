"""When two memories state one fact in other words.

A text is brought into one usual form, and only equal forms are the same: any other number, name, negation or word, and
another order, makes two texts different. Evened out is only what does not change a meaning: words of
courtesy, who acts where everybody does, `never` and `do not`, a condition in front or at the end, and `is kept` for
`keep`. To be the same is therefore the same in both directions, and for any number of memories.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from services.dreamer.core import usual_words as usual
from services.memory.sameness import LONGEST, words_of

Words = tuple[str, ...]

CACHED = 16_384
_PARTS = re.compile(r"(?<=[^\s\d]),(?=\s)|[;!?](?=\s)|\.(?=\s)|\s[\u2013\u2014-]\s")
"""The places at which a sentence may be parted. A comma in a number and a point in a name are none of these."""
_COUNTED = re.compile(r"\d")
_ARTICLE = re.compile(r"\b(?:[Tt]he|[Aa]n|a|THE|AN)\s")
_MARK = "_the_ "
"""The place of an article: words without a meaning of their own are left out."""
_MEASURE = re.compile(r"([<>=~]{0,2}\d+(?:\.\d+)?)(ms|s|sec|min|h|hr|%)")
_PLAIN = re.compile(r"[a-z]+(?:-[a-z]+)*")
"""A word of English prose. Whatever else is a name, a number, or of another language, and stays as it is."""
_DOUBLED = ("ll", "ss", "zz", "ff")
_SILENT = ("at", "iz", "is", "s", "v", "c", "z", "ur", "ul", "ag", "dg", "rg", "ib", "id", "il", "in", "ut", "qu")
"""The endings of verbs that have a silent `e` behind them."""
_PARTED = (",",)
FRONTED = 2
"""Parts of a sentence of which the first may be a condition."""
_NO_PLURAL = ("ss", "us", "is")
SHORTEST, LONG = 4, 5
"""Characters of a word from which on it may have an ending, and of one that may end in `ing`."""


class StatedFact(NamedTuple):
    """The statement of a text, in its usual form, and the reason that it gives; empty: none."""

    main: Words
    reason: Words = ()


class _Word(NamedTuple):
    text: str
    is_name: bool
    """It is in back quotes: it stays as it is."""
    has_article: bool = False
    """It is a thing, and nothing that something does."""


_END = _Word("", is_name=True)
_DOING = frozenset({("do", "not"), ("do", "never")})
"""`do` says nothing where something is forbidden."""


@lru_cache(CACHED)
def fact_of(text: str) -> StatedFact:
    """The fact of a text. Equal `main` and reasons that are equal, or of which one is empty, state the same."""
    if len(text) > LONGEST:
        return StatedFact((text,))
    parts = [words for part in _parted(text) if (words := _usual(part))]
    if len(parts) > 1 and parts[0] == ["default"]:
        parts = [["default", *parts[1]], *parts[2:]]
    if len(parts) == FRONTED and _opens(parts[0]):
        parts.reverse()
    sentence: list[str] = []
    for part in parts:
        sentence += _PARTED if sentence and not (_opens(part) or part[0] in usual.PARTING) else ()
        sentence += _acted(part)
    main, reason = _without_reason(tuple(sentence))
    return StatedFact(main, reason)


def _parted(text: str) -> Iterator[list[_Word]]:
    """The parts of a text at commas and the like, each as words; what is in back quotes is never parted."""
    part: list[_Word] = []
    for number, piece in enumerate(text.strip().split("`")):
        if number % 2:
            part += [_Word(word, is_name=True) for word in words_of(f"`{piece}`")]
            continue
        for at, some in enumerate(_PARTS.split(_ARTICLE.sub(_MARK, piece))):
            if at:
                yield part
                part = []
            words = [_MARK.strip(), *words_of(some)]
            part += [
                _Word(word, is_name=False, has_article=before == _MARK.strip() and at_word > 1)
                for at_word, (before, word) in enumerate(pairwise(words), 1)
                if word != _MARK.strip()
            ]
    yield part


def _opens(part: Sequence[str]) -> bool:
    return part[0] in usual.OPENINGS or part[0] == "because"


def _usual(part: list[_Word]) -> list[str]:
    """The words of a part, each in its usual form, without those that say nothing."""
    words = [word for word, behind in pairwise((*_measured(part), _END)) if (word.text, behind.text) not in _DOING]
    if len(words) > 1 and words[0].text == "A" and _is_thing(words[1]):
        words = words[1:]
    is_of_nobody = any(word.text in usual.NOBODY for word in words)
    found: list[str] = []
    at = 0
    while at < len(words):
        length, instead = _phrase(words, at)
        if length and not (is_of_nobody and not instead):
            found += instead
        else:
            length = 1
            if words[at].is_name or is_of_nobody or not _says_nothing(words[at].text, at):
                found.append(_form(words, at))
        at += length
    found = _doing_after_negation(_with_default_first(found))
    if _is_generic(found):
        found = found[1:]
    for subject in usual.SUBJECTS:
        if tuple(found[: len(subject)]) == subject and len(found) > len(subject) + 1:
            return found[len(subject) :]
    return found


def _is_thing(word: _Word) -> bool:
    """Whether a capital `A` before this word is an article: `A` may be a name, too, as in `A calls B`."""
    other = usual.VERBS | usual.BEING | usual.NOTHING | usual.MODALS | usual.PARTING | usual.OPENINGS | usual.NEGATIONS
    return bool(_PLAIN.fullmatch(word.text)) and not word.is_name and word.text not in other and word.text[-1] != "s"


def _is_generic(words: Sequence[str]) -> bool:
    """Whether `each` or `all` at the beginning says no more than that the others are several."""
    if not words[1:] or words[0] not in ("each", usual.ALL) or any(map(_COUNTED.search, words)):
        return False
    return bool(_PLAIN.fullmatch(words[1])) and words[1] not in usual.RESTRICTING


def _says_nothing(word: str, at: int) -> bool:
    return word in usual.NOTHING or (at == 0 and word in usual.EVERYBODY)


def _measured(part: Sequence[_Word]) -> Iterator[_Word]:
    """Numbers and their units as two words."""
    for word in part:
        if not word.is_name and (found := _MEASURE.fullmatch(word.text)):
            yield from (_Word(found[1], is_name=False), _Word(found[2], is_name=False))
        else:
            yield word


def _phrase(words: Sequence[_Word], at: int) -> tuple[int, Words]:
    """The number of words of the longest phrase that begins here, and the words that replace it."""
    for length in range(min(usual.LONGEST_PHRASE, len(words) - at), 0, -1):
        some = words[at : at + length]
        if not any(word.is_name for word in some):
            instead = usual.PHRASES.get(tuple(word.text for word in some))
            if instead is not None:
                return length, instead
    return 0, ()


def _form(words: Sequence[_Word], at: int) -> str:
    """A word as it is compared. One thing and several are two, but `each rule` is `rules`."""
    word = words[at]
    if word.is_name:
        return word.text
    if not _PLAIN.fullmatch(word.text):
        return usual.SAME.get(word.text, word.text)
    one = _singular(word.text)
    if (one in usual.SAME or one in usual.VERBS) and not word.has_article:
        return usual.SAME.get(one, one)
    if at and words[at - 1].text in usual.EACH and one == word.text:
        return _plural(one)
    return usual.SAME.get(word.text, word.text)


def _singular(word: str) -> str:
    """A verb without the ending that it has behind one thing: `depends`."""
    if len(word) < SHORTEST or not word.endswith("s") or word.endswith(_NO_PLURAL):
        return word
    if word.endswith("ies") and len(word) > SHORTEST:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("shes", "ches", "xes", "sses", "zes")) else word[:-1]


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in {*"aeiou"}:
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("sh", "ch", "x", "s", "z")) else f"{word}s"


def _doing_after_negation(words: list[str]) -> list[str]:
    """`Avoid using` is `do not use`."""
    return [
        _without_ending(word, "ing") if at and words[at - 1] == "not" and _is_doing(word) else word
        for at, word in enumerate(words)
    ]


def _is_doing(word: str) -> bool:
    return word.endswith("ing") and (len(word) > LONG or _without_ending(word, "ing") in usual.VERBS)


def _with_default_first(words: list[str]) -> list[str]:
    """`The timeout defaults to 30 s` is `the default timeout is 30 s`."""
    if words.count("default") != 1:
        return words
    return ["default", *(word for word in words if word != "default")]


def _acted(part: Sequence[str]) -> list[str]:
    """The part with its verbs in front, in the imperative: `records are kept` becomes `keep records`."""
    found: list[str] = []
    begin = 0
    for at in range(1, len(part) + 1):
        if at == len(part) or part[at] in usual.PARTING:
            found += _acting(part[begin:at])
            begin = at
    return found


def _acting(words: Sequence[str]) -> list[str]:
    """The same of a part of a sentence that has one verb."""
    opening = [*words[:1]] if words[0] in usual.PARTING else []
    rest = words[len(opening) :]
    at = next((at for at, word in enumerate(rest) if word in usual.BEING), len(rest))
    before, behind = [*rest[:at]], [word for word in rest[at:] if word not in usual.BEING]
    negation = [before.pop()] if before and before[-1] in usual.NEGATIONS and behind else []
    if behind and behind[0] in usual.NEGATIONS:
        negation.append(behind.pop(0))
    if not behind:
        return [*opening, *_by_user([*before, *negation])]
    if (verb := _participle(behind[0])) and not usual.MODALS.intersection(before):
        return [*opening, *_by_user([*negation, verb, *before, *behind[1:]])]
    if before and _is_doing(behind[0]):
        behind[0] = _without_ending(behind[0], "ing")
    return [*opening, *_by_user([*before, *negation, *behind])]


def _by_user(words: list[str]) -> list[str]:
    """`Use a to do b` is `do b with a`, and `use a for b` is `b uses a`, as it is with what is needed."""
    at = next((at for at, word in enumerate(words) if word not in usual.NEGATIONS), 0)
    negation, verb, rest = words[:at], words[at : at + 1], words[at + 1 :]
    if verb == ["use"] and rest.count("to") == 1 and 0 < rest.index("to") < len(rest) - 1 and not _has_reason(rest):
        to = rest.index("to")
        return [*negation, *rest[to + 1 :], "with", *rest[:to]]
    if verb in (["use"], ["need"]) and rest.count("for") == 1 and 0 < rest.index("for") < len(rest) - 1:
        to = rest.index("for")
        return [*rest[to + 1 :], *negation, *verb, *rest[:to]]
    return words


def _participle(word: str) -> str:
    """The verb of a word that follows `is`; empty: it is none."""
    if word in usual.PARTICIPLES:
        return _usual_verb(usual.PARTICIPLES[word])
    is_regular = word.endswith("ed") and len(word) >= SHORTEST and word not in usual.NO_PARTICIPLES
    return _without_ending(word, "ed") if is_regular and _PLAIN.fullmatch(word) else ""


def _without_ending(word: str, ending: str) -> str:
    """The verb of `stored` or `storing`, as far as it is known, or by how such words are written."""
    bare = word.removesuffix(ending)
    if ending == "ed" and bare.endswith("i"):
        return _usual_verb(f"{bare[:-1]}y")
    is_doubled = bare[-1:] == bare[-2:-1]
    for verb in (f"{bare}e", bare, bare[:-1] if is_doubled else bare):
        if verb in usual.SAME or verb in usual.VERBS:
            return _usual_verb(verb)
    if is_doubled:
        return bare if bare.endswith(_DOUBLED) else bare[:-1]
    return f"{bare}e" if bare.endswith(_SILENT) else bare


def _usual_verb(verb: str) -> str:
    return usual.SAME.get(verb, verb)


def _has_reason(words: list[str]) -> bool:
    return bool(_without_reason(tuple(words))[1])


def _without_reason(words: Words) -> tuple[Words, Words]:
    for at in range(1, len(words)):
        main = words[: at - 1] if words[at - 1 : at] == _PARTED else words[:at]
        for reason in usual.REASONS:
            if words[at : at + len(reason)] == reason and not _is_no_reason(
                words[at : at + 2], is_parted=len(main) < at
            ):
                return main, words[at:]
    return words, ()


def _is_no_reason(words: Words, *, is_parted: bool) -> bool:
    """`Because of` may be what something is not done for, and `since` without a comma, or with a number, is a time."""
    if words[0] == "since":
        return not is_parted or bool(_COUNTED.match(words[-1]))
    return words in usual.NO_REASON
