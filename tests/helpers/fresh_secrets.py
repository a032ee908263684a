"""Secrets that nobody has listed: made by walking through the expression of a rule, at random and repeatably."""

import math
import string
from collections import Counter
from collections.abc import Iterable
from random import Random
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import NamedTuple

from services.domain.secrets.rules import SecretRule

PRINTABLE = string.ascii_letters + string.digits + string.punctuation
BLANK = " \t\n"
WORD = string.ascii_letters + string.digits + "_"
MORE = 40
"""So many more than the least a repetition without a bound has at most."""
TRIES = 200
CATEGORIES = {
    codes.CATEGORY_DIGIT: string.digits,
    codes.CATEGORY_WORD: WORD,
    codes.CATEGORY_SPACE: BLANK,
    codes.CATEGORY_NOT_SPACE: PRINTABLE,
}
AS_PYTHON = {
    "(?i:": "(?:",
    "(?-i:": "(?:",
    "(?i)": "",
    "(?s:.)": r"[\s\S]",
    "[[:alnum:]]": "[A-Za-z0-9]",
    r"\z": r"\Z",
}


class FreshSecret(NamedTuple):
    """A secret, and what surrounds it in a text that the rule finds it in."""

    name: str
    """Of the issuer, as the rule knows it; `service` where the secret alone is enough."""
    secret: str
    match: str


def fresh_secret(rule: SecretRule, chance: Random) -> FreshSecret:
    """A secret that the rule is for, as random as the rule demands."""
    for _ in range(TRIES):
        walk = _Walk(chance)
        match = walk.text(parser.parse(_as_python(rule.regex)))
        start, end = _secret(rule, walk.groups, match)
        secret = match[start:end]
        if _entropy(secret) > rule.entropy:
            return FreshSecret(_name(rule, match[:start], secret), secret, match)
    raise AssertionError(f"{rule.id} found nothing random enough in {TRIES} tries")


def _as_python(pattern: str) -> str:
    for go, python in AS_PYTHON.items():
        pattern = pattern.replace(go, python)
    return pattern


class _Walk:
    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.groups: dict[int, tuple[int, int]] = {}
        self.length = 0
        self.depth = 0

    def text(self, nodes: Iterable[tuple[object, object]]) -> str:
        return "".join([self._piece(code, value) for code, value in nodes])

    def _piece(self, code: object, value: object) -> str:
        match code, value:
            case codes.LITERAL, int(one):
                return self._made(chr(one))
            case codes.ANY, _:
                return self._made(self.chance.choice(WORD))
            case codes.IN, list(items):
                return self._made(self.chance.choice(_characters(items)))
            case codes.BRANCH, (_, branches):
                return self.text(self.chance.choice(branches))
            case codes.SUBPATTERN, (group, _, _, inner):
                return self._group(group, inner)
            case ((codes.MAX_REPEAT | codes.MIN_REPEAT), (least, most, inner)):
                return "".join(self.text(inner) for _ in range(self._times(code, int(least), int(most))))
            case codes.AT, _:
                return ""
        raise AssertionError(f"there is no way to walk through {code}: add one to _piece")

    def _times(self, code: object, least: int, most: int) -> int:
        if code is codes.MIN_REPEAT or not (self.depth or least):  # what may be left out around a secret is
            return least
        return self.chance.randint(least, min(most, least + MORE))

    def _group(self, group: int | None, inner: Iterable[tuple[object, object]]) -> str:
        start = self.length
        self.depth += group is not None
        text = self.text(inner)
        self.depth -= group is not None
        if group is not None:
            self.groups[group] = (start, self.length)
        return text

    def _made(self, text: str) -> str:
        self.length += len(text)
        return text


def _characters(items: list[tuple[object, object]]) -> str:
    found: set[str] = set()
    negated = items[0][0] is codes.NEGATE
    for code, value in items:
        match code, value:
            case codes.LITERAL, int(one):
                found.add(chr(one))
            case codes.RANGE, (int(low), int(high)):
                found |= {chr(one) for one in range(low, high + 1)}
            case codes.CATEGORY, category:
                found |= set(CATEGORIES[category])
    chosen = set(PRINTABLE) - found if negated else found
    return "".join(sorted(chosen - set(BLANK)) or sorted(chosen))


def _secret(rule: SecretRule, groups: dict[int, tuple[int, int]], match: str) -> tuple[int, int]:
    """The group that is the rule's secret; the whole where the groups are pieces in the middle of a token."""
    group = groups.get(rule.secret_group or min(groups, default=0))
    if group and len(match) - group[1] <= 2:
        return group
    return 0, len(match)


def _name(rule: SecretRule, before: str, secret: str) -> str:
    name = before[: len(before) - len(before.lstrip(WORD + ".-"))]
    is_enough = any(one.lower() in secret.lower() for one in rule.keywords)
    return name or ("service" if is_enough else rule.keywords[-1])


def _entropy(secret: str) -> float:
    return -sum(n / len(secret) * math.log2(n / len(secret)) for n in Counter(secret).values())
