-- call_failures: each refusal of a provider or a harness; `overflow` is true if the prompt was too long.
create or replace macro call_failures_at(as_of) as table
select failed.* exclude (id, cause, actor_kind, actor_id), exists (
  select 1 from overflow_detected too_long
  where too_long.seq <= as_of and too_long.seq >= failed.seq and too_long.cause = failed.cause
    and (too_long.project, too_long.session, too_long.text) = (failed.project, failed.session, failed.text)
) as overflow
from call_failed failed where failed.seq <= as_of;
