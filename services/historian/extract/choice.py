"""Which sentences there is room for, and how they are set: in their order, what stands together on one line."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from services.historian.extract.points import AGENT, PERSON, Point
from services.historian.extract.sentences import alike, words
from services.kit.history.clean import beginning

SAME, EQUAL = 0.7, 0.95
"""Sentences that share so much of their words say the same, and items of lists, which are often much alike."""
LEAST = 120
"""Bytes from which on it is worth to cut what there is no room for."""
SHORT_LIST = 160
"""Characters up to which a list is set on one line."""
_SET = 5
"""Bytes that it takes to set a sentence."""
_STOPS = " .;,\u3002\uff1b\uff0c"


def chosen(points: Sequence[Point], room: int) -> list[Point]:
    """The weightiest that do not repeat each other and fit in so many bytes, in their order."""
    taken: dict[int, Point] = {}
    known: dict[str, list[frozenset[str]]] = {}
    heads: set[tuple[str, int]] = set()
    for at in sorted(range(len(points)), key=lambda at: (-points[at].weight, at)):
        point = points[at]
        if point.weight <= 0:
            break
        own = words(f"{point.head} {point.text}") if point.listed else words(point.text)
        key = (point.who, point.passage)
        left = room - (0 if key in heads else len(point.head.encode()) + _SET) - _SET
        fitting = _fitting(point, left)
        others = known.get(point.who, []) if point.who else []
        if fitting is None or any(alike(own, other) >= (EQUAL if point.listed else SAME) for other in others):
            continue
        taken[at] = fitting
        known.setdefault(point.who, []).append(own)
        heads.add(key)
        room = left - len(fitting.text.encode())
    return [taken[at] for at in sorted(taken)]


def lines(points: Sequence[Point]) -> list[str]:
    """These in their order, as text."""
    found: list[str] = []
    before = ("", "")
    for (who, _), each in groupby(points, key=lambda one: (one.who, one.passage)):
        group = list(each)
        found += _set(who, group, "" if (who, group[0].head) == before else group[0].head)
        before = (who, group[0].head)
    return found


def _fitting(point: Point, room: int) -> Point | None:
    """The point, or the beginning of it; none where there is no room."""
    size = len(point.text.encode())
    if size <= room:
        return point
    if room < LEAST:
        return None
    cut = beginning(point.text, room * len(point.text) // size - 2)
    return Point(cut, point.weight, point.at, point.who, point.passage, point.number, point.head, point.listed)


def _set(who: str, group: Sequence[Point], head: str) -> Iterator[str]:
    """What stands together; `head` is empty where it was told right before."""
    lead = f"{head}: " if head else ""
    if who == PERSON:
        yield f"U: {lead}{_quoted(group)}"
    elif who != AGENT:
        yield from (one.text for one in group)
    elif not group[0].listed:
        yield f"- {lead}{' '.join(one.text for one in group)}"
    elif head and (len(group) == 1 or sum(len(one.text) for one in group) <= SHORT_LIST):
        yield f"- {lead}{_joined(group)}"
    else:
        yield from [f"- {lead.rstrip()}"] if head else []
        yield from (f"{'  ' * bool(group[0].head)}- {one.text}" for one in group)


def _joined(group: Sequence[Point]) -> str:
    return "; ".join(one.text.rstrip(_STOPS) for one in group)


def _quoted(group: Sequence[Point]) -> str:
    """A person's words, with a sign where some are left out."""
    text = ""
    before = -1
    for one in group:
        is_gap = one.number != before + 1 and bool(text)
        between = " … " if is_gap else "; " if one.listed else " "
        text = f"{text.rstrip(_STOPS) if one.listed else text}{between}{one.text}" if text else one.text
        before = one.number
    return text
