"""When two sentences say the same, and when one speaks against another.

The same is only the same sentence, up to case, punctuation and words that say nothing (`the`, `please`). Numbers,
units, names, negations and the order of words make two of it, since each may be a rule of its own: `make lint` is not
`make test`, and what A needs of B is not what B needs of A. Singular and plural are two as well: `user` and `users`
may be two tables.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

LONGEST = 2_000
"""Characters of a text that are compared; a longer one is distinguished from others by a digest of the whole."""
CACHED = 16_384

Words = tuple[str, ...]

_OPENING = "\"'\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb\u300c\u300d\u300e\u300f([{\u00bf\u00a1,;:\u3001\u3002"
_CLOSING = "\"'\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb\u300c\u300d\u300e\u300f)]},;:.!\u2026\u3001\u3002"
_NOTHING = re.compile(r"[-\u2010-\u2015]+|[\u2022*\u00b7_~]{2,}|[\u2022\u00b7]")
"""A word that only parts others: a dash, a bullet, a line."""
_BULLET = "*"
"""A sign that parts nothing but at the beginning: elsewhere it is what a sentence speaks of."""
_SIGNS = ("*", ",", "'", '"')
"""Signs that a sentence may speak of where they stand alone: others stand so behind a blank in some languages."""
_AROUND = "()[]{}.:!?"
_QUOTES = "\"'\u201c\u201d\u201e\u2018\u2019"
_PIECES = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u3000-\u3002]+|[\u3001\u3002]"
)
"""Words; of scripts without blanks, characters."""
_WIDE = re.compile(r"[\uff01-\uff5e]")
_HAS_OWN_CASE = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]|_|\d")
"""A name whose case is part of it: `userId`, `API_KEY`, `Sha1`."""
_CONTRACTED = re.compile(r"n['\u2019]t\Z")
_ELIDED = re.compile(r"n['\u2019](?=[^\W\d_]{2})")
"""The French `ne` before a vowel: `n'utilise`."""
_SAME = {
    "does": "do", "are": "is", "has": "have", "cannot": "can not", "can't": "can not", "won't": "will not",
    "shan't": "shall not", "dont": "do not", "every": "each", "it's": "it is",
}  # fmt: skip
_FILLERS = frozenset({
    "the", "a", "an", "please", "pls", "kindly", "bitte", "svp", "пожалуйста", "lütfen", "proszę", "alsjeblieft",
})  # fmt: skip
_POLITE = re.compile(
    r"(?<![\s,])[\s,]*(?:s['\u2019]il (?:te|vous) pla[iî]t|por favor|per favore|お願いします|ください|下さい|해 ?주세요"
    r"|[请請](?!求))(?:\s*,)?",
    re.IGNORECASE,
)


def sentence_key(text: str) -> str:
    """A key that is the same for two texts that are the same sentence, and for no others."""
    return " ".join(words_of(text))


@lru_cache(CACHED)
def words_of(text: str) -> Words:
    """The content of a sentence, word by word and in order."""
    plain = _WIDE.sub(lambda wide: chr(ord(wide[0]) - 0xFEE0), unicodedata.normalize("NFC", text))
    plain = _POLITE.sub(" ", plain.lower() if plain.isupper() else plain)
    found: list[str] = []
    pieces = plain.split("`")
    for number, piece in enumerate(pieces):
        is_code = bool(number % 2)
        is_sign = is_code and number < len(pieces) - 1 and _is_sign(piece)
        for word in [piece.strip()] if is_sign else _bare(piece):
            found += [word] if is_code else _usual(word)
    return tuple(found)


@lru_cache(CACHED)
def set_of(text: str) -> frozenset[str]:
    return frozenset(words_of(text))


def _bare(text: str) -> Iterator[str]:
    """Words without punctuation around them. What belongs to a name or a number stays: `-5`, `.env`, `C++`, `run()`."""
    is_beginning = True
    for found in _PIECES.finditer(text.replace("\u3000", " ")):
        word, before = found[0], ""
        while word != before:
            before, word = word, word.lstrip(_OPENING)
            word = word if word[1:].endswith("()") else word.rstrip(_CLOSING)
            if word.startswith("*") and word.endswith("*") and not word.startswith("*."):
                word = word.strip("*")
        word = word or _sign(text, found)
        is_bullet = is_beginning and word == _BULLET
        if word and not is_bullet and not _NOTHING.fullmatch(word):
            yield word
        is_beginning = is_beginning and not any(map(str.isalnum, found[0]))


def _is_sign(text: str) -> bool:
    return bool(text.strip()) and not any(one.isalnum() for one in text)


def _sign(text: str, found: re.Match[str]) -> str:
    """A sign that a sentence speaks of: in quotation marks, or between blanks; empty: it only parts words."""
    bare = found[0].strip(_AROUND)
    if bare[:1] in _QUOTES and bare[-1:] in _QUOTES and (inner := bare.strip(_QUOTES)):
        return inner
    before, behind = text[max(found.start() - 1, 0) : found.start()], text[found.end() : found.end() + 1]
    is_alone = before.isspace() and (not behind or behind.isspace())
    return found[0] if is_alone and found[0] in _SIGNS else ""


def _usual(word: str) -> list[str]:
    """A word in its usual form; none where it says nothing. A single capital may be a name: `A` depends on `B`."""
    if _HAS_OWN_CASE.search(word) or (len(word) == 1 and word.isupper()):
        return [word]
    low = word.lower()
    if low in _FILLERS:
        return []
    if low in _SAME:
        return _SAME[low].split()
    if _CONTRACTED.search(low):
        stem = _CONTRACTED.sub("", low)
        return [_SAME.get(stem, stem), "not"]
    if elided := _ELIDED.match(low):
        return ["ne", low[elided.end() :]]
    return [low]


# What speaks against another.

_NOT = frozenset({
    "not", "never", "no", "without", "nicht", "nie", "niemals", "kein", "keine", "keinen", "ohne", "pas", "jamais",
    "sans", "nunca", "sin", "não", "sem", "non", "mai", "senza", "не", "нельзя", "никогда", "без", "不", "别", "別",
    "勿", "禁", "ない", "な", "않", "마세요", "avoid", "forbidden", "ikke", "inte", "niet", "nooit", "nigdy",
})  # fmt: skip
_EASY = frozenset(
    {"do", "ne", "always", "is", "to", "immer", "toujours", "siempre", "sempre", "всегда", "must", "should"}
)
"""Words that one side may have more, next to a negation, without changing what is negated."""
_QUANTITIES = frozenset({
    "all", "any", "anyone", "each", "everyone", "most", "many", "few", "some", "only", "both", "nobody",
    "none", "one", "two",
    "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "first", "second", "third",
    "last", "alle",
    "jede", "jeder", "jedes", "einige", "nur", "ein", "eine", "zwei", "drei", "vier", "tous", "toutes",
    "chaque", "quelques",
    "un", "une", "deux", "trois", "todos", "todas", "cada", "algunos", "solo", "uno", "una", "dos", "tres",
    "все", "только",
    "один", "два", "три", "一", "二", "两", "三", "所", "每",
})  # fmt: skip
"""Words for a number, or for a place in a row."""
_OPPOSITES = frozenset(map(frozenset, (
    ("include", "exclude"), ("allow", "deny"), ("allow", "forbid"), ("permit", "forbid"), ("enable", "disable"),
    ("show", "hide"), ("add", "remove"), ("start", "stop"), ("open", "close"), ("use", "avoid"), ("accept",
    "reject"), ("keep", "drop"), ("keep", "remove"), ("keep", "delete"), ("require", "forbid"), ("prefer", "avoid"),
    ("increase", "decrease"), ("lock", "unlock"), ("mount", "unmount"), ("verwende", "vermeide"), ("erlaube",
    "verbiete"), ("zeige", "verstecke"), ("utilise", "évite"), ("autorise", "interdis"), ("usa", "evita"),
    ("permite", "prohíbe"),
)))  # fmt: skip
"""Verbs of which one orders what the other forbids."""
_DIGIT = re.compile(r"\d")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]\Z")
_IN_DIGITS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "twelve": "12", "zwei": "2", "drei": "3", "vier": "4", "fünf": "5", "sechs": "6", "sieben": "7",
    "acht": "8", "neun": "9", "zehn": "10", "deux": "2", "trois": "3", "quatre": "4", "cinq": "5", "dos": "2",
    "tres": "3",
}  # fmt: skip
FEW = 3
"""Words in which two sentences differ at most where one speaks against the other; characters count for half."""


def speaks_against(one: str, other: str) -> bool:
    """Whether two different sentences are about the same thing and say something else of it.

    That is another number, the contrary, another word in one place, or the same words the other way round. To say more
    is nothing against it, what begins with another word is about something else, and two things may both be forbidden.
    """
    first, second = _in_digits(words_of(one[:LONGEST])), _in_digits(words_of(other[:LONGEST]))
    its, others = set_of(one[:LONGEST]), set_of(other[:LONGEST])
    if first == second or not first or not second or len(its & others) * 3 < min(len(its), len(others)):
        return False
    if Counter(first) == Counter(second):
        return not _is_turned(first, second)
    steps = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    common = _weight(first[begin:end] for kind, begin, end, _, _ in steps if kind == "equal")
    if common * 2 < min(_weight([_content(first)]), _weight([_content(second)])):
        return False
    changes = [(first[i:j], second[k:end]) for kind, i, j, k, end in steps if kind != "equal"]
    if any(_negated(first, second, changes)):
        return True
    if max(_weight(left for left, _ in changes), _weight(right for _, right in changes)) > FEW:
        return False
    for number, (left, right) in enumerate(changes):
        if left and right:
            if number == 0 and steps[0][0] == "replace":
                return frozenset((left[0], right[0])) in _OPPOSITES or (_has_number(left) and _has_number(right))
            forbids_both = not _NOT.isdisjoint(its) and not _NOT.isdisjoint(others)
            return not forbids_both or _has_number(left) or _has_number(right)
    return False


def _is_turned(first: Words, second: Words) -> bool:
    """Whether only the end of one is at the beginning of the other: `In Go, use tabs` and `Use tabs in Go`."""
    return any(first[at:] + first[:at] == second for at in range(len(first)))


def _in_digits(words: Words) -> Words:
    """The words with numbers in digits: three times is no other number than 3 times."""
    return tuple(_IN_DIGITS.get(word, word) for word in words)


def _has_number(words: Words) -> bool:
    return any(_DIGIT.search(word) or word in _QUANTITIES for word in words)


def _content(words: Words) -> Words:
    return tuple(word for word in words if word not in _NOT and word not in _EASY)


def _negated(first: Words, second: Words, changes: Sequence[tuple[Words, Words]]) -> Iterator[bool]:
    """Whether one has a negation more, and hardly anything else is different."""
    odd = sum(word in _NOT for word in first) % 2 != sum(word in _NOT for word in second) % 2
    rest = [word for pair in changes for words in pair for word in words if word not in _NOT and word not in _EASY]
    yield odd and _weight([tuple(rest)]) <= FEW


def _weight(words: Sequence[Words] | Iterator[Words]) -> float:
    return sum(0.5 if _HAN.match(word) else 1.0 for some in words for word in some)
