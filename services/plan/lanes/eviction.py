"""The lane that makes room: answers of tools go by age and, under pressure, the cheapest to get again first.

Where the model would refuse the prompt, nothing is protected: then the oldest go, failures among them, down to what
fits.
"""

from collections.abc import Container, Iterator, Sequence
from itertools import chain

from services.domain.conversation import Part
from services.domain.tools.names import WAYFINDERS, WORKERS, plain
from services.plan.lanes.base import PRESSING, Change, Lane, View, spares_firm
from services.plan.lanes.dropping import calls, drop
from services.plan.lanes.index import FAILED, Finder, IsMeant
from services.plan.lanes.tool_pairs import IdleCall
from services.plan.session.costs import served_part
from services.plan.session.reclaim import OUTPUTS
from services.plan.session.state import Session

NAME = "eviction"
TIERS = 3
"""All other tools go first, then what changes and searches, and at last what an agent finds its way by."""
NEWEST_SHARE = 5
"""One in so many of the better tiers stays: the newest."""
SUBAGENT_AGE = 100
"""Tags that make an answer old enough to go from a subagent, whose work is short and all of one piece."""


def rebase(view: View) -> Change:
    made = _by_age_and_need(view)
    if view.excess <= made.reclaimed:
        return made
    return _all_that_fits(view)


def _by_age_and_need(view: View) -> Change:
    pressing = bool(view.causes & PRESSING) and view.target > 0
    age = view.limits.auto_drop_tool_age
    if not (pressing or age):
        return Change()
    changeable = tuple(_changeable(view))
    protected = _newest(view, changeable)
    open_to_drop = [IdleCall(part) for part in changeable if part.number not in protected]
    old = [one for one in open_to_drop if age and _is_older(view, one, age)]
    aged = drop(view, NAME, old)
    if not pressing or aged.reclaimed >= view.target:
        return aged
    made = drop(view, NAME, old, spare=_in_turn(view, open_to_drop, set(aged.dropped)), enough=view.target)
    return made if made.reclaimed >= min(view.target, view.limits.min_reclaim) else aged


def _newest(view: View, changeable: Sequence[Part]) -> Container[int]:
    """The tags that stay: what no call has sent yet, and of the protected ones no more than a prompt is to keep."""
    protected, session, plan = view.protected, view.session, view.session.plan
    sent = session.step.unchanged if session.step else 0
    size = 0
    newest: set[int] = set()
    for part in reversed(changeable):
        size += served_part(plan, part.recorded)
        is_unsent = 0 < sent < session.conversation.place(part.recorded.part)
        fits = size <= view.tail or not (view.tail and newest)
        if is_unsent or (part.number in protected and fits):
            newest.add(part.number)
    return newest


def _all_that_fits(view: View) -> Change:
    """Only what fits stays: the newest."""
    place = view.session.conversation.place
    outputs = sorted([*_changeable(view), *_failures(view)], key=lambda part: place(part.recorded.part))
    return drop(view, NAME, (), spare=[IdleCall(part) for part in outputs], enough=view.excess)


def _failures(view: View) -> Iterator[Part]:
    """The outputs of failed calls that are served and may be changed. They have no tag."""
    for seen in view.index.parts(NAME):
        name = seen.part.recorded.part
        if view.is_served(name) and view.session.conversation.place(name) >= view.begin:
            yield seen.part


def _finds(_: Session) -> IsMeant:
    """Outputs of tools that have failed."""
    return lambda part: part.recorded.status == "error"


def _changeable(view: View) -> Iterator[Part]:
    place = view.session.conversation.place
    return (part for part in calls(view) if not view.begin or place(part.recorded.part) >= view.begin)


def _is_older(view: View, one: IdleCall, age: int) -> bool:
    return one.part.number <= view.session.conversation.last_number - age


def _in_turn(view: View, open_to_drop: Sequence[IdleCall], taken: Container[int]) -> Iterator[IdleCall]:
    """Tier by tier, in each the oldest first."""
    youngest = (view.limits.auto_drop_tool_age or SUBAGENT_AGE) if view.mode == "subagent" else 0
    tiers: list[list[IdleCall]] = [[] for _ in range(TIERS)]
    for one in open_to_drop:
        if one.part.number not in taken and _is_older(view, one, youngest):
            tiers[_tier(one.part.recorded.tool)].append(one)
    misc, *better = tiers
    return chain(misc, *(tier[: len(tier) - -(-len(tier) // NEWEST_SHARE)] for tier in better))


def _tier(tool: str) -> int:
    name = plain(tool)
    if name in WAYFINDERS:
        return 2
    return 1 if name in WORKERS else 0


LANE = Lane(
    NAME,
    spares_firm=spares_firm,
    rebase=rebase,
    order=140,
    empties=True,
    finder=Finder(_finds, kinds=OUTPUTS, signs=FAILED),
)
