-- dream_tasks: every task of the dreamer's runs: its outcome, what there was to do, what it did, and what it cost.
create or replace macro dream_tasks_at(as_of) as table
select project, run, task, outcome, code, detail, backlog, backlog_after, applied, held, refused, tokens, usd, seconds,
  dropped, unasked,
  happened as ended_at, seq
from task_finished where seq <= as_of;
