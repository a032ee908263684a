"""Answers about projects: which there are, which one is in a folder, and the names that lead to one."""

from collections.abc import Awaitable, Callable

import msgspec

from schemas.events import CommitSeen, DreamOrdered, Event, ProjectIdentified, docs, note, policy, settings
from schemas.view_asks import (
    AliasChange,
    AliasesAsk,
    ProjectAliases,
    ProjectAt,
    ProjectAtAsk,
    ProjectList,
    ProjectsAsk,
    ProjectSummary,
)
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


def _open_projects(context: Context) -> Callable[[ProjectsAsk], Awaitable[ProjectList]]:
    async def answer(_: ProjectsAsk) -> ProjectList:
        return ProjectList(
            tuple(msgspec.convert(await view_rows(context, PROJECTS, max_rows=MOST), list[ProjectSummary]))
        )

    return answer


PROJECTS_KNOWN = Question(ProjectsAsk, _open_projects, lambda reason: ProjectList(error=reason), LONG)


BY_FOLDER = """\
select project from (select project, seq, unnest([directory, root]) as place from project_identified)
where list_contains(?::varchar[], place) order by length(place) desc, seq desc"""
BY_NAME = """\
select project from (select project, seq from session_opened union all select project, seq from memory_written)
where list_contains(?::varchar[], project) order by seq desc"""


def _open_project_at(context: Context) -> Callable[[ProjectAtAsk], Awaitable[ProjectAt]]:
    async def answer(ask: ProjectAtAsk) -> ProjectAt:
        for query, wanted in ((BY_FOLDER, ask.folders), (BY_NAME, ask.names)):
            rows = await view_rows(context, query, [list(wanted)], max_rows=1) if wanted else []
            if rows:
                return ProjectAt(str(rows[0]["project"]))
        return ProjectAt()

    return answer


PROJECT_AT = Question(ProjectAtAsk, _open_project_at, lambda reason: ProjectAt(error=reason), LONG)


CHANGES = """\
select seq, 'added' as change, alias, leads_to, how from alias_added
union all by name select seq, 'proposed' as change, alias, leads_to, directory, reason from alias_proposed
union all by name select seq, 'removed' as change, alias, leads_to from alias_removed
order by seq"""


def _open_aliases(context: Context) -> Callable[[AliasesAsk], Awaitable[ProjectAliases]]:
    async def answer(_: AliasesAsk) -> ProjectAliases:
        rows = await view_rows(context, CHANGES, max_rows=MOST)
        given = [{name: value for name, value in row.items() if value is not None} for row in rows]
        return ProjectAliases(tuple(msgspec.convert(given, list[AliasChange])))

    return answer


ALIASES = Question(AliasesAsk, _open_aliases, lambda reason: ProjectAliases(error=reason), LONG)
