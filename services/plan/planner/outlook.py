"""The outlook on a session's next rebase, for a person who asks why none was made."""

from collections.abc import Iterator

import msgspec

from schemas.events import StepOpened
from services.domain.limits import Limits
from services.domain.retention import retention
from services.domain.window import Window, threshold
from services.plan.planner import economics
from services.plan.planner.causes import is_declined, is_latched, is_mid_turn, remaining_tokens
from services.plan.planner.economics import prices_of
from services.plan.session.calibration import within
from services.plan.session.state import Session, served_tokens

PAID = 100.0
"""Percent of the price of a rebase at which it is made."""


class Outlook(msgspec.Struct, frozen=True):
    """The distance from the next rebase."""

    prompt: int
    """Tokens of the coming prompt as it is, as the provider counts them."""
    percent: float
    """Its share of what is usable."""
    threshold: float
    """Percent of the usable window at which room is made between two turns."""
    threshold_tokens: int
    force: float
    """Percent of the usable window at which room is made in the middle of a turn."""
    spent: float
    """Percent of what a rebase costs that going on as it is has cost since the last one; at 100 a rebase is made."""
    reasons: tuple[str, ...]
    """The reasons why no rebase was made at the newest call, in words."""


def outlook(session: Session, step: StepOpened, window: Window, limits: Limits) -> Outlook:
    """`step`: the session's newest. `window`: what its model takes."""
    begins = threshold(step, window, limits)
    prompt = within(session.usage.calibration, window).prompt(served_tokens(session))
    prices = prices_of(step, limits)
    remainder = remaining_tokens(session, retention(window.usable, limits.context))
    share = economics.TURN if not is_mid_turn(session) else 1.0
    price = economics.price(remainder, prices, window.room(prompt)) * share
    spent = PAID * economics.spent(session.revisions.course, prices) / price if price else PAID
    percent = window.percent(prompt)
    reasons = tuple(_reasons(session, limits, prompt, spent, is_full=percent >= begins.percent))
    return Outlook(prompt, percent, begins.percent, begins.tokens(window), begins.force, spent, reasons)


def _reasons(session: Session, limits: Limits, prompt: int, spent: float, *, is_full: bool) -> Iterator[str]:
    step = session.step
    if step is not None and session.revisions.rebased_step == step.step:
        yield "one was made at the newest call"
        return
    delays = ", ".join(sorted(session.waits.causes))
    if delays:
        yield f"{delays}: it waits for the end of a turn whose signed thinking it would break"
    if session.waits.overflow:
        yield "the provider refused the newest prompt for its length: room is made at the coming call"
        return
    if is_latched(session):
        yield "the provider has counted no prompt since the last one"
    elif is_declined(session, limits, prompt):
        yield "one was weighed for a prompt of this length, and would not have paid"
    elif is_full and is_mid_turn(session):
        yield "it waits for the end of the turn"
    elif not is_full and spent < PAID:
        yield "the window has room, and going on is still cheaper"
    elif not session.waits.causes:
        yield "nothing that is old enough to go would have paid"
