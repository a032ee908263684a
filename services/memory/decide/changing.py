"""Commands that change one memory: its words, how it weighs, and whether it holds."""

from __future__ import annotations

from msgspec.structs import replace

from schemas.commands import (
    MemoryArchive,
    MemoryImportance,
    MemoryPin,
    MemoryReinforce,
    MemoryRestore,
    MemoryRevise,
    MemoryVerify,
    NoteUpdate,
)
from schemas.events import (
    MemoryArchived,
    MemoryPinned,
    MemoryProposed,
    MemoryReinforced,
    MemoryRestored,
    MemoryRevised,
    MemoryVerified,
    NoteUpdated,
)
from schemas.events.memory import VERIFICATIONS
from schemas.tools import OWN_SESSIONS, Action
from services.domain.command import AGENTS, PEOPLE, command
from services.domain.decision import Decision
from services.domain.finding import echo
from services.memory.book import Book
from services.memory.decide.admission import effect_on
from services.memory.decide.context import BookContext, Refusal, checked_reason, checked_text
from services.memory.decide.holding import change_of, settled
from services.memory.decide.ids import find_active, find_memory
from services.memory.decide.notes import is_note, update_note
from services.memory.decide.permission import check_change
from services.memory.decide.words import check_words, checked_importance, place_of
from services.memory.entry import Memory
from services.memory.keys import exact_key


@command(
    MemoryRevise,
    on=Book,
    sent_by=AGENTS,
    writes=(MemoryRevised, MemoryProposed, NoteUpdated),
    action=Action("update", OWN_SESSIONS, order=40),
)
def revise(book: Book, command: MemoryRevise, context: BookContext) -> Decision:
    """Other words, or another category. The id and the history stay. An agent has one action for notes, too."""
    if is_note(book, command.id):
        update = NoteUpdate(command.id, command.text, command.condition, command.session)
        return update_note(book, update, context)
    memory = find_active(book, command.id)
    if command.condition:
        raise Refusal(f"notes have conditions, and {memory.id} is a memory; leave the condition out, or write a note")
    check_change(memory, context)
    check_revision(memory, command.revision)
    if not command.text.strip() and not command.category:
        raise Refusal("neither a text nor a category is given; give what is to change")
    text = checked_text(command.text) if command.text.strip() else memory.text
    place = place_of(command.category, text) if command.category else None
    category, memory_class = (place.category, place.memory_class) if place else (memory.category, memory.memory_class)
    if (text, category, memory_class) == (memory.text, memory.category, memory.memory_class):
        return Decision(ok=True, text=f"Nothing to do: {memory.id} says that now.")
    check_words(text, memory_class, context)
    check_twin(book, exact_key(memory_class, text), memory)
    change = replace(
        change_of("revise", memory, context, reason=checked_reason(command.reason)),
        text=text,
        category=category,
        memory_class=memory_class,
        origin=context.session,
    )
    return settled(book, change, f"{memory.id} says that now.", context, review=command.review)


def check_revision(memory: Memory, seen: int) -> None:
    """Raise `Refusal` where a memory has other words by now than those that were seen; 0: whatever it says."""
    if seen and seen != memory.revision:
        raise Refusal(
            f"{memory.id} is at revision {memory.revision} by now, and you have seen {seen}; "
            "read it again, and change what it says now"
        )


def check_twin(book: Book, key: str, *known: Memory) -> None:
    """Raise `Refusal` where another memory that holds or waits has these words."""
    twin = book.memories.get(book.exact.get(key) or "")
    if twin is None or twin.id in {memory.id for memory in known} or twin.status not in ("active", "pending"):
        return
    if exact_key(twin.memory_class, twin.text) == key:
        raise Refusal(f"{twin.id} says the same; merge the two, or archive one of them")


@command(MemoryImportance, on=Book, sent_by=("person", "dreamer"), writes=(MemoryRevised, MemoryProposed))
def importance(book: Book, command: MemoryImportance, context: BookContext) -> Decision:
    """Set the importance of a memory."""
    memory = find_active(book, command.id)
    check_change(memory, context)
    check_revision(memory, command.revision)
    weight = checked_importance(command.importance)
    if memory.importance == weight:
        return Decision(ok=True, text=f"Nothing to do: {memory.id} has the importance {weight}.")
    change = change_of("importance", memory, context, reason=checked_reason(command.reason), importance=weight)
    return settled(book, change, f"{memory.id} has the importance {weight}.", context)


