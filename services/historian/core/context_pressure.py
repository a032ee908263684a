"""The pressure on a session's context: how full the window is, and what the next rebase will take out anyway."""

import msgspec

from services.domain.limits import History
from services.domain.limits import Limits as PlanLimits
from services.domain.protection import protected
from services.domain.retention import Retention, retention
from services.domain.window import Threshold, Window, threshold, window
from services.historian.core.eligible import MessageCost, measured
from services.historian.core.state import HistorianSession


class HistoryLimits(History, frozen=True):
    """The settings of history, and what follows from other settings."""

    models: bool = False
    """Whether models write, in the place of what the rules have made ahead."""


RELIEVED = 0.75
"""Share of the threshold below which drops alone are enough."""
BUDGET_SHARE = 0.05
MIN_BUDGET, MAX_BUDGET = 5_000, 50_000


class ContextPressure(msgspec.Struct, frozen=True):
    """The pressure on a session's context: how full the window of its model is."""

    window: Window
    threshold: Threshold
    percent: float
    """The newest prompt as a share of what it may have."""
    projected: float | None
    """The same after the next rebase, without a job; none: nothing waits that would make it smaller."""
    retention: Retention
    """The parts that stay when the prompt is made smaller."""

    @property
    def budget(self) -> int:
        """Tokens of a transcript from which on a job is worth while."""
        share = round(self.threshold.tokens(self.window) * BUDGET_SHARE)
        return min(max(share, MIN_BUDGET), MAX_BUDGET)

    @property
    def relieved(self) -> bool:
        return self.projected is not None and self.projected <= RELIEVED * self.threshold.percent

    def tail(self, limits: HistoryLimits) -> int:
        """Tokens of the newest messages that stay as they are."""
        return min(self.retention.tail, limits.tail_tokens)


def context_pressure(session: HistorianSession, plan: PlanLimits) -> ContextPressure:
    if session.step is None:
        raise ValueError("a session without a model call faces no window")
    room = window(session.step, session.learned, plan)
    percent = room.percent(session.used)
    stays = retention(room.usable, plan.context)
    return ContextPressure(
        room, threshold(session.step, room, plan), percent, _projected(session, plan, percent), stays
    )


def _projected(session: HistorianSession, plan: PlanLimits, percent: float) -> float | None:
    """The percentage that is left once drops, and history that is compressed and not yet served, are taken out."""
    sent = measured(session.conversation, session.folded)
    waiting = sum(one.tokens for one in sent if one.ordinal <= session.history.last)
    behind = [one for one in sent if one.ordinal > session.history.last]
    safe = protected(session.conversation, plan.protected_tags)
    waiting += sum(_droppable(session, one, plan, safe) for one in behind)
    active = sum(one.tokens for one in sent)
    return percent * max(0.0, 1 - waiting / active) if waiting and active else None


def _droppable(session: HistorianSession, one: MessageCost, plan: PlanLimits, safe: frozenset[int]) -> int:
    """Estimated tokens that the next rebase takes out of a message."""
    size = 0
    for _, part in session.conversation.sent_parts(one.message):
        is_old = (
            plan.auto_drop_tool_age and 0 < part.number <= session.conversation.last_number - plan.auto_drop_tool_age
        )
        is_tool = part.recorded.kind in ("tool", "tool_result")
        if part.number not in safe and (part.number in session.queued or (is_old and is_tool)):
            size += part.recorded.tokens
    return size
