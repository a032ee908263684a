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
), spans as (  -- with the position from which on each is in force: a generation is made first and in force later
  select sealed.*, case when direct then sealed.seq else whole.seq end as in_force_from
  from sealed
  left join (select project, session, generation, min(seq) as seq from taken group by all) whole
    using (project, session, generation)
), overtaken as (
  select spans.seq as sealed_seq, least(min(newer.seq), min(taken.seq)) as seq
  from spans
  left join sealed newer
    on newer.project = spans.project and newer.session = spans.session and newer.direct
    and newer.seq > spans.in_force_from and newer."first" <= spans."first"
  left join taken
    on taken.project = spans.project and taken.session = spans.session and taken.generation > spans.generation
    and taken.seq > spans.in_force_from and spans."last" >= taken."first" and spans."first" <= taken."last"
  group by all
), gone as (
  select project, session, seq, unnest(messages) as message
  from message_removed where seq <= as_of and reason in ('deleted', 'reverted')
), whole as (  -- of those that no other has taken the place of, the ones whose last message is still there
  select spans.project, spans.session, max(spans."first") as "first"
  from spans
  left join overtaken on overtaken.sealed_seq = spans.seq
  where spans.in_force_from is not null and overtaken.seq is null
    and not exists (
      from gone where gone.project = spans.project and gone.session = spans.session
        and gone.message = spans.last_message and gone.seq > spans.seq
    )
  group by all
)
select spans.project, spans.session, spans.compartment, spans.run, spans.generation, spans."first", spans."last",
  spans.first_message, spans.last_message, spans.messages, spans.title, spans.episode,
  coalesce(scored.importance, spans.importance) as importance,
  spans.p1, spans.p2, spans.p3, spans.p4, spans.anchors, spans.names, spans.began, spans.ended, spans.tokens, spans.source,
  spans.happened as sealed_at, spans.seq
from spans
left join overtaken on overtaken.sealed_seq = spans.seq
left join (  -- its importance, where it was judged anew after it was sealed
  select spans.seq as sealed_seq, arg_max(scores.importance, scores.seq) as importance
  from spans
  join (select * from compartment_rescored where seq <= as_of) scores using (project, session, compartment)
  where scores.seq > spans.seq
  group by all
) scored on scored.sealed_seq = spans.seq
-- none is in force behind the newest of these: what is left of those messages is served as it is again
join whole on whole.project = spans.project and whole.session = spans.session and spans."first" <= whole."first"
where spans.in_force_from is not null and overtaken.seq is null;
