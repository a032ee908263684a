"""What no task of the dreamer touches, and what is worth keeping though nobody has asked for it."""

from __future__ import annotations

from services.domain.senders import PEOPLE
from services.memory.classes import MemoryClass
from services.memory.entry import Memory
from services.memory.sameness import words_of

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
        "勿",
        "必",
        "禁",
        "ない",
        "않",
    ]
)
"""Words of something that binds ..."""
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
"""... of a reason for it ..."""
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
"""... and of what somebody has learned at a cost."""


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
        or not (BINDING | WHY | LESSON).isdisjoint(words_of(memory.text))
    )
