"""The strength of a memory: it begins by its class and source, halves with its age, and is renewed by sightings.

Ages are days. Nothing here reads a clock: the moment at which strength is asked for comes in as a value, so the same
log gives the same strengths on every replica.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import accumulate, groupby
from typing import Literal, NamedTuple

import msgspec

from services.memory.classes import RULES, MemoryClass
from services.memory.entry import Memory

DAY = timedelta(days=1)
SECONDS = 86_400
"""Of a day."""

SOURCE_FACTORS = {"explicit": 2.0, "reported": 2.0, "manual": 1.4, "compaction": 1.0}
"""By how a memory came in: by a person's own words, by those that a harness reports, by a tool that an agent called,
or by what was read off."""
SOURCE_PRIORITY = {"explicit": 4, "reported": 3, "manual": 2, "compaction": 1}
IMPORTANCE_FACTORS = {"low": 0.7, "normal": 1.0, "high": 1.5}
STALE_FACTOR = 0.5
"""Of the strength of what has expired or was found to hold no more."""
SOURCE_OF = {
    "person": "explicit",
    "person_by_harness": "reported",
    "agent": "manual",
    "summary": "compaction",
    "historian": "compaction",
    "dreamer": "compaction",
    "tool_output": "compaction",
}
"""Trust -> the source by which a memory of that trust came in."""


class Pace(msgspec.Struct, frozen=True):
    """The pace at which memories fade, and how they are renewed."""

    half_life_days: float = 45.0
    growth: float = 0.85
    """The divisor of the half-life for each time that a memory was renewed."""
    most_renewals: int = 6
    """The number of renewals that lengthen the half-life."""
    window_days: float = 7.0
    """Days between two renewals that count."""
    dormant_after_days: float = 14.0
    """Days without any work in the project from which on it is dormant."""
    dormant_share: float = 0.25
    """The share of their pace at which memories age while the project is dormant."""


PACE = Pace()

Interval = tuple[float, float]
"""Days on one scale in which the project was dormant: they begin when the grace without work had passed."""


@cache
def initial(memory_class: MemoryClass, trust: str, importance: str = "normal") -> float:
    """The strength that a memory begins with. An unknown trust or importance counts as 1."""
    source = SOURCE_OF.get(trust, "")
    return RULES[memory_class].factor * SOURCE_FACTORS.get(source, 1.0) * IMPORTANCE_FACTORS.get(importance, 1.0)


@cache
def half_life(renewals: int, pace: Pace = PACE) -> float:
    """Days in which a memory that was renewed so often loses half of its strength."""
    return pace.half_life_days / pace.growth ** min(max(renewals, 0), pace.most_renewals)


class _Asleep:
    """The days of dormancy up to a moment, summed up once for thousands of memories."""

    def __init__(self, dormant: Sequence[Interval], now: float) -> None:
        spans: list[Interval] = []
        for begin, end in sorted(dormant):
            first, last = max(begin, spans[-1][1] if spans else begin), min(end, now)
            if last > first:
                spans.append((first, last))
        self._begins = [first for first, _ in spans]
        self._ends = [last for _, last in spans]
        behind = accumulate((last - first for first, last in reversed(spans)), initial=0.0)
        self._behind = [*behind][::-1]
        """The days in each span and in all behind it."""

    def since(self, start: float) -> float:
        """The number of dormant days after this day."""
        at = bisect_right(self._ends, start)
        begun = start - self._begins[at] if at < len(self._begins) else 0.0
        return self._behind[at] - begun if begun > 0 else self._behind[at]


def dormancy(last_work: float, until: float, pace: Pace = PACE) -> Interval | None:
    """The days of dormancy between the last work and this day; none where the grace has not passed."""
    begin = last_work + pace.dormant_after_days
    return (begin, until) if until > begin else None


class Fading(NamedTuple):
    """The parameters of a memory's strength, whatever the moment."""

    begins: float
    since: float
    """The day on which it began to fade."""
    half_life: float
    """Days; infinite for what does not fade."""


