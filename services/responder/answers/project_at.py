"""The answer to `ask.project_at`: the project of a folder, as harnesses have worked there, or of a name."""

from collections.abc import Awaitable, Callable

from schemas.view_asks import ProjectAt, ProjectAtAsk
from services.responder.answers.base import LONG, Context, Question
from services.responder.answers.view_rows import view_rows

BY_FOLDER = """\
select project from (select project, seq, unnest([directory, root]) as place from project_identified)
where list_contains(?::varchar[], place) order by length(place) desc, seq desc"""
BY_NAME = """\
select project from (select project, seq from session_opened union all select project, seq from memory_written)
where list_contains(?::varchar[], project) order by seq desc"""


def _open(context: Context) -> Callable[[ProjectAtAsk], Awaitable[ProjectAt]]:
    async def answer(ask: ProjectAtAsk) -> ProjectAt:
        for query, wanted in ((BY_FOLDER, ask.folders), (BY_NAME, ask.names)):
            rows = await view_rows(context, query, [list(wanted)], max_rows=1) if wanted else []
            if rows:
                return ProjectAt(str(rows[0]["project"]))
        return ProjectAt()

    return answer


PROJECT_AT = Question(ProjectAtAsk, _open, lambda reason: ProjectAt(error=reason), LONG)
