"""When a prompt is made smaller by choice: as soon as going on as it is has cost as much as that would.

With R tokens that a rebase keeps and writes anew, a growth of g tokens a call, and prices r (read from the cache) and
w (written to it), rebasing whenever x tokens have come costs (w-r)·R·g/x + r·x/2 a call above what every policy
costs. That is least at x = sqrt(2·(w-r)·R·g/r): where what was read above R since the last rebase, r·x²/(2·g), has
cost just what the rebase costs, (w-r)·R. So the sum of what was read in excess decides. It needs no forecast, and
holds where a session grows by leaps, too.

What a rebase leaves out may have to be looked at again. That is part of its price.
"""

from services.domain.limits import Prices
from services.plan.session.course import Course

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
