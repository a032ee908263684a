"""Where a session of the project begins its work: the folders, with the files and names that are at home in them.

Later sessions begin with much the same names, whatever they go on with.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from services.domain.transcript.names import base
from services.domain.transcript.names import names as names_in
from services.historian.core.rules.index import Index
from services.historian.core.rules.steps import Step
from services.historian.core.summary import Fact

BEGINNING = 60
"""Messages with which a session begins."""
MOST = 6
"""Places that are told of."""
FEWEST = 3
"""Names with which it is worth saying where they are."""
LONGEST = 390
"""Characters of what is said of one place."""


def places(beginning: Sequence[Step], found: Sequence[Index]) -> Iterator[Fact]:
    """The places of the names that weigh most: each is told with its folder, or with its file where that is full."""
    told: dict[str, list[str]] = {}
    for name, path in _ranked(beginning, found):
        folder = f"{path.rpartition('/')[0]}/"
        for place in (folder, path) if base(path) != name else (folder,):
            if len(place) > 1 and (place in told or len(told) < MOST) and _has_room(told.get(place, ()), place, name):
                told.setdefault(place, []).append(name)
                break
    for place, names in told.items():
        if len(names) >= FEWEST:
            yield Fact("CONFIG_VALUES", _text(place, names))


def _ranked(beginning: Sequence[Step], found: Sequence[Index]) -> Sequence[tuple[str, str]]:
    """Names that the agent wrote, with their files: those first that say most in the least room."""
    weights: dict[str, float] = defaultdict(float)
    for step in beginning:
        for text in (*step.reports, *(f"{call.arguments} {' '.join(call.files)}" for call in step.calls)):
            for name in {*names_in(text)}:
                weights[name] += 0.0 if name.isdecimal() else 1 / (len(name) + 1)
    homes: dict[str, str] = {}
    for one in found:
        homes = {**one.homes, **homes}
    known = [name for name, weight in weights.items() if weight and name in homes]
    return [(name, homes[name]) for name in sorted(known, key=lambda name: (-weights[name], name))]


def _has_room(names: Sequence[str], place: str, name: str) -> bool:
    return len(_text(place, [*names, name])) <= LONGEST


def _text(place: str, names: Sequence[str]) -> str:
    return f"`{place}`: {' '.join(names)}"
