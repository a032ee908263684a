"""What all sessions have learned of the limits of models."""

from services.domain.learned_limits import evolve
from services.domain.window import Learned
from services.responder.projections.base import Projection

LEARNED_LIMITS = Projection("global", Learned(), evolve)
