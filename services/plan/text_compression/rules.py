"""The rules: each takes a text whose protected regions are masked, and gives it back with fewer words.

They work on words between white space, and on no word that anything else is glued to: a hyphen, a dot, a slash, an
accent that is a character of its own. A rule never joins two lines, and it needs one walk over the text.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable

from services.plan.text_compression.regions import QUOTE, mask, unmask
from services.plan.text_compression.words import (
    ABBREVIATIONS,
    APPROXIMATIONS,
    ARTICLES,
    AUXILIARIES,
    BEFORE_APPROXIMATIONS,
    BETWEEN,
    CLAUSES,
    CONNECTIVES,
    FILLERS,
    HEDGES,
    MODALS,
    NEVER_AFTER_ARTICLES,
    NEVER_BEFORE,
    NO_PARTICIPLES,
    OFTEN,
    PARTICIPLES,
    PHRASES,
    PLEASANTRIES,
    SUBJECTS,
)

_STOPS = ".!?…"
_BEFORE_WORDS = (*_STOPS, *",;:-\u2013\u2014*+>#\n")
"""The text before the first word of a sentence, a clause or an item."""
_LAST = ("", *"\r\n)]\u201d\u2019\"'")
"""The text behind the last word."""

_START = r"(?<!\S)"
_END = r"""(?=[.,;!?…)\]"\u201d\u2019']*+(?:\s|\Z))"""
_BLANKS = r"[ \t]++"
LITE, FULL, ULTRA = 1, 2, 3


def _letter(character: str) -> str:
    """In both cases, but no foreign letter that only folds to it."""
    return f"[{character}{character.upper()}]" if character.isalpha() else character


def _word(words: str) -> str:
    return _BLANKS.join("".join(map(_letter, word)) for word in words.replace("'", "['\u2019]").split())


def _any(words: Iterable[str]) -> str:
    """A pattern of these words, the longer before those that they begin with."""
    return "|".join(map(_word, sorted(words, key=len, reverse=True)))


def _droppable(word: str) -> str:
    pattern = _word(word)
    if word in CLAUSES:
        pattern += f"(?:{_BLANKS}{_word('that')}(?={_BLANKS}(?:{_any(SUBJECTS)}){_END}))?+"
    if word in NEVER_BEFORE:
        pattern += f"(?!{_BLANKS}(?:{_any(NEVER_BEFORE[word])}){_END})"
    return pattern


def _needless() -> re.Pattern[str]:
    """With what precedes it: a comma, a line's beginning, blanks. A first character of few kinds is found fast."""
    words = sorted((*FILLERS, *HEDGES, *PLEASANTRIES), key=len, reverse=True)
    one = f"(?:{'|'.join(map(_droppable, words))}){_END}"
    lead = r"(?P<lead>[,\n \t](?<![ \t][ \t])[ \t]*+)(?<!,)"
    return re.compile(rf"{lead}{one}(?:{_BLANKS}{one})*+(?P<stop>[,{_STOPS}]*+)(?P<blanks>[ \t]*+)")


_NEEDLESS = _needless()
_NEGATED = re.compile(r"(?:(?<![^\W_])(?:not|nor|without)|n['\u2019]t)\Z", re.IGNORECASE)
_APPROXIMATE = re.compile(
    rf"{_START}(?P<before>{_any(BEFORE_APPROXIMATIONS)}){_BLANKS}(?:{_any(APPROXIMATIONS)})(?={_BLANKS}\w)"
)
_PHRASE = re.compile(f"{_START}(?:{_any(PHRASES)}){_END}")
_AUXILIARY = re.compile(
    rf"(?<=[^\s{_STOPS},;:]){_BLANKS}(?:{_any(AUXILIARIES)})(?={_BLANKS}(?!(?:{_any(NO_PARTICIPLES)}){_END})"
    rf"[^\W\d_]++(?:{'|'.join(f'(?<={end})' for end in PARTICIPLES)}){_END})"
)
_MODAL = re.compile(rf"(?<![^\W_])(?:{_any(MODALS)})\Z|n['\u2019]t\Z")
_ARTICLE = re.compile(
    rf"{_START}(?:{_any(ARTICLES)}){_BLANKS}(?=[^\s=+/<>|&^%~,;:.)!?-])(?!\*\s)(?!(?:{_any(NEVER_AFTER_ARTICLES)}){_END})"
)
_CONNECTIVE = re.compile(f"{_START}(?:{_any(CONNECTIVES)}){_END}")
_BETWEEN = re.compile(rf"(?<=\S){_BLANKS}(?P<word>{_any(BETWEEN)}){_BLANKS}(?=\S)")
_ABBREVIATION = re.compile(rf"{_START}(?P<stem>{_any(ABBREVIATIONS)})(?P<plural>s?){_END}")
_WIDE = re.compile(r"(?<=[^ \t\n])[ \t]{2,}+(?=[^ \t\n])")
_TRAILING = re.compile(r"[ \t\r](?<![ \t\r][ \t\r])[ \t\r]*+(?=\n|\Z)")
_EMPTY_LINES = re.compile(r"\n{3,}+")


