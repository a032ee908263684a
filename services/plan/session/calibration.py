"""Calibrates estimated tokens by each count and each refusal that a provider has given in a session.

A count speaks of one call. What is served in the next one counts as much as that, and so much more or less as the
estimates differ, times what a token of the estimate has been found to count.
"""

import msgspec

from schemas.events import OverflowDetected, UsageSampled
from services.domain.window import MAX_CONTEXT, Window, prompt_tokens

replace = msgspec.structs.replace

OVERHEAD = 10_000
"""Tokens of system prompt and tools where no provider has counted: 7,000 to 15,000 have been seen."""
SYSTEM = 3_000
"""Tokens of the system prompt alone."""
LEAST_GROWTH = 1_500
"""Estimated tokens between two counts from which on they show how dense the text is."""
THINNEST, DENSEST = 0.5, 4.0
"""Counted tokens for one of the estimate: from plain English to long hashes."""
WHOLE = 0.2
"""Counted tokens for one of the estimate: with fewer it was not the whole prompt that was counted."""
WEIGHT = 0.5
"""The weight of the newest measure of the density, relative to those before."""


class Calibration(msgspec.Struct, frozen=True):
    """The newest count, and the estimate for the messages of that call."""

    overhead: int = OVERHEAD
    """Tokens of system prompt and tools, as presumed until the first count."""
    counted: int = 0
    """Tokens of a whole prompt, as its provider counted them; 0: none was counted yet."""
    estimate: int = 0
    density: float = 1.0
    """Counted tokens for one of the estimate."""
    is_presumed: bool = False
    """Whether another model's tokens were counted."""
    is_least: bool = False
    """Whether that was a refusal without a number: the prompt had at least so many tokens."""
    answered: int = 0
    """The estimate for the newest prompt that was answered; 0: none was."""
    refused: int = 0
    """The presumed count of the shortest prompt that was refused without a number; 0: none was."""

    def prompt(self, estimate: int, denser: float = 1.0) -> int:
        """The coming count of a whole prompt with messages of this estimate, if what is new is so much denser."""
        if not self.counted:
            return self.overhead + int(estimate * self.density * denser)
        growth = estimate - self.estimate
        return max(1, self.counted + int(growth * self.density * (denser if growth > 0 else 1.0)))

    def fitting(self, tokens: int, denser: float = 1.0) -> int:
        """The estimate for the messages of a whole prompt that will count so many tokens."""
        if not self.counted:
            return max(0, int((tokens - self.overhead) / (self.density * denser)))
        left = tokens - self.counted
        return max(0, self.estimate + int(left / (self.density * (denser if left > 0 else 1.0))))

    def estimated(self, tokens: int) -> int:
        """So many counted tokens of messages, as estimated."""
        return int(tokens / self.density)


def answered(known: Calibration, usage: UsageSampled, estimate: int) -> Calibration:
    """A model has answered a prompt. `estimate`: of the messages that were served.

    Some providers count only what their caches did not hold: such a count says nothing of the whole prompt.
    """
    counted = prompt_tokens(usage)
    is_whole = counted >= WHOLE * estimate
    if is_whole or not known.counted:
        known = _counted(known, counted if is_whole else int(THINNEST * estimate), estimate)
    bound = 0 if counted > known.refused else known.refused
    return replace(known, answered=estimate, refused=bound)


def refused(known: Calibration, refusal: OverflowDetected, estimate: int) -> Calibration:
    """A prompt was too long. Where the refusal does not say how long it was, it was at least longer than the limit."""
    expected = known.prompt(estimate)
    if refusal.used or refusal.limit:
        return _counted(known, refusal.used or max(refusal.limit + 1, expected), estimate)
    if known.is_least and estimate >= known.estimate:
        return known
    return replace(
        known,
        counted=expected,
        estimate=estimate,
        is_least=True,
        refused=min(expected, known.refused or expected),
    )


def within(known: Calibration, window: Window) -> Calibration:
    """The same where it is known what the model takes: what it has refused was longer than that."""
    if not known.is_least or window.source == "default":
        return known
    return replace(known, counted=max(known.counted, window.context + 1))


def presumed(known: Calibration) -> Calibration:
    """The presumed calibration of another model of which nothing is known."""
    return Calibration(known.overhead, known.counted, known.estimate, known.density, is_presumed=known.counted > 0)


def _counted(known: Calibration, counted: int, estimate: int) -> Calibration:
    if not 0 < counted <= MAX_CONTEXT:
        return known
    density = _density(known, counted, estimate)
    return replace(known, counted=counted, estimate=estimate, density=density, is_presumed=False, is_least=False)


def _density(known: Calibration, counted: int, estimate: int) -> float:
    """The counted tokens for each token of the estimate, with this count."""
    growth = estimate - known.estimate
    if known.is_presumed:  # two models count the same text
        expected = known.prompt(estimate)
        is_text = 2 * known.density * estimate >= expected
        return _bounded(known.density * counted / expected) if is_text else known.density
    if known.counted and not known.is_least and growth >= LEAST_GROWTH:
        found = _bounded((counted - known.counted) / growth)
        return (1 - WEIGHT) * known.density + WEIGHT * found
    return known.density


def _bounded(density: float) -> float:
    return min(max(density, THINNEST), DENSEST)
