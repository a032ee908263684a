"""Line beginnings that would pass a text off as a person's: `U:`, however it is written or marked."""

import re
from unicodedata import normalize

from services.domain.texts.bounds import flat

_NUMBER = r"[^\W\d_]{1,4}[.)\uff0e\uff09\u3001]"
"""The number of a list, in letters. One in digits consists of no letters."""
_SPECIAL = r"[^\x00-\x7f\u0400-\u052f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
"""Any character but those of plain Latin, Cyrillic, Chinese, Japanese and Korean words."""
_BEFORE = re.compile(rf"(?:[\W\d_]|{_SPECIAL}|{_NUMBER})*+[^\W\d_]?[\W_]*+\u02d0?")
"""The beginning of a text, up to its second letter of a plain word: nothing behind that can set it as a person's
words."""
_U = r"u[\W_]*:"
_POSING = re.compile(rf"(?:(?:(?!{_U})(?:[\W\d_]|{_NUMBER}))*+{_U})++\s?", re.IGNORECASE)
_ALIKE = {
    **dict.fromkeys(map(ord, "\U0001f164\U0001f184\U0001f1fa\u054d\u057d"), "u"),
    **dict.fromkeys(map(ord, "\u2236\ua789\u02d0"), ":"),
}
"""Characters that look like the letter or the colon, and are no form of it."""


def unposed(text: str) -> str:
    """On one line, without what would set it as a person's words where a line begins with it."""
    plain = flat(text)
    at = 0
    while (before := _BEFORE.match(plain, at)) and (posing := _POSING.match(_folded(before[0]))):
        at += posing.end()
    return plain[at:].lstrip() if at else plain


def unposed_line(line: str) -> str:
    """The line as it is, or as an item of a list where it would be set as a person's words; empty without any other."""
    plain = unposed(line)
    return line if plain == flat(line) else f"- {plain}" if plain else ""


def _folded(text: str) -> str:
    """The same with one plain character for each."""
    return text if text.isascii() else "".join(map(_plain, text))


def _plain(character: str) -> str:
    """The character without what is special about its form; of several the letter, as in `(u)`."""
    plain = normalize("NFKC", _ALIKE.get(ord(character), character))
    letter = next(filter(str.isalpha, plain), "")
    return letter or (" " if plain[0].isnumeric() else plain[0])
