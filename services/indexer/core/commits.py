"""The commits of a project as the index sees them: each one that counts is a row, and a repeated report replaces it."""

from schemas.envelope import Envelope
from schemas.events import CommitsAdvanced, CommitSeen, Event
from schemas.subjects import Address
from services.domain.search.rows import MOST_CHARACTERS, SearchRow, completed, row_id
from services.indexer.core.changes import Changes, key


def changes(address: Address, event: Event, envelope: Envelope) -> Changes | None:
    """The changes of rows to write; None: the fact is about no commit."""
    match event:
        case CommitSeen():
            return Changes(rows=(commit_row(address, event, envelope.seq),))
        case CommitsAdvanced(removed=removed):
            return Changes(gone=tuple(("commit", key(address.project, row_id("commit", sha))) for sha in removed))
        case _:
            return None


def commit_row(address: Address, commit: CommitSeen, seq: int) -> SearchRow:
    return completed(
        SearchRow(
            id=row_id("commit", commit.sha),
            project=address.project,
            kind="commit",
            ref=commit.sha,
            text="\n\n".join(filter(None, (commit.subject, commit.body)))[:MOST_CHARACTERS],
            actor=commit.author,
            at=commit.committed.timestamp(),
            seq=seq,
            files=tuple(commit.files),
        )
    )
