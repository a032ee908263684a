"""The door for languages: whether a text is English, judged offline and from the text alone."""

import importlib
import re
from functools import cache
from typing import Protocol

__all__ = ["is_english", "is_foreign", "load"]

ENGLISH = "en"
NO_LANGUAGE = "zxx"
"""Numbers, names and markup."""
ENOUGH = 80
"""Characters by which a language is recognised."""
WINDOW = 200
"""Characters that are judged at once: one paragraph in another language is enough to say no."""
_WINDOW = re.compile(rf"\S[\s\S]{{0,{WINDOW - 1}}}\S*+")


class Identifier(Protocol):
    """The library's classifier of a text's language."""

    def classify(self, text: str) -> tuple[str, float]: ...


def load() -> None:
    """Read the table of languages, which takes most of a second and 90 MB, before the first text waits for it."""
    _identifier()


def is_english(text: str) -> bool:
    """Whether it is English and nothing else, but for names and numbers. A text of a few words is not."""
    languages = _languages(text)
    return languages.count(ENGLISH) * 2 > len(languages) and set(languages) <= {ENGLISH, NO_LANGUAGE}


def is_foreign(text: str) -> bool:
    """Whether any stretch of it is in another language than English."""
    return not set(_languages(text)) <= {ENGLISH, NO_LANGUAGE}


def _languages(text: str) -> list[str]:
    """The languages of its stretches, in order."""
    windows = (found[0] for found in _WINDOW.finditer(text))
    return [_identifier().classify(window)[0] for window in windows if len(window) >= ENOUGH]


@cache
def _identifier() -> Identifier:
    langid = importlib.import_module("py3langid.langid")
    identifier: Identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE)
    return identifier
