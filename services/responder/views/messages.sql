-- messages: the newest recorded state of each message, with its place in the conversation; `ordinal` is null if it
-- has none now.
create or replace macro messages_at(as_of) as table
select recorded.* exclude (id, cause, actor_kind, actor_id, listed), place.ordinal
from (
  select * from message_recorded where seq <= as_of
  qualify row_number() over (partition by project, session, message order by seq desc) = 1
) recorded
left join (
  select project, session, message, arg_max_null(ordinal, (seq, n)) as ordinal
  from (
    select project, session, seq, unnest(messages) as message, unnest(ordinals) as ordinal,
      generate_subscripts(messages, 1) as n
    from message_listed where seq <= as_of
    union all by name
    select project, session, seq, unnest(messages) as message, null::bigint as ordinal,
      generate_subscripts(messages, 1) as n
    from message_removed where seq <= as_of
  )
  group by all
) place using (project, session, message);
