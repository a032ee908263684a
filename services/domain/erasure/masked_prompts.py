"""Prompts whose edits in force showed what is erased: their sessions are rebased once."""

from collections.abc import Mapping, Sequence

from schemas.codec import Malformed, decode_edits, decode_envelope, decode_event
from schemas.events import PlanExtended, PlanRebased
from schemas.plan import AnyEdit, target
from schemas.subjects import Address
from services.domain.erasure.scope import place_of


class MaskedPrompts:
    """Follows the plans of a log, record by record, as they are and as they become."""

    def __init__(self) -> None:
        self._masked: dict[Address, dict[str, None]] = {}

    def add(self, subject: str, before: bytes, after: bytes) -> None:
        """A record with its data before the erasure and after it, in the order of the log."""
        place = place_of(subject)
        if place is None or place.noun != "plan":
            return
        if before == after and place.address not in self._masked:
            return
        in_force = self._masked.setdefault(place.address, {})
        for was, now in zip(_edits(before), _edits(after), strict=False):
            in_force.pop(str(target(was)), None)
            if was != now:
                in_force[str(target(now))] = None

    @property
    def targets(self) -> Mapping[Address, Sequence[str]]:
        """Targets of the edits in force that have masks now, by the session of their plan."""
        return {address: [*targets] for address, targets in self._masked.items() if targets}


def _edits(data: bytes) -> tuple[AnyEdit, ...]:
    try:
        event = decode_event(decode_envelope(data))
        return decode_edits(event.edits) if isinstance(event, PlanExtended | PlanRebased) else ()
    except (Malformed, ValueError):
        return ()
