"""The economic gate: does a rebase under pressure pay?"""

import msgspec

from schemas.events import StepOpened
from services.domain.limits import Limits, Prices
from services.domain.window import of_model

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
