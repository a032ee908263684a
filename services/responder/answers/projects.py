"""The answer to `ask.projects`: the projects that were reported, by the names under which they were."""

from collections.abc import Awaitable, Callable

import msgspec

from schemas.events import CommitSeen, DreamOrdered, Event, ProjectIdentified, docs, note, policy, settings
from schemas.view_asks import ProjectList, ProjectsAsk, ProjectSummary
from services.responder.answers.base import LONG, Context, Question
from services.responder.answers.view_rows import view_rows
from services.responder.views.tables import table_name

MOST = 10_000
NAMING: tuple[type[Event], ...] = (
    CommitSeen,
    DreamOrdered,
    ProjectIdentified,
    *docs.EVENTS,
    *note.EVENTS,
    *policy.EVENTS,
    *settings.EVENTS,
)
"""Events by which a project is known that has neither sessions nor memories."""
_NAMED = " union all ".join(f"select project from {table_name(event.TYPE)}" for event in NAMING)
PROJECTS = f"""\
select project, sum(sessions)::bigint as sessions, coalesce(max(last_seen)::varchar, '') as last_seen,
    flatten(list(directories)) as directories
from (
    select project, sessions, last_seen, coalesce(directories, []) as directories from projects
    union all by name
    select project, 0 as sessions, max(created_at) as last_seen, []::varchar[] as directories
    from memories group by project
    union all by name
    select distinct project, 0 as sessions, null::timestamp as last_seen, []::varchar[] as directories
    from ({_NAMED})
)
where project <> '' group by project"""


def _open(context: Context) -> Callable[[ProjectsAsk], Awaitable[ProjectList]]:
    async def answer(_: ProjectsAsk) -> ProjectList:
        return ProjectList(
            tuple(msgspec.convert(await view_rows(context, PROJECTS, max_rows=MOST), list[ProjectSummary]))
        )

    return answer


PROJECTS_KNOWN = Question(ProjectsAsk, _open, lambda reason: ProjectList(error=reason), LONG)
