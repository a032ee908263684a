"""The answer to `ask.status`: positions in the log, what is held in memory, and how near sessions are to a rebase."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta

from schemas.asks import SessionStatus, Status, StatusAsk
from services.domain.learned_limits import GLOBAL
from services.domain.limits import Limits
from services.domain.window import Learned, window
from services.kit.cache import Entry
from services.responder.answers.base import Context, Question
from services.responder.planner.outlook import outlook
from services.responder.projections.learned_limits import LEARNED_LIMITS
from services.responder.projections.session import SESSION
from services.responder.session.state import Session
from services.responder.views.files import log_breaks

SHOWN = timedelta(days=7)
"""For so long it is said that the log was another one."""
MOST_SESSIONS = 10
"""The most sessions of one answer."""


def _open(context: Context) -> Callable[[StatusAsk], Awaitable[Status]]:
    states = context.cache.states(SESSION)
    breaks = log_breaks(context.kit.settings.data / "views")  # they are noticed when a room begins

    async def answer(_: StatusAsk) -> Status:
        learned = await context.cache.state(LEARNED_LIMITS, GLOBAL)
        return Status(
            log_head=await context.kit.reader.head(),
            read_through=context.projector.read_through,
            committed_through=context.files.committed,
            hot_sessions=len(states),
            file=context.files.serving.duck.path.name,
            building=context.files.is_building,
            skipped=context.files.building.skipped.total,
            newest_skipped=context.files.building.skipped.newest,
            breaks=tuple(one for one in breaks if datetime.now(UTC) - one.at < SHOWN),
            sessions=tuple(session_statuses(states.newest(MOST_SESSIONS), context.limits, learned)),
        )

    return answer


def session_statuses(entries: list[Entry[Session]], limits: Limits, learned: Learned) -> Iterator[SessionStatus]:
    """How near these sessions are to their next rebase; without those that have made no call."""
    for entry in entries:
        session = entry.state
        if session.step is None:
            continue
        room = window(session.step, session.learned.beside(learned), limits)
        ahead = outlook(session, session.step, room, limits)
        yield SessionStatus(
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
