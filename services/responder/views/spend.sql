-- spend: the cost of background models by project and day; a reservation that was never settled counts in full.
create or replace macro spend_at(as_of) as table
select reserved.project, reserved."day", reserved.purpose, count(*) as calls,
  try_cast(sum(coalesce(paid.tokens, reserved.tokens)) as bigint) as tokens, sum(coalesce(paid.usd, reserved.usd)) as usd,
  count(*) filter (paid.reservation is null) as unsettled,
  coalesce(max(refused.refusals), 0) as refusals, max(reserved.seq) as seq
from (select * from spend_reserved where seq <= as_of) reserved
left join (
  select project, reservation, arg_max(tokens, seq) as tokens, arg_max(usd, seq) as usd
  from spend_settled where seq <= as_of group by all
) paid using (project, reservation)
left join (
  select project, "day", purpose, count(*) as refusals from spend_refused where seq <= as_of group by all
) refused using (project, "day", purpose)
group by reserved.project, reserved."day", reserved.purpose;
