"""Composes a rebase of what the lanes want, and weighs it."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import TypeVar

import msgspec

from schemas.plan import AnyEdit, AppendText, OmitArc, PartContent, SetHead, Target, Withdraw, target
from services.domain.limits import Prices
from services.plan.lanes import Change, Lane, View
from services.plan.lanes.base import finders_of, nothing_needed
from services.plan.lanes.index import ConversationIndex, in_order, indexed
from services.plan.lanes.skeletons import MAX_CALLS
from services.plan.planner import economics
from services.plan.planner.causes import Causes
from services.plan.planner.economics import Economics, forecast, prices_of, weigh
from services.plan.planner.signatures import void_thinking
from services.plan.provider_rules.check import new_faults
from services.plan.provider_rules.signed_thinking import boundary, first_place
from services.plan.session.costs import before_cut, cost, heads
from services.plan.session.firm import CALL
from services.plan.session.lane_marks import join_marks, lanes_of
from services.plan.session.state import Session, served_tokens, with_edits

T = TypeVar("T")


def needed(view: View, lanes: Iterable[Lane], faults: list[str]) -> tuple[str, ...]:
    """The parts whose text a rebase must know, and that is not reported yet. `lanes`: those that are asked in it."""
    wanted: dict[str, None] = {}
    for lane in lanes:
        if lane.needs is not nothing_needed:
            names: Iterable[str] = guarded(lane.name, faults, partial(_needs, lane, view), ())
            wanted |= dict.fromkeys(name for name in names if name not in view.texts)
    return tuple(wanted)


def _needs(lane: Lane, view: View) -> tuple[str, ...]:
    return tuple(lane.needs(view))


def guarded(name: str, faults: list[str], work: Callable[[], T], nothing: T) -> T:
    """A lane that breaks costs its own edits of this pass, never the request."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - reported with the pass
        faults.append(f"the lane {name} failed: {type(error).__name__}: {error}")
        return nothing


replace = msgspec.structs.replace


class RebaseDraft(msgspec.Struct, frozen=True):
    """The edits of a rebase with what they are worth."""

    edits: tuple[AnyEdit, ...] = ()
    dropped: tuple[int, ...] = ()
    delays: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Parts whose text must be known first; the rest is empty then."""
    index: ConversationIndex = ConversationIndex()
    """The findings that the lanes looked at: of the same session they need not be made again."""
    economics: Economics = Economics(0, 0, 0, 0.0)
    after: Session = Session()
    """The session with these edits in force."""
    has_more: bool = False
    """Whether it changes what the model is given, and not only how much: the head."""


def collect(view: View, lanes: Sequence[Lane], prices: Prices) -> RebaseDraft:
    """Ask every lane, in order. Each gets the number of tokens still to be reclaimed."""
    working = [lane for lane in lanes if lane.works(view)]
    view = view if view.index.placed else replace(view, index=indexed(view.session, finders_of(working)))
    faults: list[str] = []
    needs = needed(view, working, faults)
    if needs:
        return RebaseDraft(needs=needs, faults=tuple(faults), index=view.index)
    changes, after = _asked(view, working, faults)
    edits = last_wins([edit for change in changes for edit in change.edits])
    refused = new_faults(view.session, edits)
    if refused:  # some lane's edits do not go together with the others': find those that do
        edits, changes = _without_faults(view, working, changes)
        after = with_edits(view.session, edits)
    silenced = _silenced(view, lanes)
    if silenced:
        after = with_edits(after, silenced)
        edits = last_wins([*edits, *silenced])
    thinking = void_thinking(view, edits, after)
    if thinking:
        after = with_edits(after, thinking)
        edits = last_wins([*edits, *thinking])
    first = first_place(view.session, edits) or 0
    return RebaseDraft(
        edits=edits,
        dropped=tuple(dict.fromkeys(number for change in changes for number in change.dropped)),
        delays=tuple(reason for change in changes for reason in change.delays),
        faults=(*faults, *refused),
        economics=_economics(view, edits, after, prices, first),
        after=after,
        has_more=any(isinstance(edit, SetHead) for edit in edits),
    )


def _asked(view: View, lanes: Sequence[Lane], faults: list[str]) -> tuple[list[Change], Session]:
    """The change that each lane makes, given those of the lanes before it and the tokens still to be reclaimed."""
    changes: list[Change] = []
    for lane in lanes:
        change = guarded(lane.name, faults, partial(lane.rebase, view), Change())
        changes.append(change)
        if change.edits:
            session = with_edits(view.session, change.edits)
            is_cut_anew = session.cut != view.session.cut
            view = replace(
                view,
                session=session,
                index=indexed(session, finders_of(lanes)) if is_cut_anew else view.index,
                target=_left(view.target, change),
                excess=_left(view.excess, change),
                made=(*view.made, change),
            )
    return changes, view.session


def _left(wanted: int, change: Change) -> int:
    """The tokens still to be reclaimed; 0 where none were wanted, whatever a change adds."""
    return max(0, wanted - change.reclaimed) if wanted else 0


def _silenced(view: View, lanes: Sequence[Lane]) -> tuple[Withdraw, ...]:
    """Edits of lanes that do not apply in this mode: it was not known then who leads the session."""
    silent = {lane.name for lane in lanes if view.mode not in lane.modes}
    if not silent or boundary(view.session):
        return ()
    appended = [edit for edit in view.session.plan.ends.values() if lanes_of(edit) <= silent]
    names = sorted((str(target(edit)), edit.by, edit.lane) for edit in appended)
    return tuple(Withdraw(what=what, by=by, lane=lane) for what, by, lane in names)


def _without_faults(
    view: View, lanes: Sequence[Lane], changes: Sequence[Change]
) -> tuple[tuple[AnyEdit, ...], list[Change]]:
    """Take the lanes' edits in order, without those of lanes that a provider would refuse."""
    edits: tuple[AnyEdit, ...] = ()
    accepted: list[Change] = []
    for _, change in zip(lanes, changes, strict=True):
        together = last_wins([*edits, *change.edits])
        if not new_faults(view.session, together):
            edits = together
            accepted.append(change)
    return edits, accepted


