-- memory_lineage: each memory with all memories that were merged into it or that it was split off from, and what each
-- of them contributed.
create or replace macro memory_lineage_at(as_of) as table
with recursive added as (
  select project, memory, seq, happened from memory_written where seq <= as_of
  union all select project, memory, seq, happened from memory_proposed where seq <= as_of
  union all select project, memory, seq, happened from memory_parts_at(as_of)
), first_seen as (
  select project, memory, min(seq) as began from added group by all
), born as (  -- parts of memories that were known: they are as fresh, and were seen as often, as these
  select parts.project, parts.memory, parts.source, parts.seq
  from memory_parts_at(as_of) parts
  join first_seen on first_seen.project = parts.project and first_seen.memory = parts.source
    and first_seen.began < parts.seq
), begun as (
  select project, memory, min(added.seq) as began, bool_or(born.seq is not null) as is_part,
    list({'seq': added.seq, 'at': happened}) filter (born.seq is null) as freshened
  from added left join born using (project, memory, seq) group by all
), seen as (
  select project, memory, list(seq) as sightings, list(seq) filter (effect = 'increment') as renewals,
    list({'seq': seq, 'at': happened}) filter (effect in ('increment', 'refresh_only')) as refreshed
  from memory_reinforced where seq <= as_of group by all
), marked as (
  select project, memory, list({'seq': seq, 'is_pinned': is_pinned} order by seq) as pins
  from memory_pinned where seq <= as_of group by all
), known as (
  select project, memory, began, is_part, list_filter(coalesce(sightings, []), lambda s: s > began) as sightings,
    list_filter(coalesce(renewals, []), lambda s: s > began) as renewals,
    list_filter(coalesce(pins, []), lambda p: p.seq > began) as pins,
    list_concat(coalesce(freshened, []), list_filter(coalesce(refreshed, []), lambda f: f.seq > began)) as freshened
  from begun left join seen using (project, memory) left join marked using (project, memory)
), merges as (
  select distinct made.project, made.memory, made.source, made.seq
  from (select project, memory, unnest(sources) as source, seq from memory_merged where seq <= as_of) made
  join known target on target.project = made.project and target.memory = made.memory and target.began < made.seq
  join known origin on origin.project = made.project and origin.memory = made.source and origin.began < made.seq
  where made.source <> made.memory
  union all select project, memory, source, seq from born
), lineage as (  -- `until`: what came later of a part is not of the memory; `renewed`: what came later of the memory
  select project, memory, memory as part, true as is_itself, as_of::bigint as until, 0::bigint as renewed,
    true as pin_lasts
  from known
  union all
  select lineage.project, lineage.memory, merges.source, false, merges.seq,
    lineage.renewed + len(list_filter(grown.renewals, lambda s: s > merges.seq and s <= lineage.until)),
    lineage.pin_lasts and coalesce(
      list_filter(grown.pins, lambda p: p.seq > merges.seq and p.seq <= lineage.until)[-1].is_pinned, true
    )
  from lineage
  join merges on merges.project = lineage.project and merges.memory = lineage.part and merges.seq <= lineage.until
  join known grown on grown.project = lineage.project and grown.memory = lineage.part
)
select lineage.project, lineage.memory, lineage.part, if(is_itself, null, lineage.until) as until,
  if(is_part, 0, 1) + len(list_filter(sightings, lambda s: s <= lineage.until)) as seen,
  renewed + len(list_filter(renewals, lambda s: s <= lineage.until)) as renewals,
  pin_lasts and coalesce(list_filter(pins, lambda p: p.seq <= lineage.until)[-1].is_pinned, false) as pinned,
  list_max(list_transform(list_filter(freshened, lambda f: f.seq <= lineage.until), lambda f: f.at)) as fades_since
from lineage
join known on known.project = lineage.project and known.memory = lineage.part;
