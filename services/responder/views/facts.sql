-- facts: each fact that sessions show about their project, once, with its number of sightings and their places.
create or replace macro facts_at(as_of) as table
select project, fact, arg_min(category, seq) as category, arg_min(text, seq) as text, count(*) as seen,
  list(distinct session order by session) as sessions, min(happened) as first_seen_at, max(happened) as last_seen_at,
  min(seq) as seq
from fact_extracted where seq <= as_of group by project, fact;
