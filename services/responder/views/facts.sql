-- facts: what sessions showed of their project, each once, with how often and where it was seen.
create or replace macro facts_at(as_of) as table
select project, fact, arg_min(category, seq) as category, arg_min(text, seq) as text, count(*) as seen,
  list(distinct session order by session) as sessions, min(happened) as first_seen_at, max(happened) as last_seen_at,
  min(seq) as seq
from fact_extracted where seq <= as_of group by project, fact;
