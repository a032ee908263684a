"""The question of a person about what background models have cost, and the reply."""

from typing import ClassVar, Literal

import msgspec

from schemas.ask import Ask, RequestReply
from schemas.numbers import Count

Owner = Literal["project", "installation"]
"""Whose budget it is."""


class SpendingAsk(Ask, frozen=True):
    """What have background models cost by now, and what may they cost? The answer is as the desk decides by it."""

    NAME: ClassVar[str] = "spending"

    project: str = ""
    """With the budget of this project; empty: that of the installation alone."""


class SpentBudget(msgspec.Struct, frozen=True, omit_defaults=True):
    """A budget of a day or a month, and what is spent of it. A call that was not settled counts as it was reserved."""

    owner: Owner
    period: str
    """In UTC: a day such as `2026-11-21`, or a month such as `2026-11`."""
    tokens: Count = 0
    usd: float = 0.0
    most_tokens: Count | None = None
    """The most tokens that may be spent; None: tokens have no limit."""
    most_usd: float | None = None
    """The most USD that may be spent; None: costs have no limit."""


class SpentBudgets(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.spending`: the day and the month of the project, and those of the installation."""

    budgets: tuple[SpentBudget, ...] = ()
    error: str = ""


SPENDING = RequestReply(SpendingAsk, SpentBudgets, order=300)
