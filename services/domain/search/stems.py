"""Words without their endings, by the Snowball stemmer of the language that their script is taken for.

A word alone does not show its language: one in Latin letters is taken for English, since most texts about code are.
What a stemmer does not bring together, other languages in Latin letters above all, is found by parts of words instead.
"""

from functools import lru_cache

import Stemmer

_SCRIPTS = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
"""First and last character of a script, and the language that it is taken for."""
SHORTEST = 4
"""Characters of a word in Latin letters that may have an ending."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word in lower case without its ending; one of another script, a number or a short one as it is."""
    if word.isascii():
        return _stemmer("english").stemWord(word) if len(word) >= SHORTEST and word.isalpha() else word
    language = next((name for first, last, name in _SCRIPTS if first <= word[0] <= last), "")
    return (_stemmer(language).stemWord(word) or word) if language else word


@lru_cache(maxsize=16)
def _stemmer(language: str) -> Stemmer.Stemmer:
    """One for each language. It has no state between words, so that several threads may take turns with it."""
    return Stemmer.Stemmer(language, 0)
