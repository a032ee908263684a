"""Cron lines: the moments that one names, in a time zone. Pure: no clock.

The hour that a clock change leaves out moves a slot to the moment behind it, and the one that comes twice has a slot of
a fixed hour once, as in Debian's cron.
"""

from datetime import UTC, datetime, tzinfo

from cronsim import CronSim, CronSimError

FIELDS = 5
FORM = 'write minute, hour, day of the month, month and day of the week, such as "0 2 * * *" or "30 4 * * SUN"'


def check(line: str) -> None:
    """Raise `ValueError` with the right form where this is no cron line, or one whose moment never comes."""
    fields = len(line.split())
    if fields != FIELDS:
        raise ValueError(f"{line[:80]!r} has {fields} fields instead of {FIELDS}: {FORM}")
    try:
        next(CronSim(line, datetime(2026, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        reason = str(error).removeprefix("Bad ")
        raise ValueError(f"{line[:80]!r} has a {reason} that cannot be: {FORM}") from error
    except StopIteration as error:
        raise ValueError(f"{line[:80]!r} names a moment that never comes: {FORM}") from error


def next_slot(line: str, zone: tzinfo, after: datetime) -> datetime:
    """The first moment of a line behind this one, in UTC. Raises `ValueError` for what `check` refuses."""
    try:
        for slot in CronSim(line, after.astimezone(zone)):
            found = slot.astimezone(UTC)
            if found > after:  # in an hour that comes twice the first moment may lie before
                return found
    except CronSimError as error:
        raise ValueError(f"{line[:80]!r} is no cron line: {FORM}") from error
    raise ValueError(f"{line[:80]!r} names a moment that never comes: {FORM}")
