"""The terminal: all that a command prints goes through here, so that what came from outside can only be read.

Session titles, messages, file names and the words of other programs may hold sequences that move a cursor, set a
clipboard, hide text or turn it around.
"""

import sys
import unicodedata

import msgspec

_LAYOUT = frozenset("\n\t")
_JOINERS = frozenset("\u200c\u200d")
"""Between letters of Persian or Hindi they belong to the spelling, and no terminal does anything by them."""


def printable(text: str) -> str:
    r"""The text with everything spelled out (`\x1b`, `\u202e`) that is no visible character, blank or end of a line."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(one if _is_visible(one) else one.encode("unicode_escape").decode() for one in text)


def _is_visible(character: str) -> bool:
    return (
        character.isprintable()
        or character in _LAYOUT
        or character in _JOINERS
        or unicodedata.category(character) == "Zs"
    )


def write(text: str) -> None:
    """Print a text, and end its line."""
    sys.stdout.write(f"{printable(text)}\n")


def prompt(text: str) -> None:
    """Print a question, and leave the line open for its answer."""
    sys.stdout.write(printable(text))
    sys.stdout.flush()


def write_json(value: object) -> None:
    """Print a value for programs, as one line of JSON."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")


def write_file(text: str) -> None:
    """Print what is to be a file: as it is, but on a terminal."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def write_error(text: str) -> None:
    """Print what went wrong, as the command that it is."""
    sys.stderr.write(f"annals: {printable(text)}\n")


def write_note(text: str) -> None:
    """Print a note on the result of a command."""
    sys.stderr.write(f"{printable(text)}\n")
