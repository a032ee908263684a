"""The spending of the background models of all projects together, day by day: the sum of all ledgers. Pure."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

import msgspec

from schemas.envelope import Envelope
from schemas.events import Event, SpendRefused, SpendReserved, SpendSettled
from services.desk.core import spending
from services.desk.core.spending import Ledger
from services.domain.fold import Map


class InstallationLedger(msgspec.Struct, frozen=True):
    """The ledgers of all projects and their sums."""

    projects: Map[str, Ledger] = Map()
    days: Map[str, tuple[int, int]] = Map()
    """Day -> tokens, and millionths of a USD."""

    def day(self, name: str) -> tuple[int, int]:
        """The spending of a day: tokens, and millionths of a USD."""
        return self.days.get(name) or (0, 0)

    def month(self, name: str) -> tuple[int, int]:
        """The same for a month, such as `2026-11`."""
        days = [spent for day, spent in self.days.items() if spending.month_of(day) == name]
        return sum(tokens for tokens, _ in days), sum(micros for _, micros in days)


def evolve(state: InstallationLedger, event: Event, envelope: Envelope) -> InstallationLedger:
    """The sums after this fact, by the rules of a project's ledger: what counts once there counts once here."""
    if not isinstance(event, SpendReserved | SpendRefused | SpendSettled):
        return state
    before = state.projects.get(envelope.project) or Ledger()
    after = spending.evolve(before, event, envelope)
    if after is before:
        return state
    known = before.find(event.reservation) if isinstance(event, SpendSettled) else None
    day = known[0] if known else event.day
    tokens, micros = state.day(day)
    was, now = before.days.get(day), after.days[day]
    tokens += now.tokens - (was.tokens if was else 0)
    micros += now.micros - (was.micros if was else 0)
    return InstallationLedger(state.projects.insert(envelope.project, after), state.days.insert(day, (tokens, micros)))
