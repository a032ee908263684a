"""Which texts are English: real sentences, alone, mixed with each other, and among code."""

import json
from pathlib import Path

import pytest

from services.domain.language import is_english, is_foreign

TEXTS: dict[str, str] = json.loads(Path(__file__).with_name("languages.json").read_text("utf-8"))
ENGLISH = TEXTS["English"]
FOREIGN = [language for language in TEXTS if language != "English"]
MARKUP = "\n".join(f'  "item_{n}": {{ "id": {n}, "size": {n * 37}, "sum": "0x{n * 7919:08x}" }},' for n in range(12))
LOG = "".join(f"2026-01-01T00:00:{n:02d}Z worker[{n}]: 0x{n * 7919:08x} -> 10.0.0.{n}:4222\n" for n in range(12))
pytestmark = pytest.mark.slow  # what knows the languages takes seconds to load


def test_english_is_english() -> None:
    assert is_english(ENGLISH)
    assert not is_foreign(ENGLISH)


@pytest.mark.parametrize("language", FOREIGN)
def test_another_language_is_not(language: str) -> None:
    assert not is_english(TEXTS[language])
    assert is_foreign(TEXTS[language])


@pytest.mark.parametrize("language", FOREIGN)
def test_one_paragraph_in_another_language_is_enough(language: str) -> None:
    for text in (f"{TEXTS[language]}\n\n{ENGLISH}{ENGLISH}", f"{ENGLISH}{ENGLISH}\n\n{TEXTS[language]}"):
        assert not is_english(text)


@pytest.mark.parametrize("text", ["", " \n", "ok", "The file is there.", "x" * 5000, MARKUP, LOG, "\x00" * 600])
def test_what_belongs_to_no_language_is_not_english(text: str) -> None:
    assert not is_english(text)


def test_the_verdict_is_stable() -> None:
    assert {is_english(ENGLISH) for _ in range(5)} == {True}
    assert {is_english(TEXTS["German"]) for _ in range(5)} == {False}
