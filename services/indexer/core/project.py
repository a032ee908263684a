"""A project as the index sees it: the memories and notes that hold, and the commits that count."""

import msgspec

from schemas.envelope import Envelope
from schemas.events import CommitsAdvanced, CommitSeen, Event
from schemas.subjects import Address
from services.domain.search.rows import MOST_CHARACTERS, SearchRow, completed, row_id
from services.indexer.core.changes import Changes, key
from services.memory import book as books
from services.memory.book import Book
from services.memory.entry import Memory, Note

NOUNS = books.NOUNS


class ProjectRows(msgspec.Struct, frozen=True):
    """The rows of a project's memory."""

    seq: int = 0
    """The newest fact that is in it."""
    book: Book = Book()


def evolve(project: ProjectRows, event: Event, envelope: Envelope) -> ProjectRows:
    return ProjectRows(envelope.seq, books.evolve(project.book, event, envelope))


def changes(address: Address, before: ProjectRows, after: ProjectRows) -> Changes:
    """The rows to write: all that became of memories and notes between the two.

    A closed book leaves nothing, and one that is opened again all that it holds.
    """
    old, new = before.book, after.book
    is_open, is_turning = not new.moved_to, bool(new.moved_to) != bool(old.moved_to)
    rows: list[SearchRow] = []
    gone: list[tuple[str, str]] = []
    for memory in new.memories.values() if is_turning or old.memories is not new.memories else ():
        if is_turning or old.memories.get(memory.id) is not memory:
            _sort(memory_row(address, memory), rows, gone, is_active=is_open and memory.is_active)
    for note in new.notes.values() if is_turning or old.notes is not new.notes else ():
        if is_turning or old.notes.get(note.id) is not note:
            _sort(note_row(address, note), rows, gone, is_active=is_open and note.status == "active")
    return Changes(tuple(rows), tuple(gone))


def _sort(row: SearchRow, rows: list[SearchRow], gone: list[tuple[str, str]], *, is_active: bool) -> None:
    if is_active:
        rows.append(completed(row))
    else:
        gone.append((row.kind, key(row.project, row.id)))


def memory_row(address: Address, memory: Memory) -> SearchRow:
    author = next((source.actor for source in memory.sources if source.is_author), "")
    return SearchRow(
        id=row_id("memory", memory.id),
        project=address.project,
        kind="memory",
        ref=memory.id,
        text=memory.text,
        actor=author,
        role=memory.memory_class,
        at=memory.created.timestamp(),
        seq=memory.seq,
    )


def note_row(address: Address, note: Note) -> SearchRow:
    return SearchRow(
        id=row_id("note", note.id),
        project=address.project,
        kind="note",
        ref=note.id,
        text=note.text,
        at=note.changed.timestamp(),
        seq=note.seq,
    )


def commit_changes(address: Address, event: Event, envelope: Envelope) -> Changes | None:
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
