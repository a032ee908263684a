"""The names of a unit, weighed, each with the file that it is at home in."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, islice

import msgspec

from services.domain.tools.call import Call
from services.domain.tools.todos import STATUSES
from services.domain.transcript import commits
from services.domain.transcript.names import base, expressions, is_file, links, mentions
from services.historian.core.rules.steps import Step
from services.historian.core.rules.work import looked_at, relative

ASKED, REPORTED, WRITTEN, SHOWN = 1.5, 1.0, 1.0, 0.2
"""Weights of a mention: in a request, in an agent's text or report, in what it wrote, in what tools returned."""
COMMIT, LISTED = 3.0, 1.0
"""A commit that was made or spoken of, and one that was listed."""
NUMBER = 0.5
"""The part of that for a number, which mostly is a size or a place."""
DEFINED = 3.0
"""The weight of a definition where the home of a name is looked for."""
MOST = 450
"""Names of a unit."""
LEAST = 0.5
"""The least weight at which a number, or a name without a home, is picked."""
HOME = "#"
"""Between a file and what is at home in it; an issue's number begins with it."""

_DEFINED = re.compile(
    r"\b(?:class|interface|type|enum|struct|trait|protocol|def|func|fn|function|const|let|var|val|module|namespace|impl|table"
    r"|package|macro|record)\s+(?:\([^()\n]{0,60}\)\s*)?([^\W\d]\w{3,})"
)
_PLACED = re.compile(r"^([\w@./\-\[\]()+]+\.\w{1,6}):\d+[:\-]", re.MULTILINE)


class NameIndex(msgspec.Struct, frozen=True):
    """Names by weight."""

    weights: dict[str, float]
    homes: dict[str, str]
    """Name -> the path of the file that it is defined in, or mentioned most."""
    own: frozenset[str]
    """The names that the agent defined itself."""
    defined: dict[str, tuple[str, ...]] = {}
    """Path -> what is defined in the file, in the order in which it was read."""

    @property
    def ordered(self) -> list[str]:
        return sorted(self.weights, key=lambda name: (-self.weights[name], name))

    def listed(self) -> tuple[str, ...]:
        """The weightiest, each behind its home: `src/db.ts#openStore`. A file is its own home.

        How far a task is, such as `in_progress`, is no name: that changes, and names stay.
        """
        picked = (
            name
            for name in self.ordered
            if self._is_at_home(name) or (self.weights[name] >= LEAST and name not in STATUSES)
        )
        return tuple(self._placed(name) for name in islice(picked, MOST))

    def _is_at_home(self, name: str) -> bool:
        return name in self.homes and not name.isdecimal()

    def _placed(self, name: str) -> str:
        home = self.homes.get(name, "")
        return home if base(home) == name else f"{home}{HOME}{name}" if home else name


class _Tally:
    """Counts while a unit is read."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.weights: dict[str, float] = defaultdict(float)
        self.places: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self.own: set[str] = set()
        self.defined: dict[str, dict[str, None]] = defaultdict(dict)

    def count(self, text: str, weight: float, path: str = "") -> None:
        for name, own in chain(mentions(text), ((name, "") for name in expressions(text))):
            self.weights[name] += weight * (NUMBER if name.isdecimal() else 1.0)
            if own:
                self.places[name][relative(own, self.root)] += weight
            elif path and not name.startswith(HOME):
                self.places[name][path] += weight
        for name in links(text) if weight >= REPORTED else ():
            self.weights[name] += weight
        for name in _DEFINED.findall(text) if path else ():
            if name in self.weights:
                self.places[name][path] += DEFINED
                self.defined[path][name] = None
                self.own.update({name} if weight == WRITTEN else ())


def index(unit: Sequence[Step], root: str = "") -> NameIndex:
    tally = _Tally(root)
    for step in unit:
        for text in step.requests:
            tally.count(text, ASKED)
        for text in step.reports:
            tally.count(text, REPORTED)
            for one in commits.mentioned(text):
                tally.weights[one[:7]] += COMMIT
        for call in step.calls:
            _call(tally, call, root)
    homes = {name: max(sorted(places), key=places.__getitem__) for name, places in tally.places.items()}
    for name in tally.weights:
        if is_file(name) and base(homes.get(name, "")) != name:
            homes.pop(name, None)
    defined = {path: tuple(each) for path, each in tally.defined.items()}
    return NameIndex(dict(tally.weights), homes, frozenset(tally.own), defined)


def _call(tally: _Tally, call: Call, root: str) -> None:
    homes = [relative(path, root) for path in call.files or looked_at(call)]
    home = homes[0] if len(homes) == 1 and (call.kind == "edit" or looked_at(call)) else ""
    for path in homes:
        tally.weights[base(path)] += WRITTEN
        tally.places[base(path)][path] += WRITTEN
    if len(call.wrote) > 1:
        for path, text in call.wrote:
            tally.count(text, WRITTEN, relative(path, root))
    else:
        tally.count(call.arguments, WRITTEN, home)
    made = commits.made_commits(call)
    for one in commits.listed_hashes(call)[: commits.MOST]:
        tally.weights[one[:7]] += COMMIT if one in made else LISTED
    for path, text in _parts(call.output, home, root):
        tally.count(text, SHOWN, path)


def _parts(output: str, home: str, root: str) -> Iterator[tuple[str, str]]:
    """An output by the files that it is from: lines that begin with a path and a number are from that."""
    if home or not _PLACED.search(output):
        yield home, output
        return
    for line in output.splitlines():
        found = _PLACED.match(line)
        yield (relative(found[1], root), line[found.end() :]) if found else ("", line)
