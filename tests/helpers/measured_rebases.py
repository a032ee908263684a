"""A rebase, in tokens as they were served, and what it has saved in the calls that really came."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from services.domain.limits import Prices
from services.plan.planner.causes import Causes
from services.plan.planner.economics import weigh

replace = msgspec.structs.replace


class Rebase(msgspec.Struct, frozen=True):
    """A rebase in tokens as they were really served, and what came behind it."""

    call: int
    causes: Causes
    reclaimed: int
    rewritten: int
    """Tokens that were sent before, behind the first that changed."""
    planned: int
    """What the plan says of that."""
    steps: int
    """Calls that were expected to come."""
    prices: Prices
    followed: int = 0
    """Calls that really came before the next rebase or the end."""
    ended_by: Literal["end", "harness", "rebase"] = "end"

    @property
    def is_by_choice(self) -> bool:
        """Whether it was made under pressure that could wait, while the provider's cache was alive."""
        return not (self.causes.forced or self.causes.free or self.causes.urgent)

    @property
    def break_even(self) -> float:
        return weigh(self.reclaimed, self.rewritten, 0, self.prices).break_even

    @property
    def net(self) -> float:
        """Tokens at full price that it has saved behind its own call, less what writing the cache anew has cost."""
        price = self.rewritten * max(0.0, self.prices.write - self.prices.read)
        return self.followed * self.reclaimed * self.prices.read - price

    @property
    def is_cut_short(self) -> bool:
        """Whether it was right by its own forecast, and the session or the harness ended it before it had paid."""
        return self.is_by_choice and self.net <= 0 and self.ended_by != "rebase" and self._was_right

    @property
    def is_net_loss(self) -> bool:
        """Whether it cost more than it saved, and that could be known."""
        return self.is_by_choice and self.net <= 0 and not self.is_cut_short

    @property
    def _was_right(self) -> bool:
        return weigh(self.reclaimed, self.rewritten, self.steps, self.prices).pays


def followed(made: Sequence[Rebase], calls: int) -> Iterable[Rebase]:
    """These rebases of a session of so many calls, with what came behind each."""
    for rebase, after in zip(made, [*made[1:], None], strict=False):
        if after is None:
            yield replace(rebase, followed=calls - rebase.call)
        else:
            ended_by: Literal["harness", "rebase"] = "harness" if after.causes.forced else "rebase"
            yield replace(rebase, followed=after.call - rebase.call - 1, ended_by=ended_by)
