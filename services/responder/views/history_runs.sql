-- history_runs: every run that compresses history: its cause, its progress, its cost and its outcome.
create or replace macro history_runs_at(as_of) as table
select asked.project, asked.session, asked.run, asked.reason, asked.generation, asked."first", asked."last",
  asked.tokens, asked.percent, asked.happened as requested_at, asked.seq,
  coalesce(tries.attempts, 0) as attempts, coalesce(tries.refused, 0) as failed_attempts, tries.models,
  coalesce(tries.tokens_in, 0) as tokens_in, coalesce(tries.tokens_out, 0) as tokens_out, coalesce(tries.usd, 0) as usd,
  coalesce(tries.seconds, 0) as seconds,
  coalesce(made.chunks, 0) as chunks, coalesce(made.through, asked."first" - 1) as through,
  coalesce(made.compressed, 0) as compressed_tokens, coalesce(made.summary, 0) as summary_tokens,
  case when failed.seq is null and not coalesce(made.done, false) then coalesce(made.remaining, asked.tokens) else 0 end
    as tokens_left,
  case
    when failed.seq is not null then 'failed'
    when made.done or replaced.seq is not null then 'done'
    when abandoned.seq is not null then 'abandoned'
    else 'open'
  end as status,
  failed.code, failed.detail, failed.retry_at,
  greatest(made.happened, failed.happened, replaced.happened, abandoned.happened) as ended_at
from (select * from history_requested where seq <= as_of) asked
left join (
  select project, session, run, count(*) as attempts, count(*) filter (outcome <> 'ok') as refused,
    list(distinct model order by model) as models, try_cast(sum(tokens_in) as bigint) as tokens_in,
    try_cast(sum(tokens_out) as bigint) as tokens_out, sum(usd) as usd, sum(seconds) as seconds
  from history_attempted where seq <= as_of group by all
) tries using (project, session, run)
left join (
  select project, session, run, count(*) as chunks, max("last") as through,
    try_cast(sum(tokens_in) as bigint) as compressed, try_cast(sum(tokens_out) as bigint) as summary, arg_max("left", seq) as remaining, bool_or(done) as done,
    max(happened) as happened
  from history_advanced where seq <= as_of group by all
) made using (project, session, run)
left join (
  select project, session, run, max(seq) as seq, arg_max(code, seq) as code, arg_max(detail, seq) as detail,
    arg_max(retry_at, seq) as retry_at, max(happened) as happened
  from history_failed where seq <= as_of group by all
) failed using (project, session, run)
left join (
  select project, session, run, max(seq) as seq, max(happened) as happened
  from history_replaced where seq <= as_of group by all
) replaced using (project, session, run)
left join (
  select project, session, run, max(seq) as seq, max(happened) as happened
  from history_abandoned where seq <= as_of group by all
) abandoned using (project, session, run);
