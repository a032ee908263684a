-- documents: the newest content of each document of each project, without deleted documents.
create or replace macro documents_at(as_of) as table
select project, path, digest, bytes, text_ref, seq, happened
from (
  select * from document_captured where seq <= as_of
  qualify row_number() over (partition by project, path order by seq desc) = 1
)
where digest <> '';
