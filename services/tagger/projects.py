"""The tagger's book of projects: facts that belong to no session."""

from schemas.inbox import DocumentSeen, SessionSeen
from schemas.subjects import Address
from services.kit.room import Kit
from services.tagger.book import Book
from services.tagger.core import Told
from services.tagger.project import Project, decide, evolve


class Projects:
    """Notes where projects lie and what their documents say."""

    def __init__(self, kit: Kit) -> None:
        self._book = Book(kit, evolve, Project())

    async def take(self, project: str, told: Told) -> None:
        """Append what an inbound message says about its project. Raises `Conflict` if the log keeps moving."""
        items = told.inbound.items
        if any(isinstance(item, SessionSeen | DocumentSeen) for item in items):
            await self._book.write(
                Address(project), told, lambda known: decide(known, told.harness, told.id, items, told.sizes)
            )
