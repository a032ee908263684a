"""Lists of names: symbols and files one after the other, which say nothing of themselves.

Such lists are for looking things up. What is remembered of a project is a sentence that a colleague would say.
"""

import re

FEWEST = 3
"""Names of a list."""
SHARE = 0.7
"""Of the words behind a place (`src/quay/`: openQuay quay.py), that are names where it is a list."""
_PLACE = re.compile(r"`?(?P<name>[^\s`]+)`?\s?:\s+")
_AROUND = "`'\"()[]{}<>,;:"
_NAME = re.compile(r"[^\s]*(?:[a-z0-9][A-Z]|_|/|\d[A-Za-z]|[A-Za-z]\d|[\w)\]]\.\w|\(\))[^\s]*|[A-Z]{2,}|\.\w[\w.-]+")


def is_listing(text: str) -> bool:
    """Whether it is nothing but names, or names behind the place that they are at. A sentence ends or has a verb."""
    place = _PLACE.match(text)
    if place and not set("/.") & set(place["name"]):
        place = None
    words = [bare for word in text[place.end() if place else 0 :].split() if (bare := word.strip(_AROUND))]
    if len(words) < FEWEST or (text.rstrip().endswith((".", "!", "。")) and not _NAME.fullmatch(words[-1])):
        return False
    names = sum(_NAME.fullmatch(word) is not None for word in words)
    return names >= SHARE * len(words) if place else names == len(words)
