"""When history is compressed, and which part of it: pure functions of a session's state."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

import msgspec

from schemas.events import CompartmentSealed, HistoryAbandoned, HistoryOrdered, HistoryRequested
from services.domain.compartments import AHEAD
from services.domain.jobs import closed, is_paused
from services.domain.limits import Limits as PlanLimits
from services.historian.core.context_pressure import ContextPressure, HistoryLimits, context_pressure
from services.historian.core.eligible import MessageCost, eligible, measured
from services.historian.core.publish import abandoned
from services.historian.core.state import REBUILD, REMOVED, RESCORE, HistorianSession
from services.historian.core.summary import RULES

FORCE_PERCENT = 80.0
"""Of the usable window: from here on only waiting drops can make a job needless."""
SHORT_PERCENT = 95.0
"""From here on failures of the past hold nothing up."""
HEADROOM_PERCENT = 2.0
"""So much below the threshold a job begins, so that it is done when room is made."""
FULL_TOKENS, FULL_MESSAGES = 6_000, 12
"""From here on a piece of history is worth a job of its own."""
TAIL_BUDGETS = 3
SERVED = frozenset({"primary", "reduce_off", "subagent"})
"""The modes of sessions whose prompts are made smaller, and that history is written for."""
LAG, LEAST_LAG = 0.25, 1_000
"""The share of the tail, and the least tokens, that must be waiting for rules to write more history ahead."""
SMALLEST = 12_000
"""Tokens of the messages of a compartment: a smaller one that rules have made ahead is made anew with what follows."""
WRAPUP_TAIL = 2_000
"""Tokens that even an order to compress everything leaves as they are."""


def due(
    session: HistorianSession, plan: PlanLimits, limits: HistoryLimits, *, now: datetime
) -> HistoryRequested | HistoryAbandoned | None:
    """The fact that is due now, if any: the end of a rebuild that nobody wants any more, or a job."""
    request = session.request
    if request is not None and session.is_given_up:
        return abandoned(request, "it was ordered to be given up")
    return wanted(session, plan, limits, now=now)


def wanted(
    session: HistorianSession, plan: PlanLimits, limits: HistoryLimits, *, now: datetime
) -> HistoryRequested | None:
    """The job that should be done now, if any."""
    if not limits.enabled or session.request is not None or session.step is None:
        return None
    if session.order is not None:
        return _ordered(session, session.order, plan)
    pressure = context_pressure(session, plan)
    waits = is_paused(session.jobs, now) and pressure.percent < SHORT_PERCENT
    if waits or session.step.mode not in SERVED:
        return None
    tail = pressure.tail(limits)
    found = eligible(measured(session.conversation, session.history.last), tail)
    unwritten = _unwritten(session, tail) if limits.models and limits.ahead else found
    reason = _reason(session, pressure, unwritten, limits) if unwritten else ""
    if reason != "force" and (stale := _stale(session, pressure)) is not None:
        return stale
    if reason and (again := _again(session, unwritten)):
        return _anew(session, again, reason, pressure)
    if not reason and limits.ahead and _is_behind(found, tail):
        return _request(session, _with_small(session, found), AHEAD, pressure)
    return _request(session, found, reason, pressure) if reason and found else None


def _unwritten(session: HistorianSession, tail: int) -> Sequence[MessageCost]:
    """The messages behind what models have written: the rules' history of them gives way to theirs."""
    return eligible(measured(session.conversation, min(session.written, session.history.last)), tail)


def _again(session: HistorianSession, unwritten: Sequence[MessageCost]) -> tuple[int, int] | None:
    """The compartments of the rules among these messages; none: there are none, and what is new is written first."""
    made = [
        one
        for one in session.history.sealed
        if one.source == RULES and one.first >= unwritten[0].ordinal and one.last <= unwritten[-1].ordinal
    ]
    return (made[0].first, made[-1].last) if made else None


def _anew(
    session: HistorianSession, span: tuple[int, int], reason: str, pressure: ContextPressure
) -> HistoryRequested | None:
    """A job over a range that is compressed already, in a generation of its own."""
    messages = [one for one in measured(session.conversation, 0) if span[0] <= one.ordinal <= span[1]]
    if not messages:
        return None
    made = _request(session, messages, reason, pressure)
    generation = max(session.generations, session.history.generation) + 1
    run = name(session, generation, span[0])
    return msgspec.structs.replace(made, run=run, generation=generation, first=span[0], last=span[1])


def _stale(session: HistorianSession, pressure: ContextPressure) -> HistoryRequested | None:
    """A job over the first compartment that quotes deleted messages; where none is left in it, with its neighbours."""
    sealed = session.history.sealed
    for at, one in enumerate(sealed):
        if one.compartment not in session.history.outdated:
            continue
        around = sealed[max(0, at - 1) : at + 2]
        span = _left(session, one.first, one.last) or _left(session, around[0].first, around[-1].last)
        if span and span[0] <= one.last and span[1] >= one.first:
            return _anew(session, span, REMOVED, pressure)
    return None


