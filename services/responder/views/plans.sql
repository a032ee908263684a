-- plans: every revision of every plan; for a rebase, its causes and what it saved.
-- tokens_held: the messages as the harness stores them. tokens_before: as they would be sent without this revision; an
-- extension changes nothing that was sent before. tokens_after: as they are sent. For a rebase that was recorded before
-- tokens_held existed, that of the newest extension before it is used. A rebase with more edits than fit into one
-- revision reports all that it saves in its first revision, so that sums count it once.
create or replace macro plans_at(as_of) as table
select project, session, seq, happened, revision, step, 'extend' as pass, []::varchar[] as causes, edit_count,
  []::bigint[] as dropped, tokens_before as tokens_held, tokens_after as tokens_before, tokens_after
from plan_extended where seq <= as_of
union all by name
select rebased.project, rebased.session, rebased.seq, rebased.happened, rebased.revision, rebased.step,
  'rebase' as pass, causes, rebased.edit_count, dropped,
  coalesce(nullif(rebased.tokens_held, 0), extended.tokens_before, rebased.tokens_before) as tokens_held,
  if(rebased.page = 1, rebased.tokens_before, rebased.tokens_after) as tokens_before, rebased.tokens_after
from (
  select *, row_number() over (partition by project, session, step order by seq) as page
  from plan_rebased where seq <= as_of
) rebased
asof left join plan_extended extended
on rebased.project = extended.project and rebased.session = extended.session and rebased.seq >= extended.seq;
