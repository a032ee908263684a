"""A project's memory book, and what has changed in it since any position: for heads, notices and questions."""

from services.memory.book import NOUNS
from services.memory.remembered import Remembered, evolve
from services.responder.projections.base import Projection

BOOK = Projection("project", Remembered(), evolve, NOUNS)
