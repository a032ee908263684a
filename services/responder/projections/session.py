"""A session: its conversation, what was asked of it, what was used, and the plan as served."""

from services.plan.session.state import Session, evolve
from services.responder.projections.base import Projection

SESSION = Projection("session", Session(), evolve)
