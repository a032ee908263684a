"""The names of projects: one aggregate of the installation, apart from those of projects. Pure."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterator

import msgspec

from schemas.envelope import Envelope
from schemas.events import AliasAdded, AliasProposed, AliasRemoved, Event
from schemas.subjects import Address
from services.domain.fold import Map

GLOBAL = Address("")
"""The address of its facts in the log. No harness can send anything about a project without a name."""
NOUN = "alias"

replace = msgspec.structs.replace


class Alias(msgspec.Struct, frozen=True):
    """An alias: a name and the project that it leads to."""

    leads_to: str
    how: str


class Aliases(msgspec.Struct, frozen=True):
    """The names that lead to others, and those of which a person has to say whether they do."""

    leads: Map[str, Alias] = Map()
    led: Map[str, tuple[str, ...]] = Map()
    """Project -> the names that lead straight to it, the newest last."""
    proposed: Map[tuple[str, str], AliasProposed] = Map()
    """By name and project."""
    removed: Map[tuple[str, str], int] = Map()
    """Name and project -> how often a person has taken back that the one leads to the other."""
    seq: int = 0

    def project(self, name: str) -> str:
        """The project that a name leads to, by however many others; the name itself where it leads nowhere."""
        while (alias := self.leads.get(name)) is not None:
            name = alias.leads_to
        return name

    def names(self, name: str) -> tuple[str, ...]:
        """All names of the project that a name leads to; the one that it goes by comes first."""
        return tuple(self.below(self.project(name)))

    def below(self, name: str) -> Iterator[str]:
        """A name, and behind it all that lead to it, by however many others."""
        yield name
        for one in self.led.get(name, ()):
            yield from self.below(one)

    def newest(self, project: str) -> str:
        """The name that came last to a project; empty: none did."""
        return next(reversed(self.led.get(project, ())), "")

    def title(self, project: str) -> str:
        """The title that a person has given a project last; empty: none."""
        given = (name for name in reversed(self.led.get(project, ())) if self.leads[name].how == "given")
        return next(given, "")


def evolve(aliases: Aliases, event: Event, envelope: Envelope) -> Aliases:
    """The names after this fact. One that would lead in a circle, or twice, changes nothing."""
    if 0 < envelope.seq <= aliases.seq:
        return aliases
    now = replace(aliases, seq=envelope.seq) if envelope.seq else aliases
    match event:
        case AliasAdded(alias=name, leads_to=project) if name not in now.leads and now.project(project) != name:
            led = now.led.insert(project, (*now.led.get(project, ()), name))
            leads = now.leads.insert(name, Alias(project, event.how))
            return replace(now, leads=leads, led=led, proposed=now.proposed.discard((name, project)))
        case AliasProposed(alias=name, leads_to=project):
            return replace(now, proposed=now.proposed.insert((name, project), event))
        case AliasRemoved(alias=name, leads_to=project) if (alias := now.leads.get(name)) and alias.leads_to == project:
            led = now.led.insert(project, tuple(one for one in now.led.get(project, ()) if one != name))
            times = now.removed.get((name, project), 0) + (alias.how != "given")
            removed = now.removed.insert((name, project), times)
            return replace(now, leads=now.leads.remove(name), led=led, removed=removed)
        case _:
            return now
