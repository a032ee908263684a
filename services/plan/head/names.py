"""The names that a history remembers: chosen over all compartments, and listed by the file that defines them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from math import log

import msgspec

from schemas.events import CompartmentSealed
from services.domain.texts.bounds import flat
from services.domain.texts.markup import escaped
from services.domain.tools.todos import STATUSES
from services.domain.transcript.names import base, end_of

HEADING = "## Names, by file"
ELSEWHERE = "elsewhere"
OFTEN, RANK = 100, 80
"""A name at this place of its compartment's list was used as often as `OFTEN / (place + RANK)`. What counts is the
logarithm of the sum."""
LATE = 0.25
"""The addend for the newest compartment. With 1, what is needed long after it was shown finds no room."""
CONSIDERED = 20_000
"""Names that are considered, as many of each compartment: those behind them would not be listed anyway."""
LEAST = 8
"""Bytes with which nothing more can be listed."""
HOME = "#"
"""Between a file and what is at home in it."""


class RankedNames(msgspec.Struct, frozen=True):
    """Files and names in them, the most telling first: used often, late, and short."""

    order: list[str]
    homes: dict[str, dict[str, float]]
    """Name -> the files that it is at home in, with how often it was used there; an empty path: in none."""

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Each as the file and the name in it; a file alone has no name in it."""
        for name in self.order:
            for home in _best(name, self.homes[name]):
                yield escaped(flat(home)), "" if base(home) == name else escaped(flat(name))


def ranked(sealed: Sequence[CompartmentSealed]) -> RankedNames:
    """The names of all compartments, once each."""
    used: dict[str, float] = defaultdict(float)
    late: dict[str, float] = {}
    homes: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    most = CONSIDERED // max(1, len(sealed))
    for number, one in enumerate(sealed, start=1):
        for place, name in enumerate(one.names[:most]):
            home, own = _parted(name)
            if not home and own in STATUSES:  # older compartments list it
                continue
            key, often = own or base(home), OFTEN / (place + RANK)
            used[key] += often
            homes[key][home] += often
            late[key] = number / len(sealed)
    worth = {name: (log(1 + used[name]) + LATE * late[name]) / (len(name) + 1) for name in used}
    return RankedNames(sorted(worth, key=lambda name: (-worth[name], name)), dict(homes))


def index(found: RankedNames, narrative: str, room: int, visible: AbstractSet[str] = frozenset()) -> str:
    """Lines of at most `room` UTF-8 bytes together. A name in the narrative, or in a longer name, is not repeated.

    `visible`: ends of paths of files that are in the prompt; names in them can be read there.
    """
    chosen: dict[str, list[str]] = {}
    known = narrative
    left = room - len(HEADING)
    for place, own in found:
        if left < LEAST:
            break
        if (own or place) in known or (own and end_of(place) in visible):
            continue
        shorter = (
            [] if place in chosen else [home for home, names in chosen.items() if not names and _ends(place, home)]
        )
        cost = (len(own.encode()) + 1 if own else 0) + (0 if place in chosen else _cost(place))
        cost -= sum(map(_cost, shorter))
        if cost <= left:
            for home in shorter:
                del chosen[home]
            chosen.setdefault(place, []).extend([own] if own else [])
            known = f"{known} {place} {own}"
            left -= cost
    lines = [_line(home, names) for home, names in sorted(chosen.items(), key=lambda item: not item[0])]
    return "\n".join((HEADING, *filter(None, lines))) if any(lines) else ""


def _ends(path: str, end: str) -> bool:
    return f"/{path}".endswith(f"/{end.removeprefix('/')}")


def _cost(home: str) -> int:
    """UTF-8 bytes of a line for a file, without the names in it."""
    return len((home or ELSEWHERE).encode()) + 4


def _best(name: str, places: dict[str, float]) -> list[str]:
    """The files in which a name is at home; of files of one name there may be several."""
    known = {home: here for home, here in places.items() if home}
    if any(base(home) == name for home in known):
        return sorted(home for home in known if base(home) == name)
    return [max(sorted(known), key=known.__getitem__)] if known else [""]


def _parted(name: str) -> tuple[str, str]:
    """The file and the name in it; a file alone has no name in it, and a name that is at home nowhere no file."""
    home, mark, own = name.partition(HOME)
    if mark and home:
        return home, own
    return (name, "") if "." in name and "/" in name else ("", name)


def _line(home: str, names: Sequence[str]) -> str:
    if not home:
        return f"- {ELSEWHERE}: {' '.join(names)}" if names else ""
    return f"- {home}: {' '.join(names)}" if names else f"- {home}"
