"""Signed thinking is valid only behind the very bytes it was thought about: what may be edited in a running turn."""

from collections.abc import Iterable

from schemas.plan import (
    AnyEdit,
    Cut,
    CutBefore,
    HeadSlot,
    InsertPair,
    MessageEnd,
    OmitArc,
    OmitMessage,
    PartContent,
    PartEnd,
    SetHead,
    Target,
    WholeMessage,
    Withdraw,
    parse_target,
    target,
)
from services.plan.session.state import Session


def boundary(session: Session) -> int:
    """Ordinal of the newest signed thinking of the running turn: nothing before it may change. 0: there is none."""
    step = session.step
    binds = step is not None and "binds_signed_thinking" in step.capabilities
    return session.thinking.signed if binds and session.thinking.signed > session.turn else 0


def place(session: Session, edit: AnyEdit) -> int:
    """The first message that an edit touches; the head of the list is before all of them."""
    match edit:
        case OmitArc(parts=parts):
            return min(session.conversation.place(part) for part in parts)
        case OmitMessage(message=name) | InsertPair(message=name):
            return _ordinal(session, name)
        case CutBefore() | SetHead():
            return 0
        case Withdraw(what=what):
            return _place_of(session, parse_target(what))
        case _:
            return session.conversation.place(edit.part)


def _place_of(session: Session, what: Target) -> int:
    match what:
        case PartContent(part=part) | PartEnd(part=part):
            return session.conversation.place(part)
        case WholeMessage(message=name) | MessageEnd(message=name):
            return _ordinal(session, name)
        case _:
            return 0


def first_place(session: Session, edits: Iterable[AnyEdit]) -> int | None:
    """The first message that any of these touches; 0: the head; none: they touch nothing that is listed now."""
    places = ((place(session, edit), edit) for edit in edits)
    return min((first for first, edit in places if first or _is_about_head(edit)), default=None)


def _is_about_head(edit: AnyEdit) -> bool:
    return isinstance(target(edit), Cut | HeadSlot)


def first_unserved(session: Session, base: int) -> int | None:
    """The first message that is another one with what the harness has not got yet; none: nothing changes.

    `base`: the revision that it has. Without a rebase among the others they are about new messages alone.
    """
    unserved = session.revisions.behind(base)
    if not any(revision.causes for revision in unserved):
        return None
    return first_place(session, (edit for revision in unserved for edit in revision.edits))


def is_withheld(session: Session, base: int) -> bool:
    """Whether a rebase that the harness has not got yet came too late for this turn.

    The turn has gone on without it: thinking that was signed meanwhile follows what it would change.
    """
    first, bound = first_unserved(session, base), boundary(session)
    return first is not None and first < bound


def _ordinal(session: Session, name: str) -> int:
    message = session.conversation.messages.get(name)
    return message.ordinal if message else 0
