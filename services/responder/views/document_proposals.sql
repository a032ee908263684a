-- document_proposals: each change that was proposed for a document: pending, applied, dismissed, or replaced by a newer one.
create or replace macro document_proposals_at(as_of) as table
with proposed as (
  select *, lead(seq) over (partition by project, path order by seq) as newer_seq
  from docs_proposed where seq <= as_of
), decided as (
  select project, path, proposal, 'applied' as status, seq, happened from docs_applied where seq <= as_of
  union all by name
  select project, path, proposal, 'dismissed' as status, seq, happened from docs_dismissed where seq <= as_of
), newest as (
  select proposed.seq as proposed_seq, arg_max(decided.status, decided.seq) as status, max(decided.seq) as seq,
    arg_max(decided.happened, decided.seq) as decided_at
  from proposed join decided using (project, path, proposal)
  where decided.seq > proposed.seq and (newer_seq is null or decided.seq < newer_seq)
  group by proposed.seq
)
select project, path, proposal, coalesce(newest.status, if(newer_seq is null, 'pending', 'replaced')) as status,
  len("old") as changes, reason, digest, "old", "new", happened as proposed_at, decided_at,
  coalesce(newest.seq, proposed.seq) as seq
from proposed left join newest on newest.proposed_seq = proposed.seq;
