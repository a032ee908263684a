-- sessions: each session with its newest title, its model and its activity.
create or replace macro sessions_at(as_of) as table
select
  opened.project, opened.session, opened.harness, opened.mode, opened.parent, opened.directory, opened.happened as opened_at,
  coalesce(renamed.title, opened.title) as title,
  step.steps, step.last_step_at, step.provider, step.model,
  closed.closed_at
from (
  select * from session_opened where seq <= as_of
  qualify row_number() over (partition by project, session order by seq) = 1
) opened
left join (
  select project, session, arg_max(title, seq) as title from session_renamed where seq <= as_of group by all
) renamed using (project, session)
left join (
  select project, session, count(distinct step) as steps, max(happened) as last_step_at,
    arg_max(provider, seq) as provider, arg_max(model, seq) as model
  from step_opened where seq <= as_of group by all
) step using (project, session)
left join (
  select project, session, max(happened) as closed_at from session_closed where seq <= as_of group by all
) closed using (project, session);
