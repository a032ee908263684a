-- plans: every revision of every plan; a rebase with its causes and what it saved.
create or replace macro plans_at(as_of) as table
select project, session, seq, happened, revision, step, 'extend' as pass, []::varchar[] as causes, edit_count,
  []::bigint[] as dropped, tokens_before, tokens_after
from plan_extended where seq <= as_of
union all by name
select project, session, seq, happened, revision, step, 'rebase' as pass, causes, edit_count,
  dropped, tokens_before, tokens_after
from plan_rebased where seq <= as_of;
