"""The lane that takes out what is left of old drops: a call, and a placeholder where its answer was."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import chain, islice

from schemas.plan import CutBefore, OmitArc, ReplaceOutput, SetHead
from services.domain.conversation import Part
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.dropping import signed_off
from services.plan.lanes.index import Finder
from services.plan.lanes.tool_pairs import DropPlan, IdleCall, acceptable, call_part, left_out, places, whole
from services.plan.provider_rules.signed_thinking import place
from services.plan.session.reclaim import OUTPUTS

NAME = "skeletons"
MOST_WITH_ARGUMENTS = 20
"""Dropped calls that keep their arguments before a placeholder: the newest."""
MAX_CALLS = 250
"""Calls that are taken out in one rebase: each costs time, and more wait for the next one."""


def rebase(view: View, count: int = MOST_WITH_ARGUMENTS) -> Change:
    """Take out the older calls behind the first message that changes anyway; all of them where that is free."""
    now = [*_dropped_now(view)]
    dropped = (seen.part.number for seen in view.index.parts(NAME))
    newest = nlargest(count, chain(dropped, (part.number for part in now)))
    if len(newest) < count:
        return Change()
    first = _first_changed(view)
    old = [part for part in chain(_behind(view, first), now) if part.number < newest[-1]]
    drop_plans = _sound(view, _wanted(view, old), first)
    return Change(
        edits=tuple(signed_off(edit, NAME) for drop_plan in drop_plans for edit in drop_plan.edits),
        reclaimed=sum(drop_plan.saving for drop_plan in drop_plans),
    )


def _dropped_now(view: View) -> Iterator[Part]:
    """The outputs that lanes before this one drop in this rebase."""
    for change in view.made:
        numbers = {*change.dropped}
        for edit in change.edits if numbers else ():
            part = view.session.conversation.parts.get(edit.part) if isinstance(edit, ReplaceOutput | OmitArc) else None
            if part is not None and part.number in numbers:
                yield part


def _first_changed(view: View) -> int:
    """The first message that no cache serves: it is new, or another lane changes it. What is cut away is before it."""
    session = view.session
    first = session.cut or 1
    if view.is_free:
        return first
    changed = [1 + (session.step.unchanged if session.step else 0)]
    for change in view.made:
        for edit in change.edits:
            where = place(session, edit)
            if where or isinstance(edit, SetHead | CutBefore):
                changed.append(where)
    return max(first, min(changed))


def _behind(view: View, first: int) -> Sequence[Part]:
    """The outputs from this message on that were dropped before."""
    altered, seen = view.session.plan.altered, view.index.parts(NAME)
    behind = seen[bisect_left(seen, first, key=lambda one: one.placed.ordinal) :]
    return [one.part for one in behind if not isinstance(altered.get(one.part.recorded.part), OmitArc)]


def _wanted(view: View, parts: Iterable[Part]) -> Iterator[IdleCall]:
    """Those that are served as a placeholder, and with nothing behind it, with the facts that they were dropped for."""
    plan = view.session.plan
    for part in parts:
        edit = plan.altered.get(part.recorded.part)
        if isinstance(edit, ReplaceOutput) and part.recorded.part not in plan.ends:
            yield IdleCall(part, max(edit.by, default=0))


def _sound(view: View, wanted: Iterable[IdleCall], first: int) -> Sequence[DropPlan]:
    """The plans by which they go. Where one cannot, its neighbours stay too: the rest is asked again without it."""
    drop_plans = [*islice(_drop_plans(view, wanted, first), MAX_CALLS)]
    sound = acceptable(view, drop_plans)
    return (
        drop_plans if len(sound) == len(drop_plans) else _sound(view, [drop_plan.wanted for drop_plan in sound], first)
    )


def _drop_plans(view: View, wanted: Iterable[IdleCall], first: int) -> Iterator[DropPlan]:
    """The plan by which each would go, if that changes nothing before this message.

    Where roles must alternate no message goes: the one that makes up for it may go later.
    """
    gone: set[str] = set()
    alternate = "requires_alternation" in view.able
    for one in wanted:
        drop_plan = None if _is_bound(view, one) else whole(view, one, gone)
        if (
            drop_plan is None
            or (drop_plan.is_risky and min(places(view, drop_plan)) < first)
            or (alternate and drop_plan.empties)
        ):
            continue
        gone.update(left_out(drop_plan.edits))
        yield drop_plan


def _is_bound(view: View, one: IdleCall) -> bool:
    """Whether the call's message has signed thinking of the running turn: it might be taken for that of another."""
    session = view.session
    call = call_part(view, one) if session.thinking.signed > session.turn else None
    if call is None:
        return False
    message = session.conversation.messages[call.recorded.message]
    return message.ordinal > session.turn and any(
        part.recorded.signed for _, part in session.conversation.sent_parts(message)
    )


LANE = Lane(
    NAME,
    spares_firm=spares_firm,
    rebase=rebase,
    order=150,
    finder=Finder(lambda _: None, kinds=OUTPUTS, with_dropped=True),
)
