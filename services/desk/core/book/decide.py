"""A command about a project's memory, and what it becomes: facts of the book, or a sentence why it becomes nothing."""

from __future__ import annotations

from schemas.commands import (
    Command,
    MemoryArchive,
    MemoryDecide,
    MemoryExpire,
    MemoryImportance,
    MemoryMerge,
    MemoryPin,
    MemoryPropose,
    MemoryQuarantine,
    MemoryReinforce,
    MemoryRestore,
    MemoryRevise,
    MemoryVerify,
    MemoryWrite,
    NoteDismiss,
    NoteUpdate,
    NoteWrite,
    PolicySet,
)
from services.desk.core.book.admission import admit
from services.desk.core.book.changing import archive, importance, pin, reinforce, restore, revise, verify
from services.desk.core.book.context import BookContext, Refusal
from services.desk.core.book.deciding import decide_proposal
from services.desk.core.book.effects import with_effects
from services.desk.core.book.expiring import expire
from services.desk.core.book.merging import merge
from services.desk.core.book.notes import dismiss_note, is_note, update_note, write_note
from services.desk.core.book.permission import check_project, check_sender
from services.desk.core.book.policy import set_policy
from services.desk.core.book.quarantine import quarantine
from services.desk.core.book.writing import candidate_of
from services.desk.core.decision import Decision
from services.domain.memory.book import Book


def decide(book: Book, command: Command, context: BookContext) -> Decision:
    """Decide on the newest state of the book."""
    try:
        check_sender(command, context)
        check_project(book)
        return with_effects(book, _decided(book, command, context), context)
    except Refusal as refusal:
        return Decision(ok=False, text=f"Nothing was written: {refusal}.")


def _decided(book: Book, command: Command, context: BookContext) -> Decision:
    match command:
        case MemoryWrite() | MemoryPropose():
            return admit(book, candidate_of(command, context), context)
        case MemoryDecide():
            return decide_proposal(book, command, context)
        case MemoryRevise() if is_note(book, command.id):
            return update_note(book, NoteUpdate(command.id, command.text, session=command.session), context)
        case MemoryRevise():
            return revise(book, command, context)
        case MemoryImportance():
            return importance(book, command)
        case MemoryArchive():
            return archive(book, command, context)
        case MemoryRestore():
            return restore(book, command)
        case MemoryPin():
            return pin(book, command)
        case MemoryVerify():
            return verify(book, command)
        case MemoryReinforce():
            return reinforce(book, command, context)
        case MemoryMerge():
            return merge(book, command, context)
        case MemoryQuarantine():
            return quarantine(book, command)
        case MemoryExpire():
            return expire(book, command, context)
        case NoteWrite():
            return write_note(book, command, context)
        case NoteUpdate():
            return update_note(book, command, context)
        case NoteDismiss():
            return dismiss_note(book, command, context)
        case PolicySet():
            return set_policy(book, command)
        case _:
            raise TypeError(f"no rule for {command!r}")
