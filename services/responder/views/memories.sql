-- memories: the memories of each project in their current state: text, status and number of sightings.
create or replace macro memories_at(as_of) as table
with added as (
  select project, memory, seq, happened, category, memory_class, text, trust, importance, expires_at,
    'active' as status
  from memory_written where seq <= as_of
  union all by name
  select project, memory, seq, happened, category, memory_class, text, trust, importance, null::timestamp as expires_at,
    'pending' as status
  from memory_proposed where seq <= as_of
  union all by name
  select project, memory, seq, happened, category, memory_class, text, trust, importance, expires_at,
    'active' as status
  from memory_parts_at(as_of)
), known as (  -- what is taken up begins anew, but for what was seen of it
  select project, memory, min(seq) as first_seq, max(seq) as added_seq, arg_min(happened, seq) as created_at,
    arg_max({'at': expires_at}, seq).at as expires_at
  from added group by all
), worded as (
  select project, memory, seq, category, memory_class, text, trust, importance, 'added' as how from added
  union all by name
  select project, memory, seq, category, memory_class, text, trust, importance, 'revised' as how
  from memory_revised where seq <= as_of
  union all by name
  select project, memory, seq, category, memory_class, text, trust, null as importance, 'merged' as how
  from memory_merged where seq <= as_of
), wordings as (
  select worded.*, lag(worded.text) over history as text_before, lag(worded.category) over history as category_before
  from worded
  join known on known.project = worded.project and known.memory = worded.memory and known.first_seq <= worded.seq
  window history as (partition by worded.project, worded.memory order by worded.seq)
), words as (
  select project, memory, max(seq) as seq, arg_max(category, seq) as category, arg_max(memory_class, seq) as given_class,
    arg_max(text, seq) as text, arg_max(trust, seq) filter (trust <> '' or how = 'added') as trust,
    arg_max(importance, seq) filter (importance is not null) as importance,
    1 + count(*) filter (text <> text_before or (how = 'revised' and category <> category_before)) as revision
  from wordings group by all
), overtaken as (
  select project, unnest(supersedes) as memory, memory as superseded_by, seq from memory_written where seq <= as_of
  union all by name
  select project, unnest(merged.sources) as memory, merged.memory as superseded_by, merged.seq
  from (select * from memory_merged where seq <= as_of) merged
  join known using (project, memory) where known.first_seq < merged.seq
), divided as (  -- which part has taken the place of a memory, and what each part has superseded
  select project, memory, list_filter(parts[:len(texts)], lambda part: part <> memory)[1] as superseded_by, seq
  from memory_divided where seq <= as_of
), superseding as (
  select project, memory, superseded_by, seq from overtaken
  union all by name
  select project, source as memory, memory as superseded_by, seq from memory_parts_at(as_of)
), statuses as (  -- each status that a fact gives; `place` orders those of one fact
  select project, memory, seq, 0 as place, status, '' as superseded_by from added
  union all by name
  select project, memory, seq, 0 as place, 'superseded' as status, superseded_by
  from overtaken where memory <> superseded_by
  union all by name
  select project, memory, seq, 0 as place, 'superseded' as status, superseded_by
  from divided where superseded_by is not null
  union all by name
  select project, memory, seq, 0 as place, 'active' as status, null as superseded_by
  from memory_merged where seq <= as_of
  union all by name
  select project, memory, seq, 0 as place, if(is_rejected, 'rejected', 'archived') as status, null as superseded_by
  from memory_archived where seq <= as_of
  union all by name
  select project, memory, seq, 0 as place, 'active' as status, '' as superseded_by
  from memory_restored where seq <= as_of
  union all by name
  select project, unnest(memories) as memory, seq, 0 as place, 'expired' as status, null as superseded_by
  from memory_expired where seq <= as_of
  union all by name
  select project, unnest(memories) as memory, seq, 0 as place, 'quarantined' as status, null as superseded_by
  from memory_quarantined where seq <= as_of
  union all by name
  select project, unnest(restored) as memory, seq, 1 as place, 'active' as status, '' as superseded_by
  from memory_quarantined where seq <= as_of
  union all by name
  select project, unnest(memories) as memory, seq, 0 as place, 'released' as status, null as superseded_by
  from memory_released where seq <= as_of
  union all by name
  select released.project, superseding.memory, released.seq, released.place, 'superseded' as status,
    superseding.superseded_by
  from (
    select project, unnest(memories) as member, generate_subscripts(memories, 1) as place, restored, seq
    from memory_released where seq <= as_of
  ) released
  join superseding
    on superseding.project = released.project and superseding.superseded_by = released.member
    and superseding.seq < released.seq and list_contains(released.restored, superseding.memory)
), turns as (
  select statuses.*, lag(statuses.status) over course as status_before,
    last_value(if(statuses.status in ('quarantined', 'released'), null, statuses.status) ignore nulls) over course as lasting
  from statuses
  join known on known.project = statuses.project and known.memory = statuses.memory and known.first_seq <= statuses.seq
  window course as (partition by statuses.project, statuses.memory order by statuses.seq, statuses.place)
), ends as (
  select project, memory, max(seq) as seq, arg_max(status, (seq, place)) as status,
    arg_max(lasting, (seq, place)) filter (status = 'quarantined' and status_before <> 'quarantined') as released_to,
    arg_max(superseded_by, (seq, place)) filter (superseded_by is not null) as superseded_by
  from turns where status <> 'released' or status_before = 'quarantined'
  group by all
), verified as (
  select project, memory, max(seq) as seq, arg_max(verification, seq) as verification
  from (select project, memory, seq, verification from memory_verified where seq <= as_of)
  join known using (project, memory) where seq > added_seq group by all
), pinned as (
  select project, memory, max(seq) as seq from memory_pinned join known using (project, memory)
  where seq <= as_of and seq > first_seq group by all
), restored as (
  select project, memory, max(seq) as seq from memory_restored where seq <= as_of group by all
), lineage as (
  select project, memory, try_cast(sum(seen) as bigint) as seen, max(renewals) as renewals, bool_or(pinned) as pinned,
    max(fades_since) as fades_since
  from memory_lineage_at(as_of) group by all
)
select project, memory, words.category,
  case
    when words.given_class in ('feedback', 'decision', 'project', 'reference') then words.given_class
    when words.category in ('PROJECT_RULES', 'USER_DIRECTIVES', 'USER_PREFERENCES') then 'feedback'
    when words.category in ('ARCHITECTURE', 'CONSTRAINTS', 'NAMING', 'ARCHITECTURE_DECISIONS', 'WORKFLOW_RULES')
      then 'decision'
    when words.category in ('CONFIG_VALUES', 'CONFIG_DEFAULTS') then 'reference'
    else 'project'
  end as class,
  words.text, if(ends.status = 'released', ends.released_to, ends.status) as status, words.importance,
  lineage.pinned, words.trust, coalesce(verified.verification, 'unverified') as verification,
  if(restored.seq > known.added_seq, null, known.expires_at) as expires_at, lineage.seen, lineage.renewals, words.revision,
  known.created_at, lineage.fades_since, ends.superseded_by,
  greatest(words.seq, ends.seq, verified.seq, pinned.seq) as seq
from known
join words using (project, memory)
join ends using (project, memory)
join lineage using (project, memory)
left join verified using (project, memory)
left join pinned using (project, memory)
left join restored using (project, memory);
