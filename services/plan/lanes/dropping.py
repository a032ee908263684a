"""Drops that nobody asked for: which calls may go, and the edits with which they go."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from schemas.plan import AnyEdit, OmitArc, ReplaceOutput
from services.domain.conversation import Part
from services.domain.tokens import tokens
from services.plan.lanes.base import Change, View
from services.plan.lanes.drops import MAX_DROPPED_INPUT, dropped_part, placeholder
from services.plan.lanes.tool_pairs import DropPlan, IdleCall, acceptable, call_part, left_out, whole
from services.plan.session.costs import served_output

MIN_SAVING = 16
"""Tokens: for less than this a placeholder is not worth its own line."""

replace = msgspec.structs.replace


def calls(view: View, among: Iterable[Part] | None = None) -> Iterator[Part]:
    """The finished calls whose answers are served, in order. What is about to be dropped anyway is passed over.

    `among`: those of them that are meant; None: all. They are chosen first, since looking up what is served costs most.
    """
    meant = view.index.calls if among is None else among
    return (part for part in meant if view.is_served(part.recorded.part))


def drop(
    view: View,
    lane: str,
    wanted: Iterable[IdleCall],
    *,
    spare: Iterable[IdleCall] = (),
    enough: int = 0,
    without_trace: bool = False,
) -> Change:
    """Drop these calls, and of the spare ones so many that `enough` tokens are saved.

    A call leaves a placeholder behind its arguments, or goes whole where the arguments are long. `without_trace`: it
    goes whole in any case, where that is possible.
    """
    required = tuple(wanted)
    names = {one.name for one in required}
    drop_plans: list[DropPlan] = []
    saved = 0
    for drop_plan in _drop_plans(view, chain(required, spare), without_trace=without_trace):
        if saved >= enough and drop_plan.wanted.name not in names:
            break
        drop_plans.append(drop_plan)
        saved += drop_plan.saving
    sound = _sound(view, drop_plans)
    return Change(
        edits=tuple(signed_off(edit, lane) for drop_plan in sound for edit in drop_plan.edits),
        dropped=tuple(number for drop_plan in sound if (number := drop_plan.wanted.part.number)),
        reclaimed=sum(drop_plan.saving for drop_plan in sound),
    )


def _drop_plans(view: View, wanted: Iterable[IdleCall], *, without_trace: bool) -> Iterator[DropPlan]:
    """The edits by which each of them goes, if that is worth it; what goes with one is gone for those behind it."""
    gone: set[str] = set()
    for one in wanted:
        drop_plan = whole(view, one, gone) if without_trace or _is_long(view, one) else None
        drop_plan = drop_plan or _plain(view, one, gone)
        if drop_plan.saving >= MIN_SAVING:
            gone.update(left_out(drop_plan.edits))
            yield drop_plan


def _plain(view: View, one: IdleCall, gone: set[str]) -> DropPlan:
    if call_part(view, one) is None:
        return _answer_only(view, one)
    edit, saving = dropped_part(view.session, one.name, one.part, one.why or one.part.seq, gone)
    return DropPlan(one, (edit,), saving, is_risky=isinstance(edit, OmitArc))


def _is_long(view: View, one: IdleCall) -> bool:
    call = call_part(view, one)
    return call is not None and call.recorded.input_bytes > MAX_DROPPED_INPUT


def _sound(view: View, drop_plans: Sequence[DropPlan]) -> Sequence[DropPlan]:
    """The plans that a provider accepts: where a call cannot go whole, only its answer goes, and that is settled."""
    sound = {drop_plan.wanted.name for drop_plan in acceptable(view, drop_plans)}
    return [
        drop_plan if drop_plan.wanted.name in sound else _answer_only(view, drop_plan.wanted)
        for drop_plan in drop_plans
    ]


def _answer_only(view: View, one: IdleCall) -> DropPlan:
    text = placeholder(one.part.number)
    edit = ReplaceOutput(part=one.name, text=text, by=one.by)
    saving = served_output(view.session.plan, one.part.recorded) - tokens(len(text.encode()))
    return DropPlan(one, (edit,), saving)


def signed_off(edit: AnyEdit, lane: str) -> AnyEdit:
    """The edit as this lane's."""
    return replace(edit, lane=lane, by=tuple(dict.fromkeys(filter(None, edit.by))))
