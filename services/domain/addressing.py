"""Whether a body is about what its subject is about: what may be published is decided by subject, so bodies follow it.

A body that could name another project than its subject would reach past every permission of the broker.
"""

from functools import lru_cache

import msgspec

from schemas.subjects import Address, BadSubject
from services.domain.finding import echo


class Misaddressed(BadSubject):
    """A body that names another project or session than its subject; says what would be right."""


def check_address(address: Address, *bodies: msgspec.Struct) -> None:
    """Raise `Misaddressed` where a body names another project or session than the subject that it came on.

    The fields are found by their names, so that a new question or command needs nothing of its own. An optional one
    that is empty names nothing. On a subject without a session any session of its project may be named.
    """
    for body in bodies:
        named: str = getattr(body, "project", "")
        if named != address.project and (named or _must_name_project(type(body))):
            raise Misaddressed(_sentence("project", named, address.project))
        if not address.project and _must_name_project(type(body)):
            raise Misaddressed("it must be about a project, and neither its body nor its subject names one")
        session: str = getattr(body, "session", "")
        if address.session and session not in ("", address.session):
            raise Misaddressed(_sentence("session", session, address.session))


def _sentence(what: str, named: str, subject: str) -> str:
    body = f"the {what} {echo(named)}" if named else f"no {what}"
    right = f"the {what} {echo(subject)}" if subject else f"no {what}"
    return f"its body names {body} and its subject {right}; name the same {what} in both"


@lru_cache
def _must_name_project(body: type[msgspec.Struct]) -> bool:
    return any(field.name == "project" and field.required for field in msgspec.structs.fields(body))
