"""Finds a session by its id or the beginning of it; names similar ones where there is none."""

from collections.abc import Sequence
from difflib import get_close_matches

from schemas.subjects import Address
from services.domain.texts.markup import escaped
from services.domain.texts.posing import unposed
from services.kit.duck import BadQuery
from services.responder.answers.base import Context, UnknownSession
from services.responder.projections.folds import SESSION

LONGEST_NAME = 80
"""Characters of a name that nothing is called by, as it is repeated."""
SHORTEST_BEGINNING = 7
"""Characters of the beginning of a session's id that name it, where only one begins so."""
MOST_SESSIONS = 100_000
MOST_LIKE = 3
"""Sessions with a like name that are named where there is none of the name."""
VIEWS_TIMEOUT = 2.0


async def session_meant(context: Context, project: str, name: str) -> str:
    """The whole id of the session that is meant. Raises `UnknownSession`, and `BadSubject` where no id can be so."""
    if not name:
        raise UnknownSession("no session is named")
    session = await context.cache.state(SESSION, Address(project, name))
    if session.seq:
        return name
    known = await _sessions(context, project)
    begun = [one for one in known if len(name) >= SHORTEST_BEGINNING and one.startswith(name)]
    if len(begun) == 1:
        return begun[0]
    raise UnknownSession(unknown_session(project, name, begun or get_close_matches(name, known)))


async def nearest(context: Context, project: str, name: str) -> UnknownSession | None:
    """The refusal of a name that no session has, with those that are called nearly so; None: there is none like it."""
    like = get_close_matches(name, await _sessions(context, project))
    return UnknownSession(unknown_session(project, name, like)) if like else None


def unknown_session(project: str, name: str, like: Sequence[str]) -> str:
    """The sentence for a session that does not exist, with similar names."""
    bounded = escaped(unposed(name)[:LONGEST_NAME])
    meant = f"did you mean {' or '.join(like[:MOST_LIKE])}?" if like else "a search names those that there are"
    return f"there is no session {bounded} in the project {project}: {meant}"


async def _sessions(context: Context, project: str) -> tuple[str, ...]:
    """The sessions of a project, as far as the views have them now."""
    sql = "select distinct session from session_opened where project = ?"
    try:
        found = await context.files.serving.duck.query(sql, (project,), max_rows=MOST_SESSIONS, timeout=VIEWS_TIMEOUT)
    except BadQuery:
        return ()  # it only helps to name the one that is meant
    return tuple(str(name) for (name,) in found.rows)
