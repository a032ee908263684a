"""The class of a memory, which says how strong it begins, and when it is stale; and its category.

The category is what people and agents choose (`schemas.events.fact.CATEGORIES`). The class follows from it, unless
whoever wrote it gives one. No category leads to the class `project`, what is true of the project for now: it comes from
candidates that name it, from requests about the project, and from imported ENVIRONMENT and KNOWN_ISSUES.
"""

import re
from typing import Literal, TypeGuard

import msgspec

from schemas.events.fact import CATEGORIES

MemoryClass = Literal["feedback", "decision", "project", "reference"]
CLASSES: tuple[MemoryClass, ...] = ("feedback", "project", "decision", "reference")
"""In the order in which they are shown."""


class ClassRule(msgspec.Struct, frozen=True):
    """The rule for all memories of a class."""

    factor: float
    """Of the strength that it begins with."""
    stale_after_days: int | None
    """Age from which on a memory should be verified; none: never."""


RULES: dict[MemoryClass, ClassRule] = {
    "feedback": ClassRule(factor=2.25, stale_after_days=None),
    "project": ClassRule(factor=1.25, stale_after_days=60),
    "decision": ClassRule(factor=2.5, stale_after_days=45),
    "reference": ClassRule(factor=1.0, stale_after_days=90),
}

_CLASS_OF: dict[str, MemoryClass] = {
    "PROJECT_RULES": "feedback",
    "ARCHITECTURE": "decision",
    "CONSTRAINTS": "decision",
    "NAMING": "decision",
    "CONFIG_VALUES": "reference",
}


class Placement(msgspec.Struct, frozen=True):
    """The place of a memory."""

    category: str
    """Of CATEGORIES."""
    memory_class: MemoryClass
    expires_after_days: int | None = None
    """Days after which it expires; None: it lasts until someone takes it back."""


_IMPORTED: dict[str, Placement] = {
    "USER_DIRECTIVES": Placement("PROJECT_RULES", "feedback"),
    "USER_PREFERENCES": Placement("PROJECT_RULES", "feedback"),
    "ARCHITECTURE_DECISIONS": Placement("ARCHITECTURE", "decision"),
    "CONSTRAINTS": Placement("CONSTRAINTS", "decision"),
    "WORKFLOW_RULES": Placement("PROJECT_RULES", "decision", expires_after_days=90),
    "NAMING": Placement("NAMING", "decision"),
    "CONFIG_DEFAULTS": Placement("CONFIG_VALUES", "reference"),
    "ENVIRONMENT": Placement("CONFIG_VALUES", "project"),
    "KNOWN_ISSUES": Placement("CONSTRAINTS", "project", expires_after_days=30),
}

_DIRECTIVE = re.compile(r"\b(?:always|never|must|from now on)\b", re.IGNORECASE)
_FLOW = re.compile(
    r"\b(?:commit(?:s|ted|ting)?|tests?|testing|review(?:s|ed|ers?|ing)?|branch(?:es)?|PRs?|pull requests?"
    r"|merge requests?)\b",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"\b(?:names?|named|naming|prefix(?:es|ed)?|suffix(?:es|ed)?|snake_case|camelCase|PascalCase|kebab-case)\b|命名",
    re.IGNORECASE,
)
_ONLY = re.compile(r"\b(?:must not|mustn['\u2019]t|only|never)\b", re.IGNORECASE)


def is_class(name: str) -> TypeGuard[MemoryClass]:
    """Whether this names a class."""
    return name in CLASSES


def placed(category: str) -> Placement | None:
    """The place of a memory of this category, which may be one of the nine older ones; none for what is neither."""
    if category in CATEGORIES and category not in _IMPORTED:
        return Placement(category, _CLASS_OF[category])
    return _IMPORTED.get(category)


def placed_by_class(memory_class: MemoryClass, text: str) -> Placement:
    """The place of a memory that names only its class, by what it is about."""
    found = _IMPORTED[_older_category(memory_class, text)]
    return msgspec.structs.replace(found, memory_class=memory_class, expires_after_days=None)


def _older_category(memory_class: MemoryClass, text: str) -> str:
    match memory_class:
        case "feedback":
            return "USER_DIRECTIVES" if _DIRECTIVE.search(text) else "USER_PREFERENCES"
        case "project":
            return "ENVIRONMENT"
        case "reference":
            return "CONFIG_DEFAULTS"
        case "decision":
            if _FLOW.search(text):
                return "WORKFLOW_RULES"
            if _NAMES.search(text):
                return "NAMING"
            return "CONSTRAINTS" if _ONLY.search(text) else "ARCHITECTURE_DECISIONS"
