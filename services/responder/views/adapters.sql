-- adapters: the newest version of each adapter in each session.
create or replace macro adapters_at(as_of) as table
select * exclude (id, cause, actor_kind, actor_id)
from adapter_connected where seq <= as_of
qualify row_number() over (partition by project, session, harness, name order by seq desc) = 1;