def _left(session: HistorianSession, first: int, last: int) -> tuple[int, int] | None:
    """The first and the last message that is still there in this range; none: none is."""
    left = [message.ordinal for message in session.conversation.after(first - 1) if message.ordinal <= last]
    return (left[0], left[-1]) if left else None


def _is_behind(found: Sequence[MessageCost], tail: int) -> bool:
    """Whether so much lies behind the tail that the history in reserve should reach further."""
    return sum(one.tokens for one in found) >= max(LEAST_LAG, LAG * tail)


def _with_small(session: HistorianSession, found: Sequence[MessageCost]) -> Sequence[MessageCost]:
    """These messages, and those of a small compartment before them that is not served yet: together they say more."""
    last = session.history.sealed[-1] if session.history.sealed else None
    if last is None or last.source != RULES or last.tokens >= SMALLEST or last.last <= session.folded:
        return found
    again = [one for one in measured(session.conversation, last.first - 1) if one.ordinal <= last.last]
    return (*again, *found) if again and again[0].ordinal == last.first else found


def forced(session: HistorianSession, plan: PlanLimits, limits: HistoryLimits, *, now: datetime) -> bool:
    """Whether room is so short that a job should be made in the place of the open one."""
    found = wanted(msgspec.structs.replace(session, jobs=closed(session.jobs), order=None), plan, limits, now=now)
    return found is not None and found.reason == "force"


def _reason(
    session: HistorianSession, pressure: ContextPressure, found: Sequence[MessageCost], limits: HistoryLimits
) -> str:
    """The reason why the eligible messages should be compressed now; empty: they should not."""
    tokens = sum(one.transcript_tokens for one in found)
    is_full = tokens >= FULL_TOKENS or len(found) >= FULL_MESSAGES
    if pressure.percent >= FORCE_PERCENT:
        return "" if pressure.relieved else "force"
    if limits.commit_clusters and tokens >= pressure.budget and clusters(session, found) >= limits.commit_clusters:
        return "commit_clusters"
    if tokens >= TAIL_BUDGETS * pressure.budget:
        return "tail_size"
    if pressure.percent >= pressure.threshold.percent - HEADROOM_PERCENT and not pressure.relieved and is_full:
        return "projected_headroom"
    if tokens >= pressure.budget and any(one.message.recorded.message == session.closed for one in found):
        return "closed_frame"
    return "idle" if session.is_idle and tokens >= pressure.budget and is_full else ""


def clusters(session: HistorianSession, found: Sequence[MessageCost]) -> int:
    """Turns in which something was committed."""
    turn = 0
    turns = []
    for one in found:
        turn += one.is_turn
        if one.message.recorded.message in session.commits:
            turns.append(turn)
    return sum(1 for _ in groupby(turns))


def _request(
    session: HistorianSession, found: Sequence[MessageCost], reason: str, pressure: ContextPressure
) -> HistoryRequested:
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
        percent=round(pressure.percent, 1),
        failures=session.jobs.failures,
    )


def _ordered(session: HistorianSession, order: HistoryOrdered, plan: PlanLimits) -> HistoryRequested:
    """The job of an order. One of which nothing can come is opened, too: it fails with a reason that can be read."""
    pressure = context_pressure(session, plan)
    if order.order == "wrapup":
        found = eligible(measured(session.conversation, session.history.last), WRAPUP_TAIL)
        if found:
            return _request(session, found, "wrapup", pressure)
        return _nothing(session, "wrapup")
    sealed = session.history.sealed
    if order.order == RESCORE:
        judged = _nothing(session, RESCORE)
        return msgspec.structs.replace(judged, first=sealed[0].first, last=sealed[-1].last) if sealed else judged
    span = _snapped(sealed, order)
    return (_anew(session, span, REBUILD, pressure) if span else None) or _nothing(session, REBUILD)


def _snapped(sealed: Sequence[CompartmentSealed], order: HistoryOrdered) -> tuple[int, int] | None:
    """The wanted range, moved out to the bounds of the compartments that it touches; none: it touches none."""
    last = order.last or (sealed[-1].last if sealed else 0)
    touched = [one for one in sealed if one.last >= order.first and one.first <= last]
    return (touched[0].first, touched[-1].last) if touched else None


def _nothing(session: HistorianSession, reason: str) -> HistoryRequested:
    first, generation = session.history.last + 1, session.history.generation
    run = name(session, generation, first)
    return HistoryRequested(run=run, reason=reason, first=first, last=first - 1, generation=generation)


def name(session: HistorianSession, generation: int, first: int) -> str:
    """The name of a job: the same for all who decide on the same state."""
    return f"{generation}.{first}.{session.jobs.begun}"
