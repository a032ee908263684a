"""Signed thinking that a provider would refuse, or has refused: why a plan leaves it out, and what it leaves out."""

from collections.abc import Iterable, Iterator

import msgspec

from schemas.plan import AnyEdit, OmitPart
from services.plan.lanes.base import View
from services.plan.lanes.reasoning import older_thinking, refused_thinking
from services.plan.provider_rules.check import new_faults
from services.plan.provider_rules.signed_thinking import boundary, first_place, first_unserved
from services.plan.session.state import Session, with_edits

THINKING = "thinking"
"""The cause that what precedes the thinking is not what it was signed behind: a rebase came late, or the harness
changed it."""
REFUSED = "signature"
"""The provider refused thinking: all of it may be concerned, since an error does not say which."""


def thinking_causes(view: View) -> tuple[str, ...]:
    """The causes for which served thinking must go. As long as that of the running turn holds, nothing may change."""
    session = view.session
    if boundary(session):
        return ()
    if session.waits.refused and any(True for _ in refused_thinking(view)):
        return (REFUSED,)
    first = _broken_from(session) if _is_bound(view) else None
    return (THINKING,) if first is not None and any(True for _ in older_thinking(view, first)) else ()


def void_thinking(view: View, edits: Iterable[AnyEdit], after: Session) -> tuple[OmitPart, ...]:
    """The thinking that goes with these edits, and that had to go before; `after`: the session with them in force.

    What a provider would refuse a message without stays in it.
    """
    now = msgspec.structs.replace(view, session=after)
    if REFUSED in view.causes:
        return _sound(after, refused_thinking(now))
    first = _void_from(view.session, edits) if _is_bound(view) else None
    return _sound(after, older_thinking(now, first)) if first is not None else ()


def _is_bound(view: View) -> bool:
    return "binds_signed_thinking" in view.able


def _void_from(session: Session, edits: Iterable[AnyEdit]) -> int | None:
    """The first message whose thinking is void with these edits; none: all of it holds."""
    places = (first_place(session, edits), _broken_from(session))
    return min((place for place in places if place is not None), default=None)


def _broken_from(session: Session) -> int | None:
    """The first message from which on thinking of turns that are over holds no more, whatever is decided now."""
    late = first_unserved(session, session.revisions.served)
    void = session.thinking.void.first if session.thinking.void else None
    return min((place for place in (late, void) if place is not None), default=None)


def _sound(session: Session, thinking: Iterator[OmitPart]) -> tuple[OmitPart, ...]:
    """All of these, or those of them that leave a list which a provider takes."""
    wanted = tuple(thinking)
    if not new_faults(session, wanted):
        return wanted
    accepted: list[OmitPart] = []
    for edit in wanted:
        if not new_faults(session, [edit]):
            accepted.append(edit)
            session = with_edits(session, [edit])
    return tuple(accepted)
