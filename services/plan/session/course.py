"""The course of a session since its newest rebase: what its calls were served."""

import msgspec

from schemas.events import PlanRebased
from services.domain.limits import Prices


class Course(msgspec.Struct, frozen=True):
    """The course since the newest rebase: what the calls were served, in estimated tokens."""

    calls: int = 0
    tokens: int = 0
    """Of all these calls together."""
    remainder: int = 0
    """The tokens that a rebase would leave, as was judged last; 0: it is not known."""
    floor: int = 0
    """The tokens that a rebase would have left at all these calls together: tokens above that were read in excess."""
    judged: int = 0
    """The tokens that were served when `remainder` was judged."""
    before: int = 0
    """The tokens that the newest rebase was expected to save at each call."""
    price: float = 0.0
    """The price of the newest rebase, in plain tokens."""

    def after(self, served: int) -> "Course":
        """With one call more."""
        floor = self.floor + (min(self.remainder, served) or served)
        return msgspec.structs.replace(self, calls=self.calls + 1, tokens=self.tokens + served, floor=floor)

    def with_remainder(self, remainder: int, served: int) -> "Course":
        """With what a rebase would keep now, where that was judged anew; 0: it was not.

        The first call of a session may be long already: what it has in excess counts.
        """
        if not remainder:
            return self
        is_first = not self.remainder and self.calls <= 1
        floor = min(remainder, self.tokens) if is_first else self.floor
        return msgspec.structs.replace(self, remainder=remainder, judged=served, floor=floor)

    @property
    def excess(self) -> int:
        """The tokens that these calls were served in excess of what a rebase would have left."""
        return self.tokens - self.floor

    @staticmethod
    def behind(rebase: PlanRebased) -> "Course":
        """From a rebase on, beginning with its own call."""
        return Course(
            calls=1,
            tokens=rebase.tokens_after,
            remainder=rebase.remainder,
            judged=rebase.tokens_after,
            floor=rebase.tokens_after,
            before=rebase.reclaimed,
            price=rebase.price,
        )

    def net(self, prices: Prices) -> float:
        """The savings of the newest rebase behind its own call, less its price, in plain tokens."""
        return max(0, self.calls - 1) * self.before * prices.read - self.price
