"""One measured thing, and how such things are computed."""

import statistics
from collections.abc import Sequence

import msgspec


class Measure(msgspec.Struct, frozen=True):
    """A value with its unit, the bare operation it is compared to, and whether it is within its budget."""

    name: str
    value: float
    unit: str
    baseline: float | None
    ratio: float | None
    budget: str
    ok: bool


def at_most(name: str, value: float, unit: str, limit: float, baseline: float | None = None) -> Measure:
    """A value that should stay below a limit."""
    return Measure(name, value, unit, baseline, _ratio(value, baseline), f"<= {limit:g}", value <= limit)


def at_least(name: str, value: float, unit: str, limit: float, baseline: float | None = None) -> Measure:
    """A value that should reach a limit."""
    return Measure(name, value, unit, baseline, _ratio(value, baseline), f">= {limit:g}", value >= limit)


def ratio_at_most(name: str, value: float, unit: str, limit: float, baseline: float) -> Measure:
    """A value that should stay below so many times the bare operation."""
    ratio = value / baseline
    return Measure(name, value, unit, baseline, ratio, f"ratio <= {limit:g}", ratio <= limit)


def ratio_at_least(name: str, value: float, unit: str, limit: float, baseline: float) -> Measure:
    """A value that should reach so many times the bare operation."""
    ratio = value / baseline
    return Measure(name, value, unit, baseline, ratio, f"ratio >= {limit:g}", ratio >= limit)


def _ratio(value: float, baseline: float | None) -> float | None:
    return value / baseline if baseline else None


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def median_ms(seconds: Sequence[float]) -> float:
    return 1000 * statistics.median(seconds)


def p99_ms(seconds: Sequence[float]) -> float:
    return 1000 * percentile(seconds, 0.99)
