-- memory_decisions: the last decision on each candidate for a project's memory, with its reason.
create or replace macro memory_decisions_at(as_of) as table
select project, candidate, verdict, memory, rule, reasons, gate, category, trust, origin, message, attempt,
  actor_kind, actor_id, happened, seq
from memory_judged where seq <= as_of
qualify row_number() over (partition by project, candidate order by seq desc) = 1;
