"""The tasks of the dreamer: every module of `services/dreamer/core/tasks`.

As with rooms, they are found by their files: whoever checks a name need not load what the tasks need.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from services.domain.cron import check

TASKS = tuple(
    sorted(
        module.stem
        for module in (Path(__file__).parents[1] / "dreamer" / "core" / "tasks").glob("*.py")
        if not module.stem.startswith("_")
    )
)


def unknown_task(name: str) -> str:
    """A fault of the name of a task, with the right ones; empty: there is one of this name."""
    if name in TASKS:
        return ""
    like = get_close_matches(name, TASKS, 1)
    meant = f"did you mean {like[0]!r}? " if like else ""
    return f"there is no task {name[:80]!r}: {meant}there are {', '.join(TASKS)}"


def check_slots(slots: Mapping[str, str]) -> None:
    """Raise `ValueError`, with the right form, for a name that no task has and for what is no cron line."""
    for name, line in slots.items():
        if wrong := unknown_task(name):
            raise ValueError(wrong)
        if line.strip():
            check(line)


def check_zone(name: str) -> None:
    """Raise `ValueError` for a name that no time zone has; an empty one is that of the machine."""
    try:
        if name:
            ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(
            f"there is no time zone {name[:80]!r}: write one as `Europe/Berlin`, or nothing for that of this machine"
        ) from error


def check_times(slots: Mapping[str, str], zone: str) -> None:
    """Raise `ValueError`, with the right form, for slots and a zone that cannot be used here."""
    check_slots(slots)
    check_zone(zone)
