"""What is known of people, and whose sessions there are."""

from services.memory.profiles import NOUN, Profiles, evolve
from services.responder.projections.base import Projection

PROFILES = Projection("global", Profiles(), evolve, (NOUN,))
