"""Answers about the jobs of rooms: the runs of the dreamer, and those that compress a session."""

from collections import defaultdict
from collections.abc import Awaitable, Callable

import msgspec

from schemas.view_asks import (
    DreamReport,
    DreamRunReport,
    DreamsAsk,
    DreamTaskReport,
    HistoryRun,
    HistoryRuns,
    HistoryRunsAsk,
)
from services.responder.answers.base import LONG, Context, Question
from services.responder.answers.view_rows import view_rows

MOST = 100
MOST_TASKS = 5_000
RUNS = """\
select project, run, reason, status, code, tasks, answers,
  strftime(requested_at, '%Y-%m-%d %H:%M:%S UTC') as requested_at,
  strftime(ended_at, '%Y-%m-%d %H:%M:%S UTC') as ended_at
from (
  from dreams where $1 = '' or project = $1
  qualify not $2 or row_number() over (partition by project order by seq desc) = 1
) order by seq desc"""
TASKS = f"""\
select runs.project, runs.run, task, outcome, ended.code, detail, backlog, backlog_after,
  ended.applied, ended.held, refused, ended.tokens, ended.usd, ended.seconds, dropped
from dream_tasks ended join ({RUNS} limit $3) runs using (project, run)
order by ended.seq"""
WAITING = """\
select count(*) as waiting from dream_ordered
where ($1 = '' or project = $1) and seq > coalesce(
  (select max(answers) from dream_requested asked where asked.project = dream_ordered.project), 0)"""


def _open_dreams(context: Context) -> Callable[[DreamsAsk], Awaitable[DreamReport]]:
    async def answer(ask: DreamsAsk) -> DreamReport:
        limit = max(1, min(ask.limit, MOST))
        which = (ask.project, ask.newest)
        runs = await view_rows(context, RUNS, which, max_rows=limit)
        tasks = defaultdict[tuple[object, object], list[DreamTaskReport]](list)
        for row in await view_rows(context, TASKS, (*which, limit), max_rows=MOST_TASKS):
            tasks[row.pop("project"), row.pop("run")].append(msgspec.convert(row, DreamTaskReport))
        (waits,) = await view_rows(context, WAITING, (ask.project,), max_rows=1)
        return DreamReport(
            tuple(_run(row, tasks[row["project"], row["run"]]) for row in runs), msgspec.convert(waits["waiting"], int)
        )

    return answer


def _run(row: dict[str, object], ended: list[DreamTaskReport]) -> DreamRunReport:
    left = msgspec.convert(row.pop("tasks"), list[str])
    done = {one.task for one in ended}
    return msgspec.convert(
        {**row, "tasks": tuple(ended), "left": tuple(one for one in left if one not in done)}, DreamRunReport
    )


DREAMS = Question(DreamsAsk, _open_dreams, lambda reason: DreamReport(error=reason), LONG)


OPEN_RUNS = """\
from (
  from history_runs qualify row_number() over (partition by project, session order by seq desc) = 1
)
select project, session, reason, status, "first", "last", through, tokens_left, code,
  strftime(retry_at, '%Y-%m-%d %H:%M:%S UTC') as retry_at
where status in ('open', 'failed') order by seq desc"""


def _open_history_runs(context: Context) -> Callable[[HistoryRunsAsk], Awaitable[HistoryRuns]]:
    async def answer(ask: HistoryRunsAsk) -> HistoryRuns:
        rows = await view_rows(context, OPEN_RUNS, max_rows=max(1, min(ask.limit, MOST)))
        return HistoryRuns(tuple(msgspec.convert(row, HistoryRun) for row in rows))

    return answer


HISTORY_RUNS = Question(HistoryRunsAsk, _open_history_runs, lambda reason: HistoryRuns(error=reason), LONG)
