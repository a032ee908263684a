-- steps: each model call with the revision of its plan and the tokens that this saves.
create or replace macro steps_at(as_of) as table
select step.* exclude (id, cause, actor_kind, actor_id, capabilities),
  plan.pass, plan.revision, plan.causes, plan.tokens_held, plan.tokens_before, plan.tokens_after
from (
  select * from step_opened where seq <= as_of
  qualify row_number() over (partition by project, session, step order by seq) = 1
) step
left join (
  select project, session, step, arg_max(pass, seq) as pass, max(revision) as revision, arg_max(causes, seq) as causes,
    arg_max(tokens_held, seq) as tokens_held, arg_min(tokens_before, seq) as tokens_before,
    arg_max(tokens_after, seq) as tokens_after
  from plans_at(as_of) group by all
) plan using (project, session, step);
