"""When what was sent before may change: the causes of a rebase."""

import msgspec

from services.responder.limits import Limits
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
    """The context window fills: worth it only above the least reclaim."""
    sample: str = ""
    """The usage sample behind the pressure."""


def causes(session: Session, limits: Limits) -> Causes:
    step = session.step
    if step is None:
        return Causes()
    under_pressure = usage_percent(session, limits) >= limits.threshold and not _is_latched(session)
    return Causes(
        forced=tuple(sorted(session.reasons)),
        free=tuple(_free(session, limits)),
        pressure=("pressure",) if under_pressure else (),
        sample=session.usage.message if under_pressure and session.usage else "",
    )


def _free(session: Session, limits: Limits) -> list[str]:
    found = []
    if session.flush:
        found.append("flush")
    if _is_idle(session, limits):
        found.append("idle")
    step, before = session.step, session.before
    if step is not None and before is not None and (step.provider, step.model) != (before.provider, before.model):
        found.append("model")
    if session.system_changed:
        found.append("system")
    return found


def usage_percent(session: Session, limits: Limits) -> float:
    """The newest prompt's share of the context window: input, cache reads and cache writes together."""
    if session.usage is None or session.step is None:
        return 0.0
    used = session.usage.input + session.usage.cache_read + session.usage.cache_write
    return 100.0 * used / (session.step.context_limit or limits.default_context_limit)


def _is_latched(session: Session) -> bool:
    """Whether this sample has triggered a rebase: it speaks of the prompt before that."""
    return session.usage is not None and session.usage.message == session.latched


def _is_idle(session: Session, limits: Limits) -> bool:
    """Whether the provider's cache is presumed dead. Only an answer with usage, or a rebase, moves this clock."""
    if session.usage_at is None or session.step_at is None:
        return False
    written = max(session.usage_at, session.rebased_at or session.usage_at)
    return (session.step_at - written).total_seconds() > limits.cache_ttl
