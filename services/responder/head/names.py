"""The names that a history remembers: chosen over all compartments, and told by the file that they are at home in."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from schemas.events import CompartmentSealed
from services.domain.texts.bounds import flat
from services.domain.texts.markup import escaped
from services.domain.transcript.names import base

HEADING = "## Names, by file"
ELSEWHERE = "elsewhere"
RANK = 40
"""How slowly a name is worth less the further behind it stands in its compartment."""
AGE = 0.97
"""What a name keeps of its worth with each newer compartment."""
LONGER = 0.5
"""How much a longer name must be worth more: the power of its length by which its worth is divided."""
FEW = 3
"""Names of a file from which on the file is told with them."""
USUAL = 14
"""Bytes of a name, by which it is judged how many there is room for."""
LEAST = 8
"""Bytes with which nothing more is told."""
HOME = "#"
"""Between a file and what is at home in it."""


def index(sealed: Sequence[CompartmentSealed], narrative: str, room: int) -> str:
    """Lines of at most `room` UTF-8 bytes together. What the narrative says, or a longer name holds, is told once."""
    chosen: dict[str, list[str]] = {}
    known = narrative
    left = room - len(HEADING)
    ranked = [one for one in map(_escaped, _ranked(sealed)) if (one[1] or base(one[0])) not in narrative]
    company = Counter(place for place, _ in ranked[: max(0, room) // USUAL])
    for place, own in ranked:
        if left < LEAST:
            break
        if (own or base(place)) in known:
            continue
        home = base(place) if base(place) in narrative else place
        if own and company[place] < FEW and home not in chosen:
            home = ""
        cost = (len(own.encode()) + 1 if own else 0) + (0 if home in chosen else len((home or ELSEWHERE).encode()) + 4)
        if cost <= left:
            chosen.setdefault(home, []).extend([own] if own else [])
            known = f"{known} {place} {own}"
            left -= cost
    lines = [_line(home, names) for home, names in sorted(chosen.items(), key=lambda item: not item[0])]
    return "\n".join((HEADING, *filter(None, lines))) if any(lines) else ""


def _ranked(sealed: Sequence[CompartmentSealed]) -> list[tuple[str, str]]:
    """Files and names in them, once each, the most telling first: they stood before others, in many compartments."""
    worth: dict[str, float] = defaultdict(float)
    homes: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for age, one in enumerate(reversed(sealed)):
        for rank, name in enumerate(one.names):
            home, own = _parted(name)
            here = AGE**age / (rank + RANK)
            worth[own or base(home)] += here
            homes[own or base(home)][home] += here
    placed = [
        (worth[name] / (len(name) + 1) ** LONGER, name, home)
        for name, places in homes.items()
        for home in _best(name, places)
    ]
    return [
        (home, "" if base(home) == name else name)
        for _, name, home in sorted(placed, key=lambda one: (-one[0], one[1:]))
    ]


def _best(name: str, places: dict[str, float]) -> list[str]:
    """Where a name is at home; of files of one name there may be several."""
    known = {home: here for home, here in places.items() if home}
    if any(base(home) == name for home in known):
        return sorted(home for home in known if base(home) == name)
    return [max(sorted(known), key=known.__getitem__)] if known else [""]


def _escaped(placed: tuple[str, str]) -> tuple[str, str]:
    return escaped(flat(placed[0])), escaped(flat(placed[1]))


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
