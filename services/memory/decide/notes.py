"""Commands about notes: what an agent or a person wants to come back to."""

from __future__ import annotations

from schemas.commands import NoteDismiss, NoteUpdate, NoteWrite
from schemas.events import NoteDismissed, NoteUpdated, NoteWritten
from schemas.tools import ALL_SESSIONS, OWN_SESSIONS, Action
from services.domain.command import AGENTS, command
from services.domain.decision import Decision
from services.domain.finding import SHORTEST
from services.memory.book import Book
from services.memory.decide.context import BookContext, Refusal, checked_text
from services.memory.decide.finding import find_note
from services.memory.decide.naming import note_id
from services.memory.entry import Note


@command(
    NoteWrite,
    on=Book,
    sent_by=AGENTS,
    writes=(NoteWritten,),
    for_subagents=True,
    action=Action("note", ALL_SESSIONS, order=20),
)
def write_note(book: Book, command: NoteWrite, context: BookContext) -> Decision:
    """A note of a session, or of the whole project where none is named."""
    text = checked_text(command.text)
    condition = checked_text(command.condition, "condition") if command.condition.strip() else ""
    name = note_id(book.notes, context.cause, text)
    event = NoteWritten(note=name, text=text, origin=context.session, message=command.message, condition=condition)
    return Decision(ok=True, text=f"Noted as {name}.", events=(event,))


@command(NoteUpdate, on=Book, sent_by=AGENTS, writes=(NoteUpdated,), for_subagents=True)
def update_note(book: Book, command: NoteUpdate, context: BookContext) -> Decision:
    """Other words, or another condition."""
    note = _own(book, command.id, context)
    if note.status == "dismissed":
        raise Refusal(f"{note.id} is dismissed; write a new note")
    text = checked_text(command.text) if command.text.strip() else note.text
    condition = checked_text(command.condition, "condition") if command.condition.strip() else note.condition
    if (text, condition) == (note.text, note.condition):
        return Decision(ok=True, text=f"Nothing to do: {note.id} says that now.")
    return Decision(
        ok=True, text=f"{note.id} says that now.", events=(NoteUpdated(note=note.id, text=text, condition=condition),)
    )


def is_note(book: Book, name: str) -> bool:
    """Whether this names a note and no memory: an agent has one action to change either."""
    return name.startswith("n") and len(name) >= SHORTEST and any(one.startswith(name) for one in book.notes)


@command(
    NoteDismiss,
    on=Book,
    sent_by=AGENTS,
    writes=(NoteDismissed,),
    for_subagents=True,
    action=Action("dismiss", OWN_SESSIONS, order=60),
)
def dismiss_note(book: Book, command: NoteDismiss, context: BookContext) -> Decision:
    """A note is done with."""
    note = _own(book, command.id, context)
    if note.status == "dismissed":
        return Decision(ok=True, text=f"Nothing to do: {note.id} is dismissed.")
    return Decision(ok=True, text=f"{note.id} is dismissed.", events=(NoteDismissed(note=note.id),))


def _own(book: Book, name: str, context: BookContext) -> Note:
    """The note. Raises `Refusal` for one of another session, unless a person asks."""
    note = find_note(book, name)
    if note.session and note.session != context.session and context.trust != "person":
        raise Refusal(f"{note.id} is a note of another session, and only that one or a person may change it")
    return note
