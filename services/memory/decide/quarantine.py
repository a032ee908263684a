"""All that came of one source is taken back, whatever it has become; and that is undone.

What came of a source is every memory with words of it. Where words of others are in it as well, the two cannot be
separated: the memory is taken back as a whole, and the answer names it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from schemas.commands import MemoryQuarantine
from schemas.events import MemoryQuarantined, MemoryReleased
from services.domain.command import PEOPLE, AddressKind, command
from services.domain.decision import Decision
from services.domain.finding import echo
from services.domain.often import quantity
from services.memory.book import Book
from services.memory.decide.context import BookContext, Refusal, checked_reason
from services.memory.entry import Memory, Source
from services.memory.state import source_key

KINDS = ("session", "message", "run", "actor")
MOST_NAMED = 20
"""The number of ids that an answer names at most."""


@command(
    MemoryQuarantine,
    on=Book,
    sent_by=PEOPLE,
    writes=(MemoryQuarantined, MemoryReleased),
    address=AddressKind.PROJECT,
)
def quarantine(book: Book, command: MemoryQuarantine, context: BookContext) -> Decision:
    """Take back what came of a source, or undo that; of a session with those that its agents have started."""
    if command.kind not in KINDS:
        raise Refusal(f"{echo(command.kind)} is no kind of source; use one of {', '.join(KINDS)}")
    if not command.value:
        raise Refusal(f"no {command.kind} is named; give its id")
    reason = checked_reason(command.reason)
    started = context.started if command.kind == "session" else ()
    if command.undo:
        return _released(book, command, [one for one in started if source_key("session", one) in book.quarantines])
    decision = _taken_back(book, command, reason)
    others = [_taken_back(book, replace(command, value=one), reason) for one in started]
    events = tuple(event for one in (decision, *others) for event in one.events)
    if not started:
        return decision
    named = f"So is what came of the {quantity(len(started), 'session')} that its agents have started."
    return replace(decision, text=f"{decision.text} {named}", events=events)


def _taken_back(book: Book, command: MemoryQuarantine, reason: str) -> Decision:
    members = [memory for memory in _ordered(book) if any(_is_from(one, command) for one in _authors(memory))]
    taken = [memory for memory in members if memory.status != "quarantined"]
    known = book.quarantines.get(source_key(command.kind, command.value))
    if known is not None and not {memory.id for memory in members} - set(known.memories):
        return Decision(ok=True, text=f"Nothing to do: {_answer(command, len(known.memories))}")
    if not members and command.kind != "session":
        raise Refusal(
            f"nothing that is remembered came of the {command.kind} {echo(command.value)}; `annals memory show ID` "
            "names what a memory came of"
        )
    names = {memory.id for memory in members}
    restored = [one.id for one in _ordered(book) if one.status == "superseded" and _is_freed(book, one, names)]
    event = MemoryQuarantined(
        kind=command.kind,
        value=command.value,
        memories=[memory.id for memory in members],
        restored=restored,
        reason=reason,
    )
    mixed = [memory.id for memory in taken if not all(_is_from(one, command) for one in _authors(memory))]
    text = _answer(command, len(members))
    if restored:
        text += f" {_named(restored)} hold{_s(restored)} again."
    if mixed:
        text += f" {_named(mixed)} had words of others, too, which cannot be separated and are taken back with them."
    if command.kind == "session":
        text += " No other session's search finds its messages."
    return Decision(ok=True, text=text, events=(event,))


def _released(book: Book, command: MemoryQuarantine, started: Sequence[str]) -> Decision:
    """Undo a quarantine, and those of the sessions that were quarantined with it."""
    values = {source_key(command.kind, one): one for one in (command.value, *started)}
    released = {key: book.quarantines[key] for key in values if key in book.quarantines}
    if not released:
        return Decision(
            ok=True, text=f"Nothing to do: of the {command.kind} {echo(command.value)} nothing is taken back."
        )
    still = {name for key, one in book.quarantines.items() if key not in released for name in one.memories}
    events = tuple(
        MemoryReleased(
            kind=command.kind,
            value=values[key],
            memories=[name for name in known.memories if name not in still],
            restored=[name for name in known.restored if book.memories[name].status == "active"],
        )
        for key, known in released.items()
    )
    names = {name for one in events for name in one.memories}
    text = f"What came of the {command.kind} {echo(command.value)} is as it was: {_memories(len(names))}."
    if others := [name for known in released.values() for name in known.memories if name in still]:
        text += f" {_named(others)} stay{_s(others)} taken back for another source."
    return Decision(ok=True, text=text, events=events)


def _ordered(book: Book) -> list[Memory]:
    return sorted(book.memories.values(), key=lambda memory: (memory.facts[0], memory.id))


def _authors(memory: Memory) -> list[Source]:
    return [source for source in memory.sources if source.is_author]


def _is_from(source: Source, command: MemoryQuarantine) -> bool:
    return bool(getattr(source, command.kind) == command.value)


def _is_freed(book: Book, memory: Memory, names: set[str]) -> bool:
    """Whether all that has taken its place, one after the other, is taken back, and it is not."""
    if memory.id in names:
        return False
    left = [*memory.successors]
    while left:
        name = left.pop()
        if name not in names:
            return False
        left += book.memories[name].successors
    return True


def _answer(command: MemoryQuarantine, count: int) -> str:
    return f"All that came of the {command.kind} {echo(command.value)} is taken back: {_memories(count)}."


def _memories(count: int) -> str:
    return quantity(count, "memory", "memories")


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def _s(names: Sequence[str]) -> str:
    return "s" if len(names) == 1 else ""
