-- observations: habits of people, changes of direction in the work, and open questions.
create or replace macro observations_at(as_of) as table
select project, session, kind, text, "first", "last", run, happened, seq
from observation_recorded where seq <= as_of;
