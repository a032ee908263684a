"""Who may change what of a project's memory."""

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
from services.desk.core.book.context import BookContext, Refusal
from services.domain.memory.book import Book
from services.domain.memory.entry import Memory

NOTES = (NoteWrite, NoteUpdate, NoteDismiss)
COMMANDS = (
    MemoryWrite,
    MemoryPropose,
    MemoryDecide,
    MemoryRevise,
    MemoryImportance,
    MemoryMerge,
    MemoryArchive,
    MemoryRestore,
    MemoryPin,
    MemoryVerify,
    MemoryReinforce,
    MemoryExpire,
    MemoryQuarantine,
    PolicySet,
    *NOTES,
)
"""All commands about a project's memory."""
OF_PROJECTS = (MemoryDecide, MemoryExpire, MemoryQuarantine, PolicySet)
"""Those that are about the whole of it and come on the project's subject."""

_CHANGES = (MemoryWrite, MemoryPropose, MemoryRevise, MemoryArchive, MemoryVerify, MemoryReinforce)
_ALLOWED: dict[str, tuple[type[Command], ...]] = {
    "person": COMMANDS,
    "agent": (*_CHANGES, *NOTES),
    "historian": (MemoryPropose, MemoryReinforce),
    "dreamer": (*_CHANGES, MemoryMerge, *NOTES),
    "desk": (MemoryExpire,),
}


def check_sender(command: Command, context: BookContext) -> None:
    """Raise `Refusal` where nobody, or not this sender, may send this command at all."""
    if not context.is_enabled:
        raise Refusal("no memory is kept here: it is switched off (ANNALS_MEMORY__ENABLED)")
    if not context.memory_enabled:
        raise Refusal(
            "no memory is kept of this project: its own settings switch it off (memory.enabled); a person sees "
            "them with `annals project settings`"
        )
    if context.is_subagent and context.trust != "person" and not isinstance(command, NOTES):
        raise Refusal(
            "a sub-agent may only write notes; report what is worth remembering to the agent that started you, "
            "or write a note of it"
        )
    if not isinstance(command, _ALLOWED.get(context.trust, ())):
        raise Refusal(f"{command.TYPE} is not for {_called(context.trust)}; ask a person to do it")


def check_project(book: Book) -> None:
    """Raise `Refusal` where nothing is remembered of the project at all."""
    if book.is_home:
        raise Refusal(
            "this is a home directory, and what is said there is about everything; work in the folder of a project, "
            "or name one"
        )


def check_change(memory: Memory, context: BookContext) -> None:
    """Raise `Refusal` where the sender may not change what this memory says, or whether it holds."""
    if context.trust == "person":
        return
    if memory.trust == "person":
        raise Refusal(f"{memory.id} has a person's own words, and only a person may change it; ask one to do it")
    if memory.is_pinned:
        raise Refusal(f"{memory.id} is pinned, and only a person may change it; ask one to do it")


def _called(trust: str) -> str:
    return {"agent": "agents", "person": "people", "desk": "the desk"}.get(trust, f"the {trust}" if trust else "you")
