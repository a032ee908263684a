"""The answer to `ask.sql`: one read-only query over the views."""

from collections.abc import Awaitable, Callable

from schemas.view_asks import Rows, SqlAsk
from services.responder.answers.base import Context, Question
from services.responder.views.duck import BadQuery

VIEWS_WAIT = 1.0
"""Seconds that a query waits for what was in the log when it came."""


def _open(context: Context) -> Callable[[SqlAsk], Awaitable[Rows]]:
    limits = context.kit.settings.views

    async def answer(ask: SqlAsk) -> Rows:
        """Answer from views that hold at least what the log held when the question came."""
        if not context.files.is_building:
            await context.projector.committed(await context.kit.reader.head(), VIEWS_WAIT)
        try:
            found = await context.files.serving.duck.query(
                ask.sql,
                max_rows=min(ask.max_rows, limits.sql_max_rows),
                timeout=min(ask.timeout_ms / 1000, limits.sql_timeout),
            )
        except BadQuery as error:
            return Rows(error=str(error))
        return Rows(columns=found.columns, rows=found.rows, truncated=found.truncated)

    return answer


SQL = Question(SqlAsk, _open, lambda reason: Rows(error=reason))