@command(
    MemoryArchive,
    on=Book,
    sent_by=AGENTS,
    writes=(MemoryArchived, MemoryProposed),
    action=Action("delete", OWN_SESSIONS, order=50),
)
def archive(book: Book, command: MemoryArchive, context: BookContext) -> Decision:
    """A memory is shown no longer, and what says the same is not taken in again."""
    memory = find_memory(book, command.id)
    check_change(memory, context)
    check_revision(memory, command.revision)
    reason = checked_reason(command.reason)
    if memory.status == "archived":
        return Decision(ok=True, text=f"Nothing to do: {memory.id} is archived.")
    if memory.status == "pending" and context.trust != "person":
        raise Refusal(f"{memory.id} waits for a person, who has to decide on it first (memory.decide)")
    if memory.status not in ("active", "pending", "expired"):
        find_active(book, memory.id)
    return settled(book, change_of("archive", memory, context, reason=reason), f"{memory.id} is archived.", context)


@command(MemoryRestore, on=Book, sent_by=PEOPLE, writes=(MemoryArchived, MemoryRestored))
def restore(book: Book, command: MemoryRestore, _: BookContext) -> Decision:
    """A memory holds again. What had taken its place is archived, unless it holds more than that.

    Of one that was split these are all parts of it but those that others were merged into.
    """
    memory = find_memory(book, command.id)
    reason = checked_reason(command.reason)
    if memory.change is not None:
        changed = ", ".join(name for name, _ in memory.change.targets)
        raise Refusal(f"{memory.id} is a proposal to change {changed}, and no memory; restore those, or change them")
    if memory.is_active:
        return Decision(ok=True, text=f"Nothing to do: {memory.id} holds now.")
    if memory.status in ("pending", "quarantined"):
        find_active(book, memory.id)
    check_twin(book, exact_key(memory.memory_class, memory.text), memory)
    restored = MemoryRestored(memory=memory.id, reason=reason)
    successors = [book.memories[name] for name in memory.successors if name in book.memories]
    is_part = len(memory.successors) > 1
    ended = [one.id for one in successors if one.is_active and not (one.merged if is_part else memory.id in one.merged)]
    text = f"{memory.id} holds now." + (f" {' and '.join(ended)} hold no longer." if is_part and ended else "")
    archived = [MemoryArchived(memory=name, reason=f"{memory.id} was restored") for name in ended]
    return Decision(ok=True, text=text, events=(*archived, restored))


@command(MemoryPin, on=Book, sent_by=PEOPLE, writes=(MemoryPinned,))
def pin(book: Book, command: MemoryPin, _: BookContext) -> Decision:
    """A memory does not fade, or fades again."""
    memory = find_active(book, command.id)
    text = f"{memory.id} is {'pinned' if command.pinned else 'not pinned'}."
    if memory.is_pinned == command.pinned:
        return Decision(ok=True, text=f"Nothing to do: {text}")
    return Decision(ok=True, text=text, events=(MemoryPinned(memory=memory.id, is_pinned=command.pinned),))


@command(
    MemoryVerify,
    on=Book,
    sent_by=AGENTS,
    writes=(MemoryVerified,),
    action=Action("verify", OWN_SESSIONS, order=70),
)
def verify(book: Book, command: MemoryVerify, _: BookContext) -> Decision:
    """Somebody has looked whether a memory holds. To have looked again is a fact, too."""
    memory = find_active(book, command.id)
    check_revision(memory, command.revision)
    if command.verification not in VERIFICATIONS:
        raise Refusal(f"{echo(command.verification)} is no verification; use one of {', '.join(VERIFICATIONS)}")
    event = MemoryVerified(memory=memory.id, verification=command.verification, reason=checked_reason(command.reason))
    return Decision(ok=True, text=f"{memory.id} is {command.verification}.", events=(event,))


@command(
    MemoryReinforce,
    on=Book,
    sent_by=(*AGENTS, "historian"),
    writes=(MemoryReinforced,),
    action=Action("reinforce", OWN_SESSIONS, order=80),
)
def reinforce(book: Book, command: MemoryReinforce, context: BookContext) -> Decision:
    """A memory was seen to hold again."""
    memory = find_active(book, command.id)
    effect = effect_on(memory, context)
    event = MemoryReinforced(memory=memory.id, origin=context.session, effect=effect)
    return Decision(ok=True, text=f"That {memory.id} was seen again is noted.", events=(event,))
