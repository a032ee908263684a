"""A running turn whose signed thinking lets nothing before it change, and whose prompt fills the model's window."""

from itertools import chain

from services.responder.lanes import View, eviction
from services.responder.planner.causes import Causes
from services.responder.session.lane_marks import is_of
from services.responder.session.state import Session

FULL = (
    "The prompt fills the model's window in a running turn, and the model's signed thinking lets nothing before it "
    "change: new outputs are left out. Summarise the session in your harness, or end the turn."
)


def may_wait(view: View, why: Causes) -> bool:
    """Whether a running turn with signed thinking, before which nothing may change, goes on as it is.

    A prompt that the model would refuse goes out, too, where the harness compacts then: an agent that sees none of its
    new outputs is worse off than one with a summary.
    """
    step = view.session.step
    return not why.excess or (step is not None and step.compacts and "overflow" not in why.names)


def has_evicted(session: Session) -> bool:
    """Whether outputs of the running turn were left out for want of room before."""
    conversation = session.conversation
    newest = chain.from_iterable(map(conversation.sent_parts, conversation.after(session.turn)))
    return any(is_of(session.plan.content(name), (eviction.NAME,)) for name, _ in newest)
