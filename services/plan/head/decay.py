"""The decay of compartments: the older and the less important one is, the shorter the tier that it is shown in.

A compartment's half-life is H = 24 * 2^((importance - 50) / 25) / pressure, counted in compartments, and z = age / H.
The bounds between the tiers are the geometric means of what neighbouring tiers cost on average.
"""

from bisect import bisect_right
from collections.abc import Sequence

BOUNDS = (0.201, 0.729, 1.322)
"""The bounds of z between the tiers: up to the first one the fullest tier is shown, up to the second the next, up to
the third the third, and beyond it the fourth."""
ARCHIVED_FROM = 2.587
"""The z from which on a compartment is not shown at all."""
HALF_LIFE = 24.0
LEAST_PRESSURE = 0.1
TIERS = 4
ARCHIVED = TIERS + 1
"""The tier of what is not shown."""


def half_life(importance: int, pressure: float = 1.0) -> float:
    """In compartments: 24 at importance 50, twice that for each 25 more."""
    bounded = min(100, max(1, importance))
    return float(HALF_LIFE * 2 ** ((bounded - 50) / 25)) / max(LEAST_PRESSURE, pressure)


def faded(age: int, importance: int, pressure: float = 1.0) -> float:
    """z: how far it has faded. `age`: the number of newer compartments."""
    return age / half_life(importance, pressure)


def tier(z: float) -> int:
    """1 (fullest) to 4, or `ARCHIVED`."""
    return ARCHIVED if z >= ARCHIVED_FROM else 1 + bisect_right(BOUNDS, z)


def tiers(costs: Sequence[Sequence[int]], importance: Sequence[int], budget: int) -> tuple[int, ...]:
    """The tier of each compartment, oldest first. `costs`: of each in its four tiers, in the unit of the budget.

    Pressure alone archives nothing. Where it still costs too much, those that have faded most (of equal importance the
    oldest) are demoted to the last tier, each to the end before the next is touched, and archived only if that is not
    enough. Where room is left, those that have faded least get a fuller tier.
    """
    ages = range(len(costs) - 1, -1, -1)
    natural = [tier(faded(age, one)) for age, one in zip(ages, importance, strict=True)]
    pressure = max(LEAST_PRESSURE, total(costs, natural) / budget) if budget > 0 else 1.0
    faint = [faded(age, one, pressure) for age, one in zip(ages, importance, strict=True)]
    order = freshest(importance, pressure)
    levels = [ARCHIVED if one == ARCHIVED else min(TIERS, tier(z)) for one, z in zip(natural, faint, strict=True)]
    for lowest in (TIERS, ARCHIVED):
        _demote(costs, levels, budget, order[::-1], lowest)
    _promote(costs, levels, budget, order)
    return tuple(levels)


def freshest(importance: Sequence[int], pressure: float = 1.0) -> list[int]:
    """The places of compartments, those that have faded least before others."""
    faint = [faded(len(importance) - 1 - at, one, pressure) for at, one in enumerate(importance)]
    return sorted(range(len(importance)), key=lambda at: (faint[at], -at))


def total(costs: Sequence[Sequence[int]], levels: Sequence[int]) -> int:
    """The cost of all of them together; the archived cost nothing."""
    return sum(_cost(one, at) for one, at in zip(costs, levels, strict=True))


def _cost(costs: Sequence[int], level: int) -> int:
    return 0 if level == ARCHIVED else costs[level - 1]


def _demote(costs: Sequence[Sequence[int]], levels: list[int], budget: int, order: Sequence[int], lowest: int) -> None:
    """Take from them what is too much, one after the other."""
    over = total(costs, levels) - budget
    for at in order:
        while over > 0 and levels[at] < lowest:
            over -= _cost(costs[at], levels[at]) - _cost(costs[at], levels[at] + 1)
            levels[at] += 1


def _promote(costs: Sequence[Sequence[int]], levels: list[int], budget: int, order: Sequence[int]) -> None:
    """Give them what room is left for, one after the other."""
    room = budget - total(costs, levels)
    for at in order:
        while levels[at] > 1:
            more = _cost(costs[at], levels[at] - 1) - _cost(costs[at], levels[at])
            if more > room:
                break
            room -= more
            levels[at] -= 1
