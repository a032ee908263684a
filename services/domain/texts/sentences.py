"""Sentences, one by one: where they end, what they say, and whether two say the same."""

import re

from services.domain.texts import phrase_patterns

SHORTEST, LONGEST = 12, 420
"""UTF-8 bytes from which on a sentence is understood by itself, and characters that are taken of one."""
FEW, FEWEST = 4, 2
"""Words that a sentence has at least, with and without those in back quotes."""
SPEECH = 0.75
"""The share of letters, from which on a line is no data."""
EXCLAIMED, SHORT = 4, 45
"""Words and characters up to which an exclamation before other sentences says nothing, unless it is a rule."""
_PASTED = re.compile(
    r"^\s*(?:at \S+ ?\(|\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|[\w.]+Error:|Traceback|[$>%] |\d+: )|\S:\d+:\d|[;{}]$|=>"
)
_END = re.compile(r"(?<=[.!?…])[)\"'”\u2019]*\s+(?=[^\s\d.,;:])|(?<=[。\uff01\uff1f])\s*")
LONGEST_PIECE = 2_000
"""Characters from which on a sentence ends wherever a piece does."""
_ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|z\.B|d\.h|bzw)|(?<!-)\b\w)\.$", re.IGNORECASE)
_CODE = re.compile(r"`[^`]*`")
_WORD = re.compile(r"\w+")


def split(line: str) -> list[str]:
    """Sentences. One that is too short to say anything goes with the next; an exclamation before others is left out."""
    found: list[str] = []
    pending = ""
    *openers, last = _END.split(line)
    for piece in [one for one in openers if not _exclaimed(one)] + [last]:
        pending = f"{pending} {piece}".strip()
        if _ends(pending):
            found.append(pending)
            pending = ""
    if pending and found and len(pending.encode()) < SHORTEST:
        found[-1] += f" {pending}"
    elif pending:
        found.append(pending)
    return found


def _ends(pending: str) -> bool:
    """Whether a sentence ends here, and no abbreviation, nor a piece of code."""
    if len(pending) > LONGEST_PIECE:
        return True
    return (
        len(pending.encode()) >= SHORTEST
        and not _ABBREVIATED.search(pending[-SHORTEST:])
        and not pending.count("`") % 2
    )


def is_fence(line: str) -> bool:
    """Whether code begins or ends with it."""
    return line.startswith(("```", "~~~"))


def is_speech(line: str) -> bool:
    """Whether a person may have put it in words: no code, no data and no logs."""
    letters = sum(one.isalpha() for one in line)
    return letters >= SPEECH * len(line.replace(" ", "")) and not _PASTED.search(line)


def is_informative(sentence: str) -> bool:
    """Whether there are words in it, not only names and code."""
    return len(words(sentence)) >= FEW and len(words(_CODE.sub("", sentence))) >= FEWEST


def words(text: str) -> frozenset[str]:
    """Its words in small letters; of scripts without blanks, pairs of characters."""
    found: set[str] = set()
    for word in _WORD.findall(text.lower()):
        if word.isascii() or len(word) < 3 or word[0] < "\u2e80":  # noqa: PLR2004
            found.add(word)
        else:
            found.update(word[at : at + 2] for at in range(len(word) - 1))
    return frozenset(found)


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the shorter text's words that the other one has, 0 to 1."""
    return len(one & other) / max(1, min(len(one), len(other)))


def _exclaimed(piece: str) -> bool:
    is_short = len(piece.split()) <= EXCLAIMED and len(piece) <= SHORT
    return is_short and piece.endswith(("!", "\uff01")) and not phrase_patterns.RULE.search(piece)
