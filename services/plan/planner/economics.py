"""The economics of a rebase: its price, what it gives back, and how much of that the calls to come will have.

With R tokens that a rebase keeps and writes anew, a growth of g tokens a call, and prices r (read from the cache) and
w (written to it), rebasing whenever x tokens have come costs (w-r)·R·g/x + r·x/2 a call above what every policy
costs. That is least at x = sqrt(2·(w-r)·R·g/r): where what was read above R since the last rebase, r·x²/(2·g), has
cost just what the rebase costs, (w-r)·R. So the sum of what was read in excess decides. It needs no forecast, and
holds where a session grows by leaps, too.

What a rebase leaves out may have to be looked at again. That is part of its price.
"""

import msgspec

from schemas.events import StepOpened
from services.domain.limits import Limits, Prices
from services.domain.window import of_model
from services.plan.session.revisions import Course

FEWEST = 8
MOST = 200
"""Bounds of the forecast of coming calls."""
REGROWN = 3
"""A rebase counts on the calls in which one in so many of the reclaimed tokens comes anew: with half of them, pauses
and floods have been seen to come first; with a quarter, prompts stay long for nothing."""


class Economics(msgspec.Struct, frozen=True):
    """The numbers that a rebase is decided on, in tokens and model calls."""

    reclaimed: int
    rewritten: int
    """Tokens behind the first edit: the provider's cache has to be written anew for them."""
    steps: int
    """Model calls that are expected to come."""
    break_even: float
    """Calls after which the rebase has paid for itself; 0: it costs nothing."""
    price: float = 0.0
    """The price, paid once, in plain tokens."""

    @property
    def pays(self) -> bool:
        return self.reclaimed > 0 and self.steps > self.break_even


def prices_of(step: StepOpened, limits: Limits) -> Prices:
    """The prices of the model in work. Without a cache each token is paid in full, and none is rewritten."""
    if step.capabilities and "caches_exact_prefix" not in step.capabilities:
        return Prices(read=1.0, write=1.0)
    return of_model(limits.prices, step.provider, step.model, Prices())


def weigh(reclaimed: int, rewritten: int, steps: int, prices: Prices) -> Economics:
    """A rebase saves `reclaimed * read` at each coming call and costs `rewritten * (write - read)` once."""
    price = rewritten * max(0.0, prices.write - prices.read)
    gain = reclaimed * prices.read
    return Economics(reclaimed, rewritten, steps, price / gain if gain > 0 else 0.0, price)


def forecast(steps: int, reclaimed: int, growth: float) -> int:
    """Calls to come in which so many reclaimed tokens are saved.

    A session that has made so many calls makes as many again, as with all that has no age to die at. But when a third
    of what was taken has come anew, the next rebase may be near. `growth`: tokens that one call has brought so far.
    """
    lasting = max(FEWEST, min(MOST, steps))
    return min(lasting, max(FEWEST, int(reclaimed / (REGROWN * growth)))) if growth > 0 else lasting


FORGETTING = 40.0
"""Times that each token which a rebase keeps could be read for what has to be looked at again of what it leaves out: a
look back is a call of its own, and reads the whole prompt."""
NEAR = 0.15
"""Share of the window that is free from which on that counts less and less, down to nothing where the window is full: a
rebase for want of room would soon leave out the same."""
SMALL = 300
"""Tokens that every rebase writes in addition to those that stay."""
TURN = 0.5
"""Share of the price at which a rebase is made where a turn begins: what comes next may be about something else."""
WORTH = 0.25
"""Share of what is served that a rebase by choice leaves out at least: one deep rebase beats two shallow ones."""


def price(rewritten: int, prices: Prices, room: float) -> float:
    """The price of a rebase in plain tokens: to write its cache anew, and to look at some of it again.

    `room`: share of the window that is free.
    """
    again = FORGETTING * min(1.0, room / NEAR)
    return (rewritten + SMALL) * (max(0.0, prices.write - prices.read) + again * prices.read)


def spent(course: Course, prices: Prices) -> float:
    """The tokens that were read at each call beyond what a rebase would have left, in plain tokens."""
    return prices.read * course.excess


def is_due(course: Course, remainder: int, prices: Prices, room: float, *, at_turn: bool) -> bool:
    """Whether a rebase that leaves so many tokens has paid for itself. `at_turn`: a person has just written."""
    return spent(course, prices) >= price(remainder, prices, room) * (TURN if at_turn else 1.0)


def is_worth(
    course: Course, reclaimed: int, rewritten: int, served: int, prices: Prices, room: float, *, at_turn: bool
) -> bool:
    """The same for a rebase as it would be."""
    remainder = max(1, served - reclaimed)
    return reclaimed >= WORTH * served and is_due(course, max(remainder, rewritten), prices, room, at_turn=at_turn)
