"""The projection of projects' names."""

from services.domain.aliases import NOUN, Aliases, evolve
from services.responder.projections.base import Projection

ALIASES = Projection("global", Aliases(), evolve, (NOUN,))
