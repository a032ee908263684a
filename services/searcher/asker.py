"""The client of a search, and what it may see. The project is that of the subject: others are refused before."""

from typing import NamedTuple

from schemas.search_asks import SearchAsk
from services.domain.search.fragments import CHARACTERS

AGENT, PERSON = 25, 200
"""The most hits that each is given."""


class Asker(NamedTuple):
    """The client of a search."""

    project: str
    session: str
    most: int
    at_home: str
    """The project that its session works in, which may go by another name now."""
    characters: int = CHARACTERS
    """The most characters that are returned of a text that was found."""


def asker(ask: SearchAsk, characters: int = CHARACTERS) -> Asker:
    """The client of this question, and how much of each text it gets."""
    return Asker(ask.project, ask.session, AGENT if ask.session else PERSON, ask.project, characters)
