"""The projection of models' limits that all sessions have learned."""

from services.domain.learned_limits import evolve
from services.domain.window import Learned
from services.responder.projections.base import Projection

LEARNED_LIMITS = Projection("global", Learned(), evolve)
