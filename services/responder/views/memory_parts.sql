-- memory_parts: the memories that others were split into, as each of them began.
create or replace macro memory_parts_at(as_of) as table
with listed as (
  select project, memory as source, seq, happened, actor_kind, actor_id, category, memory_class, trust, importance,
    expires_at, unnest(parts) as memory, unnest(texts) as text, unnest(range(len(parts))) as place
  from memory_divided where seq <= as_of
), parts as (
  select * from listed where memory is not null and text is not null and memory <> source
  qualify row_number() over (partition by project, memory, seq order by place) = 1
), known as (
  select project, memory, min(seq) as began
  from (
    select project, memory, seq from memory_written where seq <= as_of
    union all select project, memory, seq from memory_proposed where seq <= as_of
    union all select project, memory, seq from parts
  )
  group by all
)
select parts.project, parts.memory, parts.source, parts.place::integer as place, parts.seq, parts.happened,
  coalesce(nullif(parts.actor_id, ''), parts.actor_kind) as actor, parts.category, parts.memory_class, parts.text,
  parts.trust, parts.importance, parts.expires_at
from parts
join known on known.project = parts.project and known.memory = parts.memory and known.began = parts.seq;
