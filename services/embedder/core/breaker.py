"""The breaker: a remote model that failed again and again is left alone for a while, and then tried once."""

import msgspec

FAILURES = 3
WITHIN = 60.0
"""Seconds in which that many failures open it."""
REST = 300.0
"""Seconds for which it stays open."""


class Breaker(msgspec.Struct, frozen=True):
    """A circuit breaker: the last attempts, and when the next one is allowed. Times are seconds of one clock."""

    failures: tuple[float, ...] = ()
    open_until: float = 0.0
    is_trying: bool = False
    """Whether the one attempt after a rest is under way."""

    def may_try(self, now: float) -> bool:
        """Whether someone may ask now. Who does says so first: `trying`."""
        return not self.is_trying and now >= self.open_until

    def trying(self) -> "Breaker":
        """Someone asks. After a rest nobody else does until it is known how that went."""
        return msgspec.structs.replace(self, is_trying=True) if self.open_until else self

    def succeeded(self) -> "Breaker":
        return Breaker()

    def failed(self, now: float) -> "Breaker":
        recent = (*(at for at in self.failures if now - at < WITHIN), now)
        if self.open_until or len(recent) >= FAILURES:
            return Breaker(open_until=now + REST)
        return Breaker(failures=recent)

    def given_up(self) -> "Breaker":
        """Whoever asked did not wait for the answer: that says nothing about the model."""
        return msgspec.structs.replace(self, is_trying=False)
