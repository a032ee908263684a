-- tool_runs: each tool call that has ended, as it was last told: how, after how long and what it was about.
create or replace macro tool_runs_at(as_of) as table
select * exclude (id, cause, actor_kind, actor_id)
from tool_ran where seq <= as_of
qualify row_number() over (partition by project, session, part order by seq desc) = 1;
