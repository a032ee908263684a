-- usage: the provider's token counts, the newest for each answer; `prompt` is all tokens that were sent.
create or replace macro usage_at(as_of) as table
select project, session, seq, happened, message, input, output, reasoning, cache_read, cache_write,
  cost,
  try_cast(input::hugeint + cache_read + cache_write as bigint) as prompt
from usage_sampled where seq <= as_of
qualify row_number() over (partition by project, session, message order by seq desc) = 1;
