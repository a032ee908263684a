"""A session: its conversation, what was asked of it, what was used, and the plan as served."""

from services.responder.projections.base import Projection
from services.responder.session.state import Session, evolve

SESSION = Projection("session", Session(), evolve)
