"""Whether a rebase is worth it: as it was collected, and by sums alone before anything is collected."""

from collections.abc import Iterable

from services.domain.limits import Prices
from services.plan.lanes import Lane, View
from services.plan.lanes.skeletons import MAX_CALLS
from services.plan.planner import controller
from services.plan.planner.causes import Causes
from services.plan.planner.compose import RebaseDraft
from services.plan.planner.economics import prices_of
from services.plan.provider_rules.signed_thinking import boundary
from services.plan.session.firm import CALL
from services.plan.session.state import Session, served_tokens

SURE = 1.4
"""Times the calls to come after which a rebase by choice would have paid: a burst may bring the next one sooner."""


def is_worth_it(view: View, why: Causes, made: RebaseDraft) -> bool:
    """Whether a rebase pays: where the cache is lost anyway, always; else it must save much, unless it is needed."""
    limits, economics = view.limits, made.economics
    if why.free:
        return economics.reclaimed > 0 or (made.has_more and (set(why.free) != {"idle"} or bool(why.settings)))
    if why.excess:
        return economics.reclaimed > 0
    if economics.reclaimed < limits.min_reclaim:
        return False
    if why.urgent:
        return True
    if not economics.pays or economics.steps < SURE * economics.break_even or view.session.step is None:
        return False
    return _is_worth_its_cost(view, why, economics.reclaimed, economics.rewritten)


def may_be_worth_it(view: View, lanes: Iterable[Lane], why: Causes) -> bool:
    """Whether it may be, before it is collected: where this is false, `is_worth_it` is false of all that is collected.

    A rebase that nobody asked for leaves what is firm in the prompt, so that it reclaims no more than the rest. To know
    that costs the same however long the session is.
    """
    session = view.session
    if why.forced or why.masked or why.free or why.excess or boundary(session):
        return True
    if not all(lane.leaves_firm(view) for lane in lanes if lane.works(view)):
        return True
    most = most_reclaimed(session)
    if most < view.limits.min_reclaim:
        return False
    return why.urgent or _is_worth_its_cost(view, why, most, rewritten=0)


def most_reclaimed(session: Session) -> int:
    """Estimated tokens that a rebase reclaims at most which leaves what is firm."""
    calls = max(0, session.firm.calls - MAX_CALLS * CALL)
    return max(0, served_tokens(session) - session.firm.words - calls)


def _is_worth_its_cost(view: View, why: Causes, reclaimed: int, rewritten: int) -> bool:
    """Whether one for its cost alone is deep enough, and due as it would be. The more it reclaims, the sooner it is."""
    session = view.session
    served = served_tokens(session)
    return why.pressure != ("cost",) or controller.is_worth(
        session.revisions.course.with_remainder(why.remainder, served),
        reclaimed,
        rewritten,
        served,
        prices_of(session.step, view.limits) if session.step else Prices(),
        why.room,
        at_turn=why.at_turn,
    )
