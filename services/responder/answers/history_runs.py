"""The answer to `ask.runs`: the newest run of each session's history, where it is open or has failed."""

from collections.abc import Awaitable, Callable

import msgspec

from schemas.view_asks import HistoryRun, HistoryRuns, HistoryRunsAsk
from services.responder.answers.base import LONG, Context, Question
from services.responder.answers.view_rows import view_rows

MOST = 100
QUERY = """\
from (
  from history_runs qualify row_number() over (partition by project, session order by seq desc) = 1
)
select project, session, reason, status, "first", "last", through, tokens_left, code,
  strftime(retry_at, '%Y-%m-%d %H:%M:%S UTC') as retry_at
where status in ('open', 'failed') order by seq desc"""


def _open(context: Context) -> Callable[[HistoryRunsAsk], Awaitable[HistoryRuns]]:
    async def answer(ask: HistoryRunsAsk) -> HistoryRuns:
        rows = await view_rows(context, QUERY, max_rows=max(1, min(ask.limit, MOST)))
        return HistoryRuns(tuple(msgspec.convert(row, HistoryRun) for row in rows))

    return answer


RUNS = Question(HistoryRunsAsk, _open, lambda reason: HistoryRuns(error=reason), LONG)
