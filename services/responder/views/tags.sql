-- tags: each tag number with the part that it is on, whether that part has left the conversation, and the outcome
-- of its drop.
create or replace macro tags_at(as_of) as table
select given.project, given.session, given.number, given.part, given.message, given.kind, given.seq,
  asked.seq as asked_seq, served.seq as dropped_seq,
  case
    when served.seq is not null then 'dropped'
    when place.is_gone then 'gone'
    when asked.seq is not null then 'queued'
    else 'active'
  end as status
from (
  select * from (
    select project, session, seq, unnest(parts) as part, unnest(messages) as message, unnest(kinds) as kind,
      try_cast("first"::hugeint + generate_subscripts(parts, 1) - 1 as bigint) as number
    from tag_assigned where seq <= as_of
  )
  qualify row_number() over (partition by project, session, number order by seq desc) = 1
) given
left join (
  select project, session, number, min(seq) as seq
  from (
    select project, session, seq, unnest(tags) as number from drop_requested where seq <= as_of
    union all select project, session, seq, unnest(queued) from plan_extended where seq <= as_of  -- in its origin
  ) group by all
) asked using (project, session, number)
left join (
  select project, session, number, min(seq) as seq
  from (
    select project, session, seq, unnest(dropped) as number from plan_rebased where seq <= as_of
    union all select project, session, seq, unnest(inherited) from plan_extended where seq <= as_of
  ) group by all
) served using (project, session, number)
left join (
  select project, session, message, arg_max(is_gone, seq) as is_gone
  from (
    select project, session, seq, unnest(messages) as message, false as is_gone from message_listed where seq <= as_of
    union all by name
    select project, session, seq, unnest(messages) as message, true as is_gone from message_removed where seq <= as_of
  )
  group by all
) place using (project, session, message);
