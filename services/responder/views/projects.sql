-- projects: each project with its directories and its sessions.
create or replace macro projects_at(as_of) as table
select project, count(distinct session) as sessions, max(happened) as last_seen,
  (select list(distinct directory order by directory) from project_identified seen
   where seen.seq <= as_of and seen.project = opened.project) as directories,
  (select arg_max(root, seq) from project_identified seen
   where seen.seq <= as_of and seen.project = opened.project and root <> '') as root,
  (select arg_max(vcs, seq) from project_identified seen
   where seen.seq <= as_of and seen.project = opened.project and vcs <> '') as vcs
from session_opened opened where seq <= as_of group by project;
