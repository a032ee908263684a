-- observations: habits of people, turns that the work took, and questions that stayed open.
create or replace macro observations_at(as_of) as table
select project, session, kind, text, "first", "last", run, happened, seq
from observation_recorded where seq <= as_of;
