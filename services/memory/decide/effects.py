"""The effects of a decision on other memories: what it contradicts, and what finds no room any more.

Nothing is hidden in silence: whoever writes or pins a memory is answered with what that hides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from msgspec.structs import replace

from schemas.codec import wrap
from schemas.events import (
    Event,
    MemoryDivided,
    MemoryMerged,
    MemoryPinned,
    MemoryRestored,
    MemoryRevised,
    MemoryWritten,
)
from schemas.subjects import Address
from services.domain.decision import Decision
from services.domain.texts.bounds import beginning
from services.domain.texts.line import plain
from services.memory.book import Book, evolve
from services.memory.decide.context import BookContext
from services.memory.entry import Memory
from services.memory.rendering import NO_ROOM, Choice, choose
from services.memory.sameness import speaks_against
from services.memory.strength import dormant_days

MOST = 3
"""Memories that an answer names."""
QUOTED = 80
"""Characters of each that it repeats."""


def with_effects(book: Book, decision: Decision, context: BookContext) -> Decision:
    """The decision, answered with what it speaks against and what it hides."""
    names = [name for event in decision.events if (name := _taken_up(event))]
    if not decision.ok or not names:
        return decision
    after = reduce(lambda state, event: _folded(state, event, context), decision.events, book)
    memory = after.memories[names[-1]]
    effects = [*_opposed(after, memory, decision.events, context), *_hidden(book, after, memory, context)]
    return replace(decision, text=" ".join([decision.text, *effects])) if effects else decision


def _taken_up(event: Event) -> str:
    match event:
        case MemoryWritten(memory=name) | MemoryMerged(memory=name) | MemoryRestored(memory=name):
            return name
        case MemoryDivided(parts=[*_, name]):
            return name
        case MemoryRevised(memory=name) | MemoryPinned(memory=name, is_pinned=True):
            return name
        case _:
            return ""


def _folded(book: Book, event: Event, context: BookContext) -> Book:
    return evolve(book, event, wrap(event, Address(""), id="", at=context.at, actor=context.actor, cause=""))


def _opposed(book: Book, memory: Memory, events: Sequence[Event], context: BookContext) -> Iterable[str]:
    """Memories that hold and say something else of the same thing. Who only pins has heard of them before."""
    if all(isinstance(event, MemoryPinned) for event in events):
        return
    others = [one for one in book.memories.values() if one.is_active and one.id != memory.id]
    for one in [one for one in others if speaks_against(memory.text, one.text)][:MOST]:
        yield f"It speaks against {_quoted(one)}: replace it? {_how(memory, one, context)}"


def _how(memory: Memory, other: Memory, context: BookContext) -> str:
    """A sentence about how one of the two is removed, by whoever may."""
    if context.trust == "person":
        return f"`annals memory archive {other.id}`."
    if other.trust == "person" or other.is_pinned:
        return f"It is a person's memory: ask which of the two holds, and delete {memory.id} if it is wrong."
    return f"Delete {other.id} if it holds no longer."


def _hidden(before: Book, after: Book, memory: Memory, context: BookContext) -> Iterable[str]:
    """Memories that new sessions no longer get from now on."""
    was, choice = _choice(before, context), _choice(after, context)
    reasons = dict(choice.omitted)
    if reasons.get(memory.id) in NO_ROOM:
        yield f"It finds no room in the head of new sessions, and is hidden from now on ({_where(context)})."
    elif twin := dict(choice.twins).get(memory.id):
        yield f"{twin} is the same sentence, and represents both."
    gone = [one.memory for one in was.memories if reasons.get(one.memory.id) in NO_ROOM and one.memory.id != memory.id]
    if gone:
        named = ", ".join(map(_quoted, gone[:MOST])) + (f" and {len(gone) - MOST} more" if len(gone) > MOST else "")
        verb = "finds" if len(gone) == 1 else "find"
        yield f"{named} {verb} no room any more, hidden from now on ({_where(context)})."


def _choice(book: Book, context: BookContext) -> Choice:
    dormant = dormant_days(((one.since, one.until) for one in book.pauses), None, context.at)
    return choose(book.memories.values(), context.at, dormant, context.profile)


def _where(context: BookContext) -> str:
    return f"{context.profile.tokens} tokens; `annals memory missing` lists what is hidden"


def _quoted(memory: Memory) -> str:
    return f'{memory.id} ("{beginning(plain(memory.text), QUOTED)}")'
