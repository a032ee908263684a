-- tags: each number with the part that carries it, and whether its drop was asked for and is served.
create or replace macro tags_at(as_of) as table
select given.project, given.session, given.number, given.part, given.message, given.kind, given.seq,
  asked.seq as asked_seq, served.seq as dropped_seq,
  case
    when served.seq is not null then 'dropped'
    when given.number <= coalesce(compacted.last_tag, 0) then 'compacted'
    when asked.seq is not null then 'queued'
    else 'active'
  end as status
from (
  select * from (
    select project, session, seq, unnest(parts) as part, unnest(messages) as message, unnest(kinds) as kind,
      "first" + generate_subscripts(parts, 1) - 1 as number
    from tag_assigned where seq <= as_of
  )
  qualify row_number() over (partition by project, session, number order by seq desc) = 1
) given
left join (
  select project, session, number, min(seq) as seq
  from (select project, session, seq, unnest(tags) as number from drop_requested where seq <= as_of) group by all
) asked using (project, session, number)
left join (
  select project, session, number, min(seq) as seq
  from (select project, session, seq, unnest(dropped) as number from plan_rebased where seq <= as_of) group by all
) served using (project, session, number)
left join (
  select project, session, max(last_tag) as last_tag from native_compacted where seq <= as_of group by all
) compacted using (project, session);
