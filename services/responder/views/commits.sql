-- commits: the commits of each project that a branch still has; `short` is the abbreviated hash.
create or replace macro commits_at(as_of) as table
with removed as (
  select project, unnest(removed) as sha, seq from commits_advanced where seq <= as_of
)
select recorded.* exclude (id, session, cause, actor_kind, actor_id, file_count), left(recorded.sha, 7) as short,
  len(recorded.parents) > 1 as merge, greatest(recorded.file_count, len(recorded.files)) as file_count
from (
  select * from commit_seen where seq <= as_of
  qualify row_number() over (partition by project, sha order by seq desc) = 1
) recorded
where not exists (
  from removed where removed.project = recorded.project and removed.sha = recorded.sha and removed.seq > recorded.seq
);
