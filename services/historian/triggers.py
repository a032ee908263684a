"""When history is compressed, and which part of it: pure functions of a session's state."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

import msgspec

from schemas.events import CompartmentSealed, HistoryAbandoned, HistoryOrdered, HistoryRequested
from services.historian.facing import Facing, facing
from services.historian.limits import Limits
from services.historian.state import REBUILD, RESCORE, Session
from services.historian.tail import Measured, eligible, measured
from services.kit.limits import Limits as PlanLimits

FORCE_PERCENT = 80.0
"""Of the usable window: from here on only waiting drops can make a run needless."""
SHORT_PERCENT = 95.0
"""From here on failures of the past hold nothing up."""
HEADROOM_PERCENT = 2.0
"""So much below the threshold a run begins, so that it is done when room is made."""
FULL_TOKENS, FULL_MESSAGES = 6_000, 12
"""From here on a piece of history is worth a run of its own."""
TAIL_BUDGETS = 3
WRAPUP_TAIL = 2_000
"""Tokens that even an order to compress everything leaves as they are."""


def due(
    session: Session, plan: PlanLimits, limits: Limits, *, now: datetime, idle: bool = False
) -> HistoryRequested | HistoryAbandoned | None:
    """What should be written now, if anything: the end of a rebuild that nobody wants any more, or a run."""
    run = session.run
    if run is not None and session.is_given_up:
        return HistoryAbandoned(run=run.run, generation=run.generation, reason="it was ordered to be given up")
    return wanted(session, plan, limits, now=now, idle=idle)


def wanted(
    session: Session, plan: PlanLimits, limits: Limits, *, now: datetime, idle: bool = False
) -> HistoryRequested | None:
    """The run that should be made now, if any. `idle`: the agent has just finished its turn."""
    if not limits.enabled or session.run is not None or session.parent or session.step is None:
        return None
    if session.order is not None:
        return _ordered(session, session.order, plan)
    faced = facing(session, plan)
    is_held = session.retry_at is not None and now < session.retry_at
    if session.step.mode in ("subagent", "hidden", "additive") or (is_held and faced.percent < SHORT_PERCENT):
        return None
    found = eligible(measured(session.talk, session.history.last), faced.tail(limits))
    reason = _reason(session, faced, found, limits, idle=idle) if found else ""
    return _request(session, found, reason, faced) if reason else None


def forced(session: Session, plan: PlanLimits, limits: Limits, *, now: datetime) -> bool:
    """Whether room is so short that a run should be made in the place of the open one."""
    found = wanted(msgspec.structs.replace(session, run=None, order=None), plan, limits, now=now)
    return found is not None and found.reason == "force"


def _reason(session: Session, faced: Facing, found: Sequence[Measured], limits: Limits, *, idle: bool) -> str:
    """Why the eligible messages should be compressed now; empty: they should not."""
    spoken = sum(one.spoken for one in found)
    is_full = spoken >= FULL_TOKENS or len(found) >= FULL_MESSAGES
    if faced.percent >= FORCE_PERCENT:
        return "" if faced.relieved else "force"
    if limits.commit_clusters and spoken >= faced.budget and clusters(session, found) >= limits.commit_clusters:
        return "commit_clusters"
    if spoken >= TAIL_BUDGETS * faced.budget:
        return "tail_size"
    if faced.percent >= faced.threshold.percent - HEADROOM_PERCENT and not faced.relieved and is_full:
        return "projected_headroom"
    if spoken >= faced.budget and any(one.message.recorded.message == session.closed for one in found):
        return "closed_frame"
    return "idle" if idle and spoken >= faced.budget and is_full else ""


def clusters(session: Session, found: Sequence[Measured]) -> int:
    """Turns in which something was committed."""
    turn = 0
    turns = []
    for one in found:
        turn += one.is_turn
        if one.message.recorded.message in session.commits:
            turns.append(turn)
    return sum(1 for _ in groupby(turns))


def _request(session: Session, found: Sequence[Measured], reason: str, faced: Facing) -> HistoryRequested:
    first, last = found[0].ordinal, found[-1].ordinal
    generation = session.history.generation
    return HistoryRequested(
        run=name(session, generation, first),
        reason=reason,
        first=first,
        last=last,
        generation=generation,
        tokens=sum(one.tokens for one in found),
        used=session.used,
        percent=round(faced.percent, 1),
        failures=session.failures,
    )


def _ordered(session: Session, order: HistoryOrdered, plan: PlanLimits) -> HistoryRequested:
    """The run of an order. One of which nothing can come is opened, too: it fails with a reason that can be read."""
    faced = facing(session, plan)
    if order.order == "wrapup":
        found = eligible(measured(session.talk, session.history.last), WRAPUP_TAIL)
        if found:
            return _request(session, found, "wrapup", faced)
        return _nothing(session, "wrapup")
    sealed = session.history.sealed
    if order.order == RESCORE:
        judged = _nothing(session, RESCORE)
        return msgspec.structs.replace(judged, first=sealed[0].first, last=sealed[-1].last) if sealed else judged
    span = _snapped(sealed, order)
    messages = [one for one in measured(session.talk, 0) if span and span[0] <= one.ordinal <= span[1]]
    if not messages or span is None:
        return _nothing(session, REBUILD)
    made = _request(session, messages, REBUILD, faced)
    generation = max(session.generations, session.history.generation) + 1
    run = name(session, generation, span[0])
    return msgspec.structs.replace(made, run=run, generation=generation, first=span[0], last=span[1])


def _snapped(sealed: Sequence[CompartmentSealed], order: HistoryOrdered) -> tuple[int, int] | None:
    """The wanted range, moved out to the bounds of the compartments that it touches; none: it touches none."""
    last = order.last or (sealed[-1].last if sealed else 0)
    touched = [one for one in sealed if one.last >= order.first and one.first <= last]
    return (touched[0].first, touched[-1].last) if touched else None


def _nothing(session: Session, reason: str) -> HistoryRequested:
    first, generation = session.history.last + 1, session.history.generation
    run = name(session, generation, first)
    return HistoryRequested(run=run, reason=reason, first=first, last=first - 1, generation=generation)


def name(session: Session, generation: int, first: int) -> str:
    """Who decides on the same state gives a run the same name."""
    return f"{generation}.{first}.{session.runs}"
