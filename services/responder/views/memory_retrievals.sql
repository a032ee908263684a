-- memory_retrievals: the memories that searches returned to agents: how often, in how many sessions, and when last.
create or replace macro memory_retrievals_at(as_of) as table
select project, memory, count(*) as retrieved, count(distinct origin) as sessions, max(happened) as retrieved_at,
  max(seq) as seq
from (
  select project, origin, happened, seq, unnest(memories) as memory from memory_retrieved where seq <= as_of
)
group by all;
