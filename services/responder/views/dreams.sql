-- dreams: every run of the dreamer: why it was requested, how it ended, and what its tasks did together.
create or replace macro dreams_at(as_of) as table
select asked.project, asked.run, asked.reason, asked.tasks, asked.answers, asked.slot, asked.happened as requested_at,
  started.happened as started_at, ended.happened as ended_at,
  case
    when ended.seq is not null then ended.outcome
    when started.seq is not null then 'started'
    else 'requested'
  end as status,
  coalesce(ended.code, '') as code, coalesce(started.memories, 0) as memories,
  coalesce(done.ended_tasks, 0) as ended_tasks, coalesce(done.failed_tasks, 0) as failed_tasks,
  coalesce(done.applied, 0) as applied, coalesce(done.held, 0) as held, coalesce(done.tokens, 0) as tokens,
  coalesce(done.usd, 0) as usd, coalesce(done.seconds, 0) as seconds, asked.seq
from (select * from dream_requested where seq <= as_of) asked
left join (
  select project, run, min(seq) as seq, min(happened) as happened, max(memories) as memories
  from dream_started where seq <= as_of group by all
) started using (project, run)
left join (
  select project, run, count(*) as ended_tasks, count(*) filter (outcome = 'failed') as failed_tasks,
    try_cast(sum(applied) as bigint) as applied, try_cast(sum(held) as bigint) as held,
    try_cast(sum(tokens) as bigint) as tokens, sum(usd) as usd, sum(seconds) as seconds
  from task_finished where seq <= as_of group by all
) done using (project, run)
left join (
  select project, run, max(seq) as seq, max(happened) as happened, arg_max(outcome, seq) as outcome,
    arg_max(code, seq) as code
  from dream_finished where seq <= as_of group by all
) ended using (project, run);
