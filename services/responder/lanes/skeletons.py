"""The lane that takes out what is left of old drops: a call, and a placeholder where its answer was."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import chain, islice

from schemas.plan import CutBefore, OmitArc, ReplaceOutput, SetHead
from services.kit.conversation import Part
from services.kit.tokens import tokens
from services.responder.admission import place
from services.responder.lanes.arcs import Wanted, Way, acceptable, call_part, left_out, places, whole
from services.responder.lanes.base import Change, View
from services.responder.lanes.dropping import signed_off
from services.responder.lanes.drops import placeholder

NAME = "skeletons"
KEPT = 20
"""Dropped calls that keep their arguments before a placeholder: the newest."""
MAX_CALLS = 250
"""Calls that are taken out in one rebase: each costs time, and more wait for the next one."""


def rebase(view: View, kept: int = KEPT) -> Change:
    """Take out the older calls behind the first message that changes anyway; all of them where that is free."""
    now = [*_dropped_now(view)]
    newest = nlargest(kept, chain(view.survey.dropped, (part.number for part in now)))
    if len(newest) < kept:
        return Change()
    first = _first_changed(view)
    old = [part for part in chain(_behind(view, first), now) if part.number < newest[-1]]
    ways = _sound(view, _wanted(view, old), first)
    return Change(
        edits=tuple(signed_off(edit, NAME) for way in ways for edit in way.edits),
        reclaimed=sum(_saving(way) for way in ways),
    )


def _dropped_now(view: View) -> Iterator[Part]:
    """The outputs that lanes before this one drop in this rebase."""
    for change in view.made:
        numbers = {*change.dropped}
        for edit in change.edits if numbers else ():
            part = view.session.talk.parts.get(edit.part) if isinstance(edit, ReplaceOutput | OmitArc) else None
            if part is not None and part.number in numbers:
                yield part


def _first_changed(view: View) -> int:
    """The first message that no cache serves: it is new, or another lane changes it. What is cut away is before it."""
    session = view.session
    first = session.cut or 1
    if view.is_free:
        return first
    changed = [1 + (session.step.kept if session.step else 0)]
    for change in view.made:
        for edit in change.edits:
            where = place(session, edit)
            if where or isinstance(edit, SetHead | CutBefore):
                changed.append(where)
    return max(first, min(changed))


def _behind(view: View, first: int) -> Sequence[Part]:
    """The outputs from this message on that were dropped before."""

    def where(part: Part) -> int:
        return view.session.talk.place(part.recorded.part)

    waiting = view.survey.skeletons
    return waiting[bisect_left(waiting, first, key=where) :]


def _wanted(view: View, parts: Iterable[Part]) -> Iterator[Wanted]:
    """Those that are served as a placeholder, and with nothing behind it, with the facts that they were dropped for."""
    edits, altered = view.session.edits, view.session.altered
    for part in parts:
        edit = altered.get(part.recorded.part)
        if isinstance(edit, ReplaceOutput) and f"append:{part.recorded.part}" not in edits:
            yield Wanted(part, max(edit.by, default=0))


def _sound(view: View, wanted: Iterable[Wanted], first: int) -> Sequence[Way]:
    """How they go. Where one cannot, what stands beside it stays as well: then that is asked again without it."""
    ways = [*islice(_ways(view, wanted, first), MAX_CALLS)]
    sound = acceptable(view, ways)
    return ways if len(sound) == len(ways) else _sound(view, [way.wanted for way in sound], first)


def _ways(view: View, wanted: Iterable[Wanted], first: int) -> Iterator[Way]:
    """How each would go, if that changes nothing before this message.

    Where roles must alternate no message goes: the one that makes up for it may go later.
    """
    gone: set[str] = set()
    alternate = "requires_alternation" in view.able
    for one in wanted:
        way = None if _is_bound(view, one) else whole(view, one, gone)
        if way is None or (way.is_risky and min(places(view, way)) < first) or (alternate and way.empties):
            continue
        gone.update(left_out(way.edits))
        yield way


def _is_bound(view: View, one: Wanted) -> bool:
    """Whether signed thinking of the running turn stands beside the call: it might be taken for that of another."""
    session = view.session
    call = call_part(view, one) if session.signed > session.turn else None
    if call is None:
        return False
    message = session.talk.messages[call.recorded.message]
    return message.ordinal > session.turn and any(part.recorded.signed for _, part in session.talk.sent_parts(message))


def _saving(way: Way) -> int:
    """Of the answer only a placeholder has been left."""
    part = way.wanted.part
    return way.saving - tokens(part.recorded.bytes) + tokens(len(placeholder(part.number)))
