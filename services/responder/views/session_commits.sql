-- session_commits: the commits that changed files which a session had changed before, with the number of those files;
-- `made` is true if the session made the commit.
create or replace macro session_commits_at(as_of) as table
with rooted as (  -- where each session's folder lies below the root of its repository
  select project, session, directory, arg_max(root, seq) as root
  from (
    select opened.project, opened.session, opened.directory, places.root, places.seq
    from (select * from session_opened where seq <= as_of) opened
    left join (select * from project_identified where seq <= as_of) places using (project, directory)
  )
  group by all
), edited as (
  select touched.project, touched.session, min(touched.happened) as since, case
      when starts_with(touched.path, '/') and coalesce(rooted.root, '') <> ''
        and starts_with(touched.path, rooted.root || '/')
        then substr(touched.path, length(rooted.root) + 2)
      when coalesce(rooted.root, '') <> '' and starts_with(rooted.directory, rooted.root || '/')
        then substr(rooted.directory, length(rooted.root) + 2) || '/' || touched.path
      else touched.path
    end as path
  from (select * from file_touched where seq <= as_of and action <> 'read') touched
  left join rooted using (project, session)
  group by all
), changed as (
  select project, sha, subject, committed, seq, unnest(files) as path from commits_at(as_of)
)
select edited.project, edited.session, changed.sha, changed.subject, changed.committed,
  list(distinct changed.path order by changed.path) as files, exists (
    from commit_mentions_at(as_of) named
    where named.project = edited.project and named.session = edited.session and named.sha = changed.sha and named.made
  ) as made, max(changed.seq) as seq
from edited
join changed on changed.project = edited.project and changed.path = edited.path and changed.committed >= edited.since
group by all;
