"""A project that had another name before: the facts of its book under that one, as they are told again under this one.

What the book knows already stays as it is there: the same words have the same id in every project, and what became of
them here is what people here have decided.
"""

from __future__ import annotations

from msgspec.structs import replace

from schemas.events import (
    Event,
    MemoryArchived,
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
    NoteUpdated,
    NoteWritten,
    PolicyChanged,
)
from services.domain.memory.book import Book


def adopted(event: Event, own: Book) -> Event | None:
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
        case NoteWritten(note=name) | NoteUpdated(note=name) | NoteDismissed(note=name):
            return None if name in own.notes else event
        case PolicyChanged(trust=trust):
            return None if trust in own.policy else event
        case MemoryProposed() | MemoryPaused() | MemoryRetrieved():
            return event
        case _:
            return None


def _others(names: list[str], own: Book) -> list[str]:
    return [name for name in names if name not in own.memories]
