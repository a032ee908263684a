-- todos: the newest todo list of each session, one row for each line, in order.
create or replace macro todos_at(as_of) as table
select project, session, seq, happened, generate_subscripts(contents, 1) as place, unnest(contents) as content,
  unnest(statuses) as status, unnest(priorities) as priority
from (
  select * from todo_captured where seq <= as_of
  qualify row_number() over (partition by project, session order by seq desc) = 1
);
