-- notes: the notes of agents and people in their current state, and whether they are done.
create or replace macro notes_at(as_of) as table
with written as (
  select project, note, max(seq) as written_seq, min(seq) as first_seq, arg_max(origin, seq) as origin,
    arg_max(message, seq) as message
  from note_written where seq <= as_of group by all
), worded as (
  select project, note, arg_max(text, seq) as text, arg_max(condition, seq) as condition, max(seq) as seq,
    arg_max(happened, seq) as changed_at
  from (
    select project, note, text, condition, seq, happened from note_written where seq <= as_of
    union all by name
    select project, note, text, condition, seq, happened
    from note_updated join written using (project, note) where seq <= as_of and seq > first_seq
  ) group by all
), dismissed as (
  select project, note, max(seq) as seq, arg_max(happened, seq) as changed_at
  from note_dismissed join written using (project, note) where seq <= as_of and seq > first_seq group by all
)
select project, note, worded.text, written.origin as session, written.message, worded.condition,
  if(dismissed.seq > written.written_seq, 'dismissed', 'active') as status,
  if(dismissed.seq > worded.seq, dismissed.changed_at, worded.changed_at) as changed_at,
  greatest(worded.seq, dismissed.seq) as seq
from written join worded using (project, note) left join dismissed using (project, note);
