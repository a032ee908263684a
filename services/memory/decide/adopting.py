"""A project's earlier name: the facts of its book under that name, recorded again under this one.

What the book knows already stays as it is there: the same words have the same id in every project, and what became of
them here is what people here have decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from schemas.envelope import Envelope
from schemas.events import (
    Event,
    MemoryArchived,
    MemoryDivided,
    MemoryExpired,
    MemoryJudged,
    MemoryMerged,
    MemoryPaused,
    MemoryPinned,
    MemoryProposed,
    MemoryQuarantined,
    MemoryReinforced,
    MemoryReleased,
    MemoryRestored,
    MemoryRetrieved,
    MemoryRevised,
    MemoryVerified,
    MemoryWritten,
    NoteDismissed,
    NoteParked,
    NoteReadied,
    NoteTranslated,
    NoteUpdated,
    NoteWritten,
    PolicyChanged,
)
from services.memory.book import Book
from services.memory.policy import DEFAULTS
from services.memory.state import ADOPTED


def adopted_fact(event: Event, own: Book) -> Event | None:
    """A fact of the former book as one of the book `own`; none where it says nothing there."""
    match event:
        case MemoryWritten(memory=name) | MemoryProposed(memory=name) if name in own.memories:
            return MemoryReinforced(memory=name, origin=event.origin, message=event.message, effect="blocked")
        case MemoryWritten():
            return replace(event, supersedes=_others(event.supersedes, own))
        case MemoryMerged(memory=name) if name not in own.memories:
            return replace(event, sources=_others(event.sources, own))
        case (
            MemoryRevised(memory=name)
            | MemoryDivided(memory=name)
            | MemoryReinforced(memory=name)
            | MemoryArchived(memory=name)
            | MemoryRestored(memory=name)
            | MemoryPinned(memory=name)
            | MemoryVerified(memory=name)
        ):
            return None if name in own.memories else event
        case MemoryExpired(memories=names):
            left = _others(names, own)
            return replace(event, memories=left) if left else None
        case MemoryQuarantined() | MemoryReleased():
            return replace(event, memories=_others(event.memories, own), restored=_others(event.restored, own))
        case MemoryJudged(candidate=name):
            return None if name in own.candidates else event
        case (
            NoteWritten(note=name)
            | NoteUpdated(note=name)
            | NoteTranslated(note=name)
            | NoteReadied(note=name)
            | NoteParked(note=name)
            | NoteDismissed(note=name)
        ):
            return None if name in own.notes else event
        case PolicyChanged(trust=trust):
            return None if trust in own.policy else event
        case MemoryProposed() | MemoryPaused() | MemoryRetrieved():
            return event
        case _:
            return None


def given_back(book: Book, decisions: Iterable[tuple[Envelope, Sequence[Event]]], former: str) -> tuple[Event, ...]:
    """Facts that take out of a book what came from that of a former name, and from nobody else.

    `decisions` are those of the book that took it in. What people of this project have stated, too, stays.
    """
    theirs: dict[str, None] = {}
    notes: dict[str, None] = {}
    policy: dict[str, str] = {}
    own: set[str] = set()
    for envelope, events in decisions:
        is_adopted = envelope.cause.startswith(f"{ADOPTED}/{former}/")
        for event in events:
            match event:
                case MemoryWritten(memory=name) | MemoryProposed(memory=name) if is_adopted:
                    theirs[name] = None
                case MemoryDivided(parts=parts) if is_adopted:
                    theirs |= dict.fromkeys(parts)
                case MemoryDivided(parts=parts):
                    own |= {*parts}
                case MemoryWritten(memory=name) | MemoryReinforced(memory=name) | MemoryRevised(memory=name):
                    own |= set() if is_adopted else {name}
                case NoteWritten(note=name) if is_adopted:
                    notes[name] = None
                case PolicyChanged(trust=trust, action=action):
                    policy = (
                        {**policy, trust: action} if is_adopted else {k: v for k, v in policy.items() if k != trust}
                    )
                case _:
                    pass
    reason = f"it is remembered under {former} again: the two are no longer one project"
    memories = [(name, book.memories.get(name)) for name in theirs if name not in own]
    return (
        *(MemoryArchived(memory=name, reason=reason) for name, one in memories if one and one.status in _LISTED),
        *(NoteDismissed(note=name) for name in notes if (note := book.notes.get(name)) and note.status == "active"),
        *(PolicyChanged(trust=trust, action=DEFAULTS.get(trust, "held")) for trust in policy),
    )


_LISTED = ("active", "pending")


def _others(names: list[str], own: Book) -> list[str]:
    return [name for name in names if name not in own.memories]
