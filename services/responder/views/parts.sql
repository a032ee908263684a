-- parts: the newest recorded state of each part, with its tag, without parts that the harness deleted.
create or replace macro parts_at(as_of) as table
select recorded.* exclude (id, cause, actor_kind, actor_id), tag.number as tag
from (
  select * from part_recorded where seq <= as_of
  qualify row_number() over (partition by project, session, part order by seq desc) = 1
) recorded
left join (
  select project, session, part, arg_max(number, seq) as number from tags_at(as_of) group by all
) tag using (project, session, part)
where not exists (
  select 1 from part_removed removed
  where removed.seq <= as_of and removed.seq > recorded.seq
    and (removed.project, removed.session, removed.part) = (recorded.project, recorded.session, recorded.part)
);
