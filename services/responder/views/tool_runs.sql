-- tool_runs: each finished tool call in its newest recorded state: outcome, duration and subject.
create or replace macro tool_runs_at(as_of) as table
select * exclude (id, cause, actor_kind, actor_id)
from tool_ran where seq <= as_of
qualify row_number() over (partition by project, session, part order by seq desc) = 1;
