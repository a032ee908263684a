-- proposals: what may be worth remembering of a project, and how often it was proposed again.
create or replace macro proposals_at(as_of) as table
select made.project, made.memory, made.category, made.text, made.origin, made.source, made.happened as proposed_at,
  1 + coalesce(again.times, 0) as seen, coalesce(again.last_at, made.happened) as last_seen_at, made.seq
from (select * from memory_proposed where seq <= as_of) made
left join (
  select project, memory, count(*) as times, max(happened) as last_at
  from memory_reinforced where seq <= as_of group by all
) again using (project, memory);
