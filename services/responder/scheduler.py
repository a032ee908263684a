"""When what was sent before may change: the causes of a rebase."""

import msgspec

from services.kit.limits import Limits
from services.kit.window import NOTHING, Learned, Threshold, cache_ttl, prompt_tokens, threshold
from services.kit.window import window as window_of
from services.responder.state import Session

HARNESS_CAUSES = frozenset({"deleted", "reverted", "unlisted", "changed", "compacted"})
"""The harness itself changed what was sent: the rebase only says so, and takes along what waits."""


class Causes(msgspec.Struct, frozen=True):
    """Why a rebase may be made now."""

    forced: tuple[str, ...] = ()
    """The prefix is different already."""
    free: tuple[str, ...] = ()
    """The provider's cache is lost anyway, or a person asked: any saving is welcome."""
    pressure: tuple[str, ...] = ()
    """The context window fills, or a free moment was missed: worth it only if it pays."""
    urgent: bool = False
    """The window is about to overflow, or has: the price does not matter."""
    sample: str = ""
    """The usage sample behind the pressure."""
    used: int = 0
    """Tokens of the newest prompt that a provider counted."""
    window: int = 0
    window_source: str = ""
    threshold: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.forced, *self.free, *self.pressure)

    @property
    def any(self) -> bool:
        return bool(self.names)

    @property
    def lasting(self) -> tuple[str, ...]:
        """Those that the next step would not know of."""
        return tuple(cause for cause in self.free if cause != "flush")

    @property
    def ceiling(self) -> int:
        """Tokens at which pressure begins; 0: there is no pressure."""
        return int(self.window * self.threshold / 100) if self.pressure and self.sample else 0


def causes(session: Session, limits: Limits, house: Learned = NOTHING) -> Causes:
    """`house`: what all sessions have learned of models' limits."""
    step = session.step
    if step is None:
        return Causes()
    window = window_of(step, session.learned.beside(house), limits)
    begins = threshold(step, window, limits)
    pressing = _pressure(session, limits, window.percent(used(session)), begins)
    late = tuple(sorted(session.held))
    return Causes(
        forced=tuple(sorted(session.reasons)),
        free=tuple(_free(session, limits)),
        pressure=(*pressing, *(cause for cause in late if cause not in pressing)),
        urgent="force" in pressing or "overflow" in pressing,
        sample=session.usage.message if pressing and session.usage else "",
        used=used(session),
        window=window.usable,
        window_source=window.source,
        threshold=begins.percent,
    )


def used(session: Session) -> int:
    """Tokens of the newest prompt that a provider counted: input, cache reads and cache writes together."""
    return prompt_tokens(session.usage) if session.usage else 0


def _pressure(session: Session, limits: Limits, share: float, begins: Threshold) -> tuple[str, ...]:
    """Whether room must be made. `share`: percent of the usable window that the newest prompt had."""
    if session.overflow:
        return ("overflow",)
    if share < begins.percent or _is_latched(session):
        return ()
    if share >= begins.force:
        return ("force",)
    grown = used(session) - session.declined
    if _is_mid_turn(session) or (session.declined and grown < limits.min_reclaim):
        return ()
    return ("pressure",)


def _is_mid_turn(session: Session) -> bool:
    """Whether the running turn has made a call before: a newer message of a person ends that.

    A subagent has but one turn, and would starve.
    """
    step, before = session.step, session.before
    if step is None or before is None or step.mode == "subagent":
        return False
    return session.turn <= before.last


def _is_latched(session: Session) -> bool:
    """Whether this sample has triggered a rebase: it speaks of the prompt before that."""
    return session.usage is not None and session.usage.message == session.latched


def _free(session: Session, limits: Limits) -> list[str]:
    found = []
    if session.flush:
        found.append("flush")
    if _is_idle(session, limits):
        found.append("idle")
    step, before = session.step, session.before
    if step is not None and before is not None:
        if (step.provider, step.model) != (before.provider, before.model):
            found.append("model")
        elif step.variant != before.variant:
            found.append("variant")
    if session.system_changed:
        found.append("system")
    return found


def _is_idle(session: Session, limits: Limits) -> bool:
    """Whether the provider's cache is presumed dead. Only an answer with usage, or a rebase, moves this clock."""
    if session.usage_at is None or session.step_at is None or session.step is None:
        return False
    written = max(session.usage_at, session.rebased_at or session.usage_at)
    return (session.step_at - written).total_seconds() > cache_ttl(session.step, limits)
