-- files: each file that a session worked with: the number of reads and changes, and the last operation.
create or replace macro files_at(as_of) as table
select project, session, path, count(*) filter (action = 'read') as reads,
  count(*) filter (action <> 'read') as edits, arg_max(action, seq) as last_action, arg_max(part, seq) as last_part,
  max(seq) as seq, arg_max(happened, seq) as happened
from file_touched where seq <= as_of group by project, session, path;
