"""The answer to `ask.status`: positions in the log, what is in memory, and how near sessions are to a rebase."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from schemas.room_health import UnfoldedFact
from schemas.status_asks import SessionStatus, Status, StatusAsk
from schemas.subjects import Address
from services.domain.learned_limits import GLOBAL
from services.domain.limits import Limits
from services.domain.project_settings import ProjectSettings, with_own
from services.domain.window import Learned, window
from services.kit.cache import REPORTED, UNFOLDED, Entry
from services.plan.planner.outlook import outlook
from services.plan.session.state import Session
from services.responder.answers.base import Context, Question, in_force, settings_of
from services.responder.projections.folds import LEARNED_LIMITS, SESSION
from services.responder.views.files import log_breaks

REPORTED_FOR = timedelta(days=7)
"""For so long it is reported that the log was another one."""
MOST_SESSIONS = 10
"""The most sessions of one answer."""


def _open(context: Context) -> Callable[[StatusAsk], Awaitable[Status]]:
    states = context.cache.states(SESSION)
    statuses = SessionStatuses(context.limits)
    views = context.kit.settings.data / "views"

    async def answer(_: StatusAsk) -> Status:
        learned = await context.cache.state(LEARNED_LIMITS, GLOBAL)
        newest = states.newest(MOST_SESSIONS)
        own = {
            project: await settings_of(context.cache, project) for project in {one.address.project for one in newest}
        }
        return Status(
            log_head=await context.kit.reader.head(),
            read_through=context.projector.read_through,
            committed_through=context.files.committed,
            hot_sessions=len(states),
            file=context.files.serving.duck.path.name,
            building=context.files.is_building,
            skipped=context.files.building.skipped.total,
            newest_skipped=context.files.building.skipped.newest,
            unfolded=len(UNFOLDED),
            newest_unfolded=tuple(UnfoldedFact(*one) for one in UNFOLDED.newest(REPORTED)),
            breaks=tuple(one for one in log_breaks(views) if datetime.now(UTC) - one.at < REPORTED_FOR),
            sessions=statuses.of(newest, learned, own),
            plans_waiting=len(context.plans),
            plans_dropped=context.plans.dropped.total(),
        )

    return answer


class SessionStatuses:
    """A cache of sessions' reports. A session is weighed once for each of its states, however often one asks."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._weighed: dict[Address, _ReportedSession] = {}
        """The sessions of the newest answer."""

    def of(
        self, entries: Sequence[Entry[Session]], learned: Learned, own: Mapping[str, ProjectSettings]
    ) -> tuple[SessionStatus, ...]:
        """The reports of these sessions, without those that have made no call.

        `learned`: what all sessions have learned of models' limits. `own`: what each of their projects has set.
        """
        before, self._weighed = self._weighed, {}
        for entry in entries:
            known, settings = before.get(entry.address), own[entry.address.project]
            made_of = entry.state, learned, settings
            if known is None or any(now is not then for now, then in zip(made_of, known.made_of, strict=True)):
                limits = with_own(self._limits, in_force(settings, entry.state))
                known = _ReportedSession(made_of, session_status(entry, limits, learned))
            self._weighed[entry.address] = known
        return tuple(one.status for one in self._weighed.values() if one.status is not None)


class _ReportedSession(NamedTuple):
    """A session's report, with the states that it was made of, by which it is recognised."""

    made_of: tuple[Session, Learned, ProjectSettings]
    status: SessionStatus | None


def session_status(entry: Entry[Session], limits: Limits, learned: Learned) -> SessionStatus | None:
    """The report of a session; None if it has made no call."""
    session = entry.state
    if session.step is None:
        return None
    room = window(session.step, session.learned.with_shared(learned), limits)
    ahead = outlook(session, session.step, room, limits)
    return SessionStatus(
        project=entry.address.project,
        session=entry.address.session,
        title=session.activity.title,
        prompt=ahead.prompt,
        percent=round(ahead.percent, 1),
        threshold=ahead.threshold,
        spent=round(min(ahead.spent, 100.0), 1),
        reason="; ".join(ahead.reasons),
    )


STATUS = Question(StatusAsk, _open, lambda reason: Status(0, 0, 0, 0, "", error=reason))
