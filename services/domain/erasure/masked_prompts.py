"""Prompts whose edits in force showed what is erased: their sessions are rebased once, if their plans can be read."""

from collections.abc import Mapping, Sequence

from schemas.codec import Malformed, decode_edits, decode_envelope, decode_event
from schemas.events import PlanExtended, PlanRebased
from schemas.plan import AnyEdit, target
from schemas.subjects import Address
from services.domain.erasure.scope import ERASED, place_of


class MaskedPrompts:
    """Follows the plans of a log, record by record, as they are and as they become."""

    def __init__(self) -> None:
        self._masked: dict[Address, dict[str, None]] = {}
        self._unread: dict[Address, None] = {}

    def add(self, subject: str, before: bytes, after: bytes) -> None:
        """A record with its data before the erasure and after it, in the order of the log."""
        place = place_of(subject)
        if place is None or place.noun != "plan":
            return
        if before == after and place.address not in self._masked:
            return
        edits_before, edits_after = _edits(before), _edits(after)
        if edits_before is None or edits_after is None:
            if before != after:
                self._unread[place.address] = None
            return
        in_force = self._masked.setdefault(place.address, {})
        for was, now in zip(edits_before, edits_after, strict=False):
            in_force.pop(str(target(was)), None)
            if was != now:
                in_force[str(target(now))] = None

    @property
    def targets(self) -> Mapping[Address, Sequence[str]]:
        """Targets of the edits in force that have masks now, by the session of their plan."""
        return {address: [*targets] for address, targets in self._masked.items() if targets}

    @property
    def unread(self) -> Sequence[Address]:
        """Sessions with a plan that showed it and cannot be read: no rebase is due, since no edit is known that did."""
        return [*self._unread]


def _edits(data: bytes) -> tuple[AnyEdit, ...] | None:
    """The edits of a plan, without those of one that was erased as a whole; None where it cannot be read."""
    try:
        envelope = decode_envelope(data)
        if envelope.v == ERASED:
            return ()
        event = decode_event(envelope)
        return decode_edits(event.edits) if isinstance(event, PlanExtended | PlanRebased) else None
    except (Malformed, ValueError):
        return None
