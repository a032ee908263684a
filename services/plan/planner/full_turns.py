"""A running turn whose signed thinking lets nothing before it change, and whose prompt fills the model's window."""

from collections.abc import Iterable

from schemas.plan import AnyEdit
from services.plan.lanes import eviction
from services.plan.planner.causes import Causes
from services.plan.provider_rules.signed_thinking import place
from services.plan.session.lane_marks import is_of
from services.plan.session.state import Session

FULL = (
    "The prompt fills the model's window in a running turn, and the model's signed thinking lets nothing before it "
    "change: new outputs are left out. Summarise the session in your harness, or end the turn."
)


BLIND = 10
"""Steps of a turn of which new outputs are left out at most where the harness compacts: looking at those again costs
about what a summary costs, and a turn may end before."""


def blinds(session: Session, edits: Iterable[AnyEdit]) -> bool:
    """Whether something is left out with these that the model has not seen yet."""
    sent = session.step.unchanged if session.step is not None else 0
    return any(0 < sent < place(session, edit) for edit in edits)


def is_the_harness_s(session: Session, why: Causes) -> bool:
    """Whether the harness is to compact a prompt that is too long, so that it may go out as it is."""
    return _compacts(session) and "overflow" not in why.names and _blinded(session) >= BLIND


def needs_person(session: Session) -> bool:
    """Whether a person must see to it, and does not know that yet."""
    return not _compacts(session) and not _blinded(session)


def _compacts(session: Session) -> bool:
    return session.step is not None and session.step.compacts


def _blinded(session: Session) -> int:
    """Messages of the running turn of which outputs were left out for want of room."""
    conversation, plan = session.conversation, session.plan
    return sum(
        any(is_of(plan.content(name), (eviction.NAME,)) for name, _ in conversation.sent_parts(message))
        for message in conversation.after(session.turn)
    )
