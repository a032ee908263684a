"""Memories that no task of the dreamer touches, and those that are worth keeping though nobody asked for it."""

from __future__ import annotations

from collections import Counter
from unicodedata import normalize

from services.domain.senders import PEOPLE
from services.memory.classes import MemoryClass
from services.memory.entry import Memory
from services.memory.sameness import set_of, words_of

_NEVER_ARCHIVED: frozenset[MemoryClass] = frozenset({"feedback", "project"})
"""Rules, and what is true of the project for now: its environment, and its known faults."""
_CONSTRAINTS = "CONSTRAINTS"
BINDING = frozenset(
    [
        "must",
        "never",
        "always",
        "only",
        "not",
        "no",
        "without",
        "should",
        "shall",
        "cannot",
        "required",
        "forbidden",
        "unless",
        "avoid",
        "muss",
        "müssen",
        "nie",
        "niemals",
        "immer",
        "nur",
        "nicht",
        "kein",
        "keine",
        "ohne",
        "darf",
        "jamais",
        "toujours",
        "seulement",
        "pas",
        "sans",
        "doit",
        "nunca",
        "siempre",
        "solo",
        "sin",
        "debe",
        "sempre",
        "não",
        "sem",
        "mai",
        "нельзя",
        "никогда",
        "всегда",
        "только",
        "не",
        "без",
        "不",
        "别",
        "別",
        "勿",
        "必",
        "禁",
    ]
)
"""Words of a text that binds: that orders, forbids or demands something."""
WHY = frozenset(
    [
        "because",
        "since",
        "so",
        "therefore",
        "prevent",
        "prevents",
        "avoids",
        "reason",
        "rationale",
        "why",
        "otherwise",
        "weil",
        "damit",
        "denn",
        "deshalb",
        "parce",
        "afin",
        "porque",
        "para",
        "perché",
        "чтобы",
        "потому",
        "因",
        "为",
        "為",
    ]
)
"""Words of a text that gives a reason."""
LESSON = frozenset(
    [
        "failed",
        "fails",
        "failure",
        "broke",
        "breaks",
        "broken",
        "crash",
        "crashes",
        "crashed",
        "lesson",
        "incident",
        "outage",
        "regression",
        "bug",
        "workaround",
        "turned",
        "learned",
        "careful",
        "warning",
        "gotcha",
    ]
)
"""Words of a text about what somebody has learned at a cost."""
_WITHIN = (
    "ない",
    "なけれ",
    "ません",
    "べき",
    "ため",
    "않",
    "말아",
    "지 마",
    "말 것",
    "금지",
    "반드시",
    "항상",
    "절대",
    "때문",
)
"""Parts of words that bind or give a reason: Japanese parts none by blanks, and Korean adds endings to its own."""


def is_of_people(memory: Memory) -> bool:
    """Whether only a person may change it: it is a person's own words, or pinned."""
    return memory.trust in PEOPLE or memory.is_pinned


def is_worth_keeping(memory: Memory) -> bool:
    """Whether it stays, however old it is and whatever it names."""
    return (
        is_of_people(memory)
        or memory.importance == "high"
        or memory.memory_class in _NEVER_ARCHIVED
        or memory.category == _CONSTRAINTS
        or memory.seen > 1
        or memory.reinforced > 0
        or is_weighty(memory.text)
    )


def is_weighty(text: str) -> bool:
    """Whether a text binds, gives a reason, or names a lesson."""
    return bool(weights_of(text)) or not LESSON.isdisjoint(set_of(text))


def weights_of(text: str) -> Counter[str]:
    """The words of a text that bind or give a reason, and how often each is there."""
    plain = "" if text.isascii() else normalize("NFC", text)
    found = Counter(word for word in words_of(text) if word in BINDING or word in WHY)
    return found + Counter({part: plain.count(part) for part in _WITHIN})
