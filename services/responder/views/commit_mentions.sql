-- commit_mentions: mentions of each commit in messages, compartments, memories and notes.
create or replace macro commit_mentions_at(as_of) as table
with parts as (
  select project, session, message, part, hashes, made, seq, happened
  from commit_mentioned where seq <= as_of
  qualify row_number() over (partition by project, session, part order by seq desc) = 1
), mentions as (  -- each beginning of a hash, by the text that has it
  select project, 'part' as source, part as id, session, message, hash, list_contains(made, hash) as made, seq, happened
  from (select *, unnest(hashes) as hash from parts) named
  where not exists (
    from part_removed removed where removed.seq <= as_of and removed.seq > named.seq
      and (removed.project, removed.session, removed.part) = (named.project, named.session, named.part)
  ) and not exists (
    from (select project, session, seq, unnest(messages) as message from message_removed where seq <= as_of) removed
    where removed.seq > named.seq
      and (removed.project, removed.session, removed.message) = (named.project, named.session, named.message)
  )
  union all by name
  select project, source, id, session, '' as message, unnest(
      list_distinct(regexp_extract_all(text, '\b[0-9a-f]{7,64}\b'))
    ) as hash, false as made, seq, happened
  from (
    select project, 'compartment' as source, compartment as id, session, seq, sealed_at as happened,
      concat_ws(' ', title, p1, p2, p3, p4, array_to_string(anchors, ' '), array_to_string(names, ' ')) as text
    from compartments_at(as_of)
    union all by name
    select project, 'memory' as source, memory as id, '' as session, seq, created_at as happened, text
    from memories_at(as_of)
    union all by name
    select project, 'note' as source, note as id, session, seq, changed_at as happened, text
    from notes_at(as_of)
  )
)
select mentions.project, commits.sha, commits.subject, mentions.source, mentions.id, mentions.session, mentions.message,
  bool_or(mentions.made) as made, max(mentions.seq) as seq, max(mentions.happened) as happened
from mentions
join commits_at(as_of) commits
  on commits.project = mentions.project and left(commits.sha, 6) = left(mentions.hash, 6)
  and starts_with(commits.sha, mentions.hash)
group by all;
