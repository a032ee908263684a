"""When a prompt is made smaller by choice: as soon as going on as it is has cost as much as that would.

With R tokens that a rebase keeps and writes anew, a growth of g tokens a call, and prices r (read from the cache) and
w (written to it), rebasing whenever x tokens have come costs (w-r)·R·g/x + r·x/2 a call beside what every policy
costs. That is least at x = sqrt(2·(w-r)·R·g/r): where what was read above R since the last rebase, r·x²/(2·g), has
cost just what the rebase costs, (w-r)·R. So the sum of what was read in excess decides. It needs no forecast, and
holds where a session grows by leaps, too.

What a rebase leaves out may have to be looked at again. That is part of its price.
"""

from services.domain.limits import Prices
from services.responder.session.course import Course

FORGETTING = 15.0
"""Plain tokens for each token that a rebase keeps, for what has to be looked at again: where recorded sessions cost
least for what stayed in sight."""
TURN = 0.1
"""Share of the price at which a rebase is made where a turn begins: what comes next may be about something else."""
WORTH = 0.25
"""Share of what is served that a rebase by choice leaves out at least: one deep rebase beats two shallow ones."""


def price(rewritten: int, prices: Prices) -> float:
    """What a rebase costs, in plain tokens: to write its cache anew, and to look at some of it again."""
    return rewritten * (max(0.0, prices.write - prices.read) + FORGETTING)


def spent(course: Course, kept: int, prices: Prices) -> float:
    """What was read in excess of `kept` tokens a call, in plain tokens."""
    return prices.read * max(0, course.tokens - course.calls * kept)


def is_due(course: Course, kept: int, prices: Prices, *, at_turn: bool) -> bool:
    """Whether a rebase that keeps so many tokens has paid for itself. `at_turn`: a person has just said something."""
    return spent(course, kept, prices) >= price(kept, prices) * (TURN if at_turn else 1.0)


def is_worth(course: Course, reclaimed: int, rewritten: int, served: int, prices: Prices, *, at_turn: bool) -> bool:
    """The same for a rebase as it would be."""
    kept = max(1, served - reclaimed)
    return reclaimed >= WORTH * served and is_due(course, max(kept, rewritten), prices, at_turn=at_turn)
