-- compartments: the compressed history in force, with all tiers that prompts of the session may show.
create or replace macro compartments_at(as_of) as table
with taken as (
  select project, session, generation, seq, "first", "last" from history_replaced where seq <= as_of
), sealed as (
  select made.*, made.generation = 0 or exists (
    from taken where taken.project = made.project and taken.session = made.session
      and taken.generation = made.generation and taken.seq < made.seq
  ) as direct
  from (select * from compartment_sealed where seq <= as_of) made
), held as (  -- from which position on each of them held: a generation is made first and holds later
  select sealed.*, case when direct then sealed.seq else whole.seq end as held_from
  from sealed
  left join (select project, session, generation, min(seq) as seq from taken group by all) whole
    using (project, session, generation)
), overtaken as (
  select held.seq as held_seq, least(min(newer.seq), min(taken.seq)) as seq
  from held
  left join sealed newer
    on newer.project = held.project and newer.session = held.session and newer.direct
    and newer.seq > held.held_from and newer."first" <= held."first"
  left join taken
    on taken.project = held.project and taken.session = held.session and taken.generation > held.generation
    and taken.seq > held.held_from and held."last" >= taken."first" and held."first" <= taken."last"
  group by all
), gone as (
  select project, session, seq, unnest(messages) as message
  from message_removed where seq <= as_of and reason in ('deleted', 'reverted')
), whole as (  -- of those that no other has taken the place of, the ones whose last message is still there
  select held.project, held.session, max(held."first") as "first"
  from held
  left join overtaken on overtaken.held_seq = held.seq
  where held.held_from is not null and overtaken.seq is null
    and not exists (
      from gone where gone.project = held.project and gone.session = held.session
        and gone.message = held.last_message and gone.seq > held.seq
    )
  group by all
)
select held.project, held.session, held.compartment, held.run, held.generation, held."first", held."last",
  held.first_message, held.last_message, held.messages, held.title, held.episode,
  coalesce(scored.importance, held.importance) as importance,
  held.p1, held.p2, held.p3, held.p4, held.anchors, held.names, held.began, held.ended, held.tokens, held.source,
  held.happened as sealed_at, held.seq
from held
left join overtaken on overtaken.held_seq = held.seq
left join (  -- what was judged of it since it was sealed
  select held.seq as held_seq, arg_max(told.importance, told.seq) as importance
  from held
  join (select * from compartment_rescored where seq <= as_of) told using (project, session, compartment)
  where told.seq > held.seq
  group by all
) scored on scored.held_seq = held.seq
-- behind the newest of these nothing holds: what is left of those messages is served as it is again
join whole on whole.project = held.project and whole.session = held.session and held."first" <= whole."first"
where held.held_from is not null and overtaken.seq is null;