def _economics(view: View, edits: Sequence[AnyEdit], after: Session, prices: Prices, first: int) -> Economics:
    if not edits:
        return Economics(0, 0, 0, 0.0)
    session = view.session
    reclaimed = served_tokens(session) - served_tokens(after)
    calls = max(1, session.calls.count, session.conversation.count // 2)  # of an imported session no step is known
    steps = forecast(session.calls.count, reclaimed, session.conversation.tokens / calls)
    return weigh(reclaimed, _rewritten(view, first, after), steps, prices)


def _rewritten(view: View, first: int, after: Session) -> int:
    """Tokens that were sent before, from this message on, as they are served then; or all tokens but the others."""
    unchanged = view.session.step.unchanged if view.session.step else 0
    placed = view.index.placed if after.cut == view.session.cut else [*in_order(after)]
    begin, end = (bisect_left(placed, place, key=attrgetter("ordinal")) for place in (first, unchanged + 1))
    sent = [one.message for one in placed[begin:end]]
    if 2 * len(sent) < len(placed):
        return cost(after.conversation, after.plan, sent) + (0 if first else _beginning(after))
    others = [one.message for one in (*placed[:begin], *placed[max(begin, end) :])]
    others_cost = cost(after.conversation, after.plan, others)
    return max(0, served_tokens(after) - others_cost - (_beginning(after) if first else 0))


def _beginning(session: Session) -> int:
    """Tokens before the first message behind the cut: the heads, and the parts that stay."""
    return heads(session.plan) + before_cut(session.conversation, session.plan)


def last_wins(edits: Sequence[AnyEdit]) -> tuple[AnyEdit, ...]:
    """One edit for each target: the last. An omitted arc takes the other edits of its parts with it.

    What several lanes want to append to one part is appended together.
    """
    by_target: dict[Target, AnyEdit] = {}
    for edit in edits:
        key = target(edit)
        before = by_target.get(key)
        if isinstance(edit, AppendText) and isinstance(before, AppendText) and before != edit:
            lane, by = join_marks(before.lane, edit.lane), (*before.by, *edit.by)
            by_target[key] = replace(edit, text=before.text + edit.text, lane=lane, by=by)
        else:
            by_target[key] = edit
    for edit in edits:
        if isinstance(edit, OmitArc):
            for part in edit.parts:
                if part != edit.part:
                    by_target.pop(PartContent(part), None)
    return tuple(by_target.values())


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
    return why.pressure != ("cost",) or economics.is_worth(
        session.revisions.course.with_remainder(why.remainder, served),
        reclaimed,
        rewritten,
        served,
        prices_of(session.step, view.limits) if session.step else Prices(),
        why.room,
        at_turn=why.at_turn,
    )
