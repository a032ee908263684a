"""How much of a session a prompt keeps when it is made smaller: compressed history, and the newest messages whole.

What is kept is read again by every call and written anew by every rebase, while what is left out may have to be looked
at again. Recorded sessions, played with windows of 50,000 to 200,000 tokens, cost least for what stayed in sight where
little was kept and the prompt then grew for long (see `services.responder.planner.controller`).
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

Context = Literal["lean", "balanced", "full"]

SHARES: Mapping[Context, float] = {"lean": 0.07, "balanced": 0.10, "full": 0.20}
"""Of the usable window: what stays when a prompt is made smaller, system prompt and tools aside ..."""
MOST: Mapping[Context, int] = {"lean": 11_000, "balanced": 20_000, "full": 32_000}
"""... and at most so many tokens, however large the window is ..."""
LEAST = 5_000
"""... and at least so many."""
HISTORY = 0.5
"""Of that: the most that compressed history takes ..."""
NEWEST = 3_300
"""... of what it leaves to the newest messages at least."""


class Retention(msgspec.Struct, frozen=True):
    """What stays, in tokens."""

    history: int
    """Compressed history: at most."""
    tail: int
    """The newest messages, which stay as they are."""

    @property
    def total(self) -> int:
        return self.history + self.tail


def retention(usable: int, context: Context) -> Retention:
    """`usable`: tokens that a prompt may have. `context`: how much a person wants to keep in sight."""
    total = max(LEAST, min(int(usable * SHARES[context]), MOST[context]))
    history = round(min(total * HISTORY, total - NEWEST))
    return Retention(history, total - history)