def fading_of(memory: Memory, pace: Pace = PACE) -> Fading:
    """The fading of a memory. What is pinned does not fade."""
    begins = initial(memory.memory_class, memory.trust, memory.importance)
    half = math.inf if memory.is_pinned else half_life(memory.reinforced, pace)
    return Fading(begins * STALE_FACTOR if memory.verification == "stale" else begins, days(memory.clock), half)


def strength(memory: Memory, at: datetime, dormant: Sequence[Interval] = (), pace: Pace = PACE) -> float:
    """The strength of a memory at this moment; `dormant` as `dormant_days` gives it."""
    (found,) = strengths([fading_of(memory, pace)], at, dormant, pace)
    return found


def strengths(
    fadings: Iterable[Fading], at: datetime, dormant: Sequence[Interval] = (), pace: Pace = PACE
) -> list[float]:
    """The strengths at this moment of memories that fade like this. There may be thousands: here each step counts."""
    now = days(at)
    if not dormant:
        return [begins * 2.0 ** ((since - now) / half) if since < now else begins for begins, since, half in fadings]
    asleep, saved = _Asleep(dormant, now), 1 - pace.dormant_share
    return [
        begins * 2.0 ** ((since - now + saved * asleep.since(since)) / half) if since < now else begins
        for begins, since, half in fadings
    ]


def days(moment: datetime) -> float:
    """A moment as days since 1970 in UTC."""
    return moment.timestamp() / SECONDS


def dormant_days(
    pauses: Iterable[tuple[datetime, datetime]], last_work: datetime | None, at: datetime, pace: Pace = PACE
) -> list[Interval]:
    """The dormancy of a project in days: the pauses that are known, and the one that may last since the last work."""
    found = [(days(since), days(until)) for since, until in pauses]
    lasting = dormancy(days(last_work), days(at), pace) if last_work else None
    return [*found, lasting] if lasting else found


Rank = tuple[bool, float, int, float, str]


def rank(memory: Memory, of_strength: float) -> Rank:
    """A key that sorts memories as they are shown: pinned, strong, well sourced and new ones first."""
    priority = SOURCE_PRIORITY.get(SOURCE_OF.get(memory.trust, ""), 0)
    return not memory.is_pinned, -of_strength, -priority, -days(memory.created), memory.id


def ranked(
    memories: Iterable[Memory],
    at: datetime,
    dormant: Sequence[Interval] = (),
    pace: Pace = PACE,
    fadings: Iterable[Fading] | None = None,
) -> list[Memory]:
    """Memories in the order in which they are shown at this moment; `fadings` are theirs, where they are known.

    Of thousands few are equally strong: only for those the other criteria are compared.
    """
    found = list(memories)
    of = strengths(fadings or (fading_of(one, pace) for one in found), at, dormant, pace)
    order = sorted(range(len(found)), key=of.__getitem__, reverse=True)
    if len({*of}) < len(of):
        order = _ties_broken(order, of, found)
    strongest = [found[place] for place in order]
    pinned = [one for one in strongest if one.is_pinned]
    return [*pinned, *(one for one in strongest if not one.is_pinned)] if pinned else strongest


def _ties_broken(order: Iterable[int], of: Sequence[float], found: Sequence[Memory]) -> list[int]:
    """The same order, in which those that are equally strong have one as well."""
    apart: list[int] = []
    for of_strength, equals in groupby(order, key=of.__getitem__):
        members = [*equals]
        apart += members if len(members) == 1 else sorted(members, key=lambda at: rank(found[at], of_strength))
    return apart


Renewal = Literal["increment", "refresh_only", "blocked"]
"""The effect of seeing a memory again. It is blocked where the memory was renewed shortly before, whoever sees it."""


def renewal(renewals: int, last: datetime | None, at: datetime, *, pace: Pace = PACE) -> Renewal:
    """The effect of seeing a memory again now that was renewed so often, and at `last` for the last time."""
    if last is not None and at - last < pace.window_days * DAY:
        return "blocked"
    return "increment" if renewals < pace.most_renewals else "refresh_only"