def without_needless_words(text: str) -> str:
    """Without fillers, hedges and pleasantries, and without the punctuation that was only theirs."""
    return _NEEDLESS.sub(_dropped, "\n" + _APPROXIMATE.sub(r"\g<before>", text))[1:]


def _dropped(found: re.Match[str]) -> str:
    lead, stop, blanks = found["lead"], found["stop"], found["blanks"]
    before = found.string[max(0, found.start() - 8) : found.start()]
    if _NEGATED.search(before):
        return found[0]
    if lead.startswith("\n"):
        return lead
    if before.endswith(_BEFORE_WORDS) and not lead.startswith(","):
        return blanks
    comma = "," if lead.startswith(",") else ""
    ends = stop.strip(",") != "" or (not stop and found.string[found.end() : found.end() + 1] in _LAST)
    return (stop if ends else stop[:1] or comma) + blanks


def with_short_phrases(text: str) -> str:
    return _PHRASE.sub(lambda found: _like(found[0], PHRASES[_plain(found[0])]), text)


def without_auxiliaries(text: str) -> str:
    """Without forms of *to be* before a participle."""
    return _AUXILIARY.sub(_auxiliary, text)


def _auxiliary(found: re.Match[str]) -> str:
    return found[0] if _MODAL.search(found.string[max(0, found.start() - 8) : found.start()]) else ""


def without_articles(text: str) -> str:
    return _ARTICLE.sub(_article, text)


def _article(found: re.Match[str]) -> str:
    """A capital `A` inside a sentence is a name: option A."""
    before = found.string[max(0, found.start() - 2) : found.start()].rstrip(" \t")
    starts_sentence = not before or before.endswith(("\n", *_STOPS, ":"))
    return found[0] if found[0].rstrip() == "A" and not starts_sentence else ""


def with_symbols(text: str) -> str:
    """Symbols for the words between clauses. In a table a bar means something else."""
    text = _CONNECTIVE.sub(lambda found: CONNECTIVES[_plain(found[0])], text)
    return "\n".join(line if "|" in line else _BETWEEN.sub(_between, line) for line in text.split("\n"))


def _between(found: re.Match[str]) -> str:
    return f" {BETWEEN[found['word'].lower()]} "


def with_abbreviations(text: str) -> str:
    """Short forms of the words that a chunk says often."""
    return QUOTE.join(map(_abbreviated, text.split(QUOTE)))


def _abbreviated(chunk: str) -> str:
    counts = Counter(found["stem"].lower() for found in _ABBREVIATION.finditer(chunk))

    def short(found: re.Match[str]) -> str:
        stem = found["stem"].lower()
        return _like(found[0], ABBREVIATIONS[stem]) + found["plural"] if counts[stem] >= OFTEN else found[0]

    return _ABBREVIATION.sub(short, chunk)


def tidy(text: str) -> str:
    """One blank between words, none at the end of a line, one empty line at most; indentation stays."""
    text = _TRAILING.sub("", _WIDE.sub(" ", text))
    return _EMPTY_LINES.sub("\n\n", text).strip()


def _plain(phrase: str) -> str:
    return " ".join(phrase.lower().split())


def _like(model: str, word: str) -> str:
    """The word, with a capital where the model has one."""
    return word[0].upper() + word[1:] if model[0].isupper() else word


_RULES: dict[int, tuple[Callable[[str], str], ...]] = {
    LITE: (without_needless_words, with_short_phrases),
    FULL: (without_auxiliaries, without_articles),
    ULTRA: (with_symbols, with_abbreviations),
}


def compress(text: str, depth: int) -> str:
    """The pristine text at this depth: the same for ever, whatever depth it was served at before."""
    masked, regions = mask(text)
    for tier, worked in _RULES.items():
        if tier <= depth:
            for rule in worked:
                masked = rule(masked)
    return unmask(tidy(masked), regions)
