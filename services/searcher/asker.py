"""Who asks, and what they may see. All of it is decided here."""

from typing import NamedTuple

from schemas.asks import SearchAsk
from schemas.subjects import WHOLE_PROJECT, BadSubject, identifier

AGENT, PERSON = 25, 200
"""The most hits that each is given."""


class Refused(ValueError):
    """The question is not answered; says why, and what would be right."""


class Asker(NamedTuple):
    """Who asks."""

    project: str
    session: str
    most: int


def asker(subject: str, ask: SearchAsk) -> Asker:
    """Who asks this. The project is that of the subject, which the broker lets nobody but its members use."""
    match subject.split("."):
        case ["ask", _, project] if project != WHOLE_PROJECT:
            pass
        case _:
            raise Refused(f"{subject} names no project: ask on ask.{SearchAsk.NAME}.<project>")
    try:
        name = identifier(project)
    except BadSubject as error:
        raise Refused(str(error)) from error
    if ask.project != name:
        raise Refused(f"the question is about the project {ask.project!r} and was sent to {name!r}: ask each by itself")
    return Asker(name, ask.session, AGENT if ask.session else PERSON)
