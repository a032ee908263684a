"""A project's memory book as it was at a position of the log."""

from schemas.subjects import Address
from services.kit.bus import LogReader
from services.kit.cache import folded
from services.kit.nouns import NounReader
from services.memory.book import NOUNS, Book, evolve


async def book_at(reader: LogReader, project: Address, position: int) -> Book:
    """The book, folded from its facts up to this position."""
    book = Book()
    async for record in NounReader(reader, NOUNS, until=position).after(0, project.log_filter):
        if record.event is not None:
            book = folded(evolve, book, record.event, record.envelope)
    return book
