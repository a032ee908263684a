-- memory_sources: the places where each memory was seen, and by whom; `part` is the memory that this was recorded for
-- at the time.
create or replace macro memory_sources_at(as_of) as table
with added as (
  select project, memory, seq, happened, coalesce(nullif(source, ''), nullif(actor_id, ''), actor_kind) as actor,
    origin, message, run, evidence, category, text, 'added' as how
  from memory_written where seq <= as_of
  union all by name
  select project, memory, seq, happened, coalesce(nullif(source, ''), nullif(actor_id, ''), actor_kind) as actor,
    origin, message, run, evidence, category, text, 'added' as how
  from memory_proposed where seq <= as_of
  union all by name
  select project, memory, seq, happened, actor, '' as origin, '' as message, '' as run, []::bigint[] as evidence, category,
    text, 'added' as how
  from memory_parts_at(as_of)
), known as (
  select project, memory, min(seq) as first_seq from added group by all
), worded as (
  select project, memory, seq, happened, actor, origin, message, run, evidence, category, text, how from added
  union all by name
  select project, memory, seq, happened, coalesce(nullif(actor_id, ''), actor_kind) as actor,
    origin, category, text, 'revised' as how
  from memory_revised where seq <= as_of
  union all by name
  select project, memory, seq, happened, coalesce(nullif(actor_id, ''), actor_kind) as actor,
    origin, category, text, 'merged' as how
  from memory_merged where seq <= as_of
), seen as (
  select project, memory, seq, happened, actor, origin, message, run, evidence
  from (
    select worded.* from worded join known using (project, memory) where worded.seq >= known.first_seq
    window history as (partition by project, memory order by seq)
    qualify how <> 'revised' or (text, category) is distinct from (lag(text) over history, lag(category) over history)
  )
  union all by name
  select project, memory, seq, happened, coalesce(nullif(actor_id, ''), actor_kind) as actor,
    origin, message, '' as run, evidence
  from memory_reinforced where seq <= as_of
)
select distinct lineage.project, lineage.memory, lineage.part, seen.seq, seen.happened, seen.actor,
  seen.origin as session, coalesce(seen.message, '') as message, coalesce(seen.run, '') as run,
  coalesce(seen.evidence, []) as evidence
from memory_lineage_at(as_of) lineage
join known on known.project = lineage.project and known.memory = lineage.part
join seen
  on seen.project = lineage.project and seen.memory = lineage.part
  and seen.seq between known.first_seq and coalesce(lineage.until, as_of);
