"""The lane that takes out of old prompts what other programs have put there for the agent alone."""

from collections.abc import Iterator

from services.domain.conversation import Part
from services.domain.texts.clean import may_hold_injected, without_injected
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.index import Finder, IsMeant, is_outdated
from services.plan.lanes.rewrite import is_stale, may_reword, reword, unread
from services.plan.lanes.turns import ages
from services.plan.session.state import Session

NAME = "injected"


def needs(view: View) -> tuple[str, ...]:
    return unread(_candidates(view))


def rebase(view: View) -> Change:
    return reword(view, NAME, _candidates(view), without_injected)


def _candidates(view: View) -> Iterator[Part]:
    """Old texts of turns that are over. A mark is looked for in what is in memory, and in all of a synthetic text."""
    known = ages(view)
    for seen in view.index.parts(NAME):
        part = seen.part
        if seen.placed.ordinal >= view.session.turn:
            return
        if may_reword(view, part, NAME) and (
            is_stale(view.change_of(part.recorded.part), part, NAME)
            or (known.is_old(part.number) and may_be_injected(part))
        ):
            yield part


def may_be_injected(part: Part) -> bool:
    """Whether a user's text begins with a mark, or may have one behind that: no person wrote it."""
    return part.recorded.synthetic or may_hold_injected(part.head)


def _finds(session: Session) -> IsMeant:
    """Texts of users in which there may be what other programs have put there."""
    altered = session.plan.altered
    return lambda part: may_be_injected(part) or is_outdated(altered.get(part.recorded.part), part)


LANE = Lane(
    NAME,
    spares_firm=spares_firm,
    rebase=rebase,
    needs=needs,
    order=110,
    finder=Finder(_finds, kinds=frozenset({"text"}), role="user"),
)
