"""Signed thinking is valid only behind the very bytes it was thought about: what may be edited in a running turn."""

from collections.abc import Iterable

from schemas.plan import AnyEdit, CutBefore, InsertPair, OmitArc, OmitMessage, SetHead, Withdraw
from services.responder.state import Session


def boundary(session: Session) -> int:
    """Ordinal of the newest signed thinking of the running turn: nothing before it may change. 0: there is none."""
    step = session.step
    binds = step is not None and "binds_signed_thinking" in step.capabilities
    return session.signed if binds and session.signed > session.turn > 0 else 0


def place(session: Session, edit: AnyEdit) -> int:
    """The first message that an edit touches; the head of the list is before all of them."""
    match edit:
        case OmitArc(parts=parts):
            return min(session.talk.place(part) for part in parts)
        case OmitMessage(message=name) | InsertPair(message=name):
            return _ordinal(session, name)
        case CutBefore() | SetHead():
            return 0
        case Withdraw(what=what):
            kind, _, name = what.partition(":")
            return session.talk.place(name) if kind in ("part", "append") else _ordinal(session, name)
        case _:
            return session.talk.place(edit.part)


def first_place(session: Session, edits: Iterable[AnyEdit]) -> int:
    """The first message that any of these touches."""
    return min((place(session, edit) for edit in edits), default=0)


def is_held_back(session: Session, base: int) -> bool:
    """Whether a rebase that the harness has not got yet came too late for this turn.

    The turn has gone on without it: thinking that was signed meanwhile stands behind what it would change.
    """
    if session.step is None or session.rebased_step == session.step.step:
        return False
    unserved = (session.revisions[number] for number in range(base + 1, session.revision + 1))
    rebased = [revision for revision in unserved if revision.causes]
    bound = boundary(session)
    return bound > 0 and any(first_place(session, revision.edits) < bound for revision in rebased)


def _ordinal(session: Session, name: str) -> int:
    message = session.talk.messages.get(name)
    return message.ordinal if message else 0
