"""The course of a session since its newest rebase: what its calls were served."""

import msgspec

from schemas.events import PlanRebased
from services.domain.limits import Prices


class Course(msgspec.Struct, frozen=True):
    """What the calls since the newest rebase were served, in estimated tokens."""

    calls: int = 0
    tokens: int = 0
    """Of all these calls together."""
    before: int = 0
    """What the newest rebase expected of each call: tokens less than without it ..."""
    price: float = 0.0
    """... for this price, in plain tokens."""

    def after(self, served: int) -> "Course":
        """With one call more."""
        return msgspec.structs.replace(self, calls=self.calls + 1, tokens=self.tokens + served)

    @staticmethod
    def behind(rebase: PlanRebased) -> "Course":
        """From a rebase on, beginning with its own call."""
        return Course(calls=1, tokens=rebase.tokens_after, before=rebase.reclaimed, price=rebase.price)

    def net(self, prices: Prices) -> float:
        """What the newest rebase has saved behind its own call, less its price, in plain tokens."""
        return max(0, self.calls - 1) * self.before * prices.read - self.price
