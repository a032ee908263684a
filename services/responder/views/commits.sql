-- commits: the commits of each project that a branch still has; `short` is the abbreviated hash.
create or replace macro commits_at(as_of) as table
with removed as (
  select project, unnest(removed) as sha, seq from commits_advanced where seq <= as_of
)
select told.* exclude (id, session, cause, actor_kind, actor_id, file_count), left(told.sha, 7) as short,
  len(told.parents) > 1 as merge, greatest(told.file_count, len(told.files)) as file_count
from (
  select * from commit_seen where seq <= as_of
  qualify row_number() over (partition by project, sha order by seq desc) = 1
) told
where not exists (
  from removed where removed.project = told.project and removed.sha = told.sha and removed.seq > told.seq
);
