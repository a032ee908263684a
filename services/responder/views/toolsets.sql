-- toolsets: the sets of tools that each session was offered, in order, with the tokens that each takes in a prompt.
create or replace macro toolsets_at(as_of) as table
select project, session, seq, happened, digest, names, tokens,
  try_cast(coalesce(list_sum(tokens), 0) as bigint) as total_tokens, row_number() over (partition by project, session order by seq desc) = 1 as in_force
from toolset_changed where seq <= as_of;
