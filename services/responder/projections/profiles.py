"""The projection of people's profiles, and of the owners of sessions."""

from services.memory.profiles import NOUN, Profiles, evolve
from services.responder.projections.base import Projection

PROFILES = Projection("global", Profiles(), evolve, (NOUN,))
