"""The lifecycle of a history job: its transitions by events, and how it ends without success."""

from datetime import datetime, timedelta

from schemas.events import (
    Event,
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryAttempted,
    HistoryFailed,
    HistoryReplaced,
    HistoryRequested,
)
from services.domain.jobs import (
    Abandoned,
    Advanced,
    Attempted,
    JobDone,
    JobFailed,
    Jobs,
    Requested,
    Transition,
    remaining,
)

HistoryJobs = Jobs[HistoryRequested]
REMOVED = "removed"
"""The reason of jobs that make compartments anew whose messages were deleted."""
REBUILD, RESCORE, ABANDON = "rebuild", "rescore", "abandon"
"""Orders. The jobs of the first two have them as their reasons."""


def transition(event: Event, jobs: HistoryJobs, generation: int) -> Transition[HistoryRequested] | None:
    """The transition that an event makes; none: it is about something else. `generation`: the one in force.

    The last part of a new generation does not end its job yet: it ends when the generation is put in force or given up.
    """
    match event:
        case HistoryRequested(run=run):
            return Requested(run, event)
        case HistoryAttempted(run=run):
            return Attempted(run)
        case HistoryAdvanced(run=run, done=True) if event.generation == generation:
            return JobDone(run, clears=jobs.open is None or jobs.open.request.reason != RESCORE)
        case HistoryAdvanced(run=run):
            return Advanced(run)
        case HistoryReplaced(run=run):
            return JobDone(run)
        case HistoryAbandoned(run=run):
            return Abandoned(run)
        case HistoryFailed(run=run, failures=failures, retry_at=retry_at):
            return JobFailed(run, failures, retry_at)
        case _:
            return None


def pause(event: Event, now: datetime) -> timedelta | None:
    """The time that a session still waits after this event until it is looked at again; None: until its next event."""
    return remaining(event.retry_at, now) if isinstance(event, HistoryFailed) and event.retry_at else None
