"""Compartments that a copy of a session inherits: those of its origin that cover nothing but copied messages."""

from collections.abc import Iterator

import msgspec

from schemas.codec import derived_id
from schemas.events import CompartmentSealed, HistoryInherited
from schemas.subjects import Address
from services.domain.copies import copies
from services.historian.core.state import HistorianSession

replace = msgspec.structs.replace


def awaits(session: HistorianSession) -> bool:
    """Whether it is a copy whose messages are known and whose compartments are not recorded yet."""
    return session.copied > 0 and session.step is not None and not session.has_own_history


def inherited(
    session: HistorianSession, origin: HistorianSession, address: Address
) -> list[CompartmentSealed | HistoryInherited]:
    """The origin's compartments in force, in the copy's ids; nothing where they are recorded already.

    A copy has the places of its origin, so that they cover the same range here. Their importance is as judged there.
    """
    if not awaits(session):
        return []
    made = list(_copied(session, origin, address))
    last = made[-1].last if made else 0
    return [*made, HistoryInherited(origin=session.origin, last=last, compartments=len(made))]


def _copied(session: HistorianSession, origin: HistorianSession, address: Address) -> Iterator[CompartmentSealed]:
    shared = copies(origin.conversation, session.conversation, session.copied)
    for one in origin.history.sealed:
        if one.last > shared.last:
            return
        first = shared.messages.get(one.first_message, one.first_message)
        yield replace(
            one,
            compartment=derived_id("compartment", address.project, address.session, "0", first),
            generation=0,
            first_message=first,
            last_message=shared.messages.get(one.last_message, one.last_message),
            importance=origin.history.importance(one),
            copied=origin.history.positions.get(one.compartment, 0),
        )
