"""Numbers as ranges, as people and agents write them: `3-5, 8`."""

import re
from collections.abc import Iterable

MAX_ECHO = 40
"""Characters of a wrong item that are repeated in the answer."""

_ITEM = re.compile(r"\s*([0-9]{1,18})\s*(?:(-)\s*([0-9]{0,18})\s*)?", re.ASCII)


class BadRange(ValueError):
    """A text that names no numbers; says what is wrong and what would be right."""


def ends_of(item: str, remedy: str) -> tuple[int, int]:
    """`3-5` as its two ends, and `3` as both of them. Raises `BadRange`; `remedy` ends the sentence about no range."""
    found = _ITEM.fullmatch(item)
    if found is None or (found[2] and not found[3]):
        raise BadRange(f"{item.strip()[:MAX_ECHO]!r} {remedy}")
    first, last = int(found[1]), int(found[3] or found[1])
    if last < first:
        raise BadRange(f'the range {item.strip()!r} runs backwards: write "{last}-{first}"')
    return first, last


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The first and the last of each run of neighbours, in ascending order."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and number <= found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def ranges(numbers: Iterable[int], most: int = 0) -> str:
    """Numbers as text, `3-5, 8`; with a sign behind the first `most` ranges where there are more. 0: all of them."""
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in runs(numbers)]
    return ", ".join([*texts[:most], "…"] if most and len(texts) > most else texts)
