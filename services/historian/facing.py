"""How a session stands against its model's window: how full it is, and what the next rebase will take out anyway."""

import msgspec

from services.historian.limits import Limits
from services.historian.state import Session
from services.historian.tail import Measured, measured
from services.kit.limits import Limits as PlanLimits
from services.kit.window import Threshold, Window, threshold, window

RELIEVED = 0.75
"""Share of the threshold below which drops alone are enough."""
BUDGET_SHARE = 0.05
MIN_BUDGET, MAX_BUDGET = 5_000, 50_000


class Facing(msgspec.Struct, frozen=True):
    """How a session stands against its model's window."""

    window: Window
    threshold: Threshold
    percent: float
    """The newest prompt as a share of what it may have."""
    projected: float | None
    """The same after the next rebase, without a run; none: nothing waits that would make it smaller."""

    @property
    def budget(self) -> int:
        """Tokens of a transcript from which on a run is worth while."""
        share = round(self.threshold.tokens(self.window) * BUDGET_SHARE)
        return min(max(share, MIN_BUDGET), MAX_BUDGET)

    @property
    def relieved(self) -> bool:
        return self.projected is not None and self.projected <= RELIEVED * self.threshold.percent

    def tail(self, limits: Limits) -> int:
        """Tokens of the newest messages that stay as they are."""
        return min(int(self.threshold.tokens(self.window) * limits.tail_percent / 100), limits.tail_tokens)


def facing(session: Session, plan: PlanLimits) -> Facing:
    if session.step is None:
        raise ValueError("a session without a model call faces no window")
    room = window(session.step, session.learned, plan)
    percent = room.percent(session.used)
    return Facing(room, threshold(session.step, room, plan), percent, _projected(session, plan, percent))


def _projected(session: Session, plan: PlanLimits, percent: float) -> float | None:
    """What drops, and history that is compressed and not yet served, will leave of it."""
    sent = measured(session.talk, session.folded)
    waiting = sum(one.tokens for one in sent if one.ordinal <= session.history.last)
    behind = [one for one in sent if one.ordinal > session.history.last]
    waiting += sum(_droppable(session, one, plan) for one in behind)
    active = sum(one.tokens for one in sent)
    return percent * max(0.0, 1 - waiting / active) if waiting and active else None


def _droppable(session: Session, one: Measured, plan: PlanLimits) -> int:
    """Estimated tokens that the next rebase takes out of a message."""
    guarded_from = session.talk.last_number - plan.protected_tags
    size = 0
    for _, part in session.talk.sent_parts(one.message):
        is_old = plan.auto_drop_tool_age and 0 < part.number <= session.talk.last_number - plan.auto_drop_tool_age
        is_tool = part.recorded.kind in ("tool", "tool_result")
        if part.number <= guarded_from and (part.number in session.queued or (is_old and is_tool)):
            size += part.recorded.tokens
    return size
