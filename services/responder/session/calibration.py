"""What a prompt will count at its provider, from estimates: calibrated by each count and each refusal of a session.

A count speaks of one call. What is served in the next one counts as much as that, and so much more or less as the
estimates differ, times what a token of the estimate has been found to count.
"""

import msgspec

from schemas.events import OverflowDetected, UsageSampled
from services.domain.window import MAX_CONTEXT, prompt_tokens

replace = msgspec.structs.replace

BESIDE = 10_000
"""Tokens of system prompt and tools where no provider has counted: 7,000 to 15,000 have been seen."""
LEAST_GROWTH = 1_500
"""Estimated tokens between two counts from which on they tell how dense the text is."""
THINNEST, DENSEST = 0.5, 4.0
"""Counted tokens for one of the estimate: from plain English to long hashes."""
WEIGHT = 0.5
"""Of the newest measure of the density, beside those before."""


class Calibration(msgspec.Struct, frozen=True):
    """The newest count, and the estimate for the messages of that call."""

    counted: int = 0
    """Tokens of a whole prompt, as its provider counted them; 0: none was counted yet."""
    estimate: int = 0
    density: float = 1.0
    """Counted tokens for one of the estimate."""
    is_presumed: bool = False
    """Whether another model's tokens were counted."""

    def prompt(self, estimate: int, denser: float = 1.0) -> int:
        """What a whole prompt with messages of this estimate will count, if what is new is so much denser."""
        if not self.counted:
            return BESIDE + int(estimate * self.density * denser)
        growth = estimate - self.estimate
        return max(1, self.counted + int(growth * self.density * (denser if growth > 0 else 1.0)))

    def fitting(self, tokens: int, denser: float = 1.0) -> int:
        """The estimate for the messages of a whole prompt that will count so many tokens."""
        if not self.counted:
            return max(0, int((tokens - BESIDE) / (self.density * denser)))
        left = tokens - self.counted
        return max(0, self.estimate + int(left / (self.density * (denser if left > 0 else 1.0))))

    def estimated(self, tokens: int) -> int:
        """So many counted tokens of messages, as estimated."""
        return int(tokens / self.density)


def answered(known: Calibration, usage: UsageSampled, estimate: int) -> Calibration:
    """A model has answered a prompt. `estimate`: of the messages that were served."""
    return _counted(known, prompt_tokens(usage), estimate)


def refused(known: Calibration, refusal: OverflowDetected, estimate: int) -> Calibration:
    """A prompt was too long. Where the refusal does not say how long it was, it was at least longer than the limit."""
    return _counted(known, refusal.used or max(refusal.limit + 1, known.prompt(estimate)), estimate)


def presumed(known: Calibration) -> Calibration:
    """What another model is presumed to count, of which nothing is known."""
    return replace(known, is_presumed=known.counted > 0)


def _counted(known: Calibration, counted: int, estimate: int) -> Calibration:
    if not 0 < counted <= MAX_CONTEXT:
        return known
    return Calibration(counted, estimate, _density(known, counted, estimate))


def _density(known: Calibration, counted: int, estimate: int) -> float:
    """What a token of the estimate counts, with this count."""
    growth = estimate - known.estimate
    if known.is_presumed:  # two models count the same text
        expected = known.prompt(estimate)
        is_text = 2 * known.density * estimate >= expected
        return _bounded(known.density * counted / expected) if is_text else known.density
    if known.counted and growth >= LEAST_GROWTH:
        found = _bounded((counted - known.counted) / growth)
        return (1 - WEIGHT) * known.density + WEIGHT * found
    return known.density


def _bounded(density: float) -> float:
    return min(max(density, THINNEST), DENSEST)
