"""A project's memory book: the fold of all facts about its memories, notes and policy.

The desk decides on it, the responder shows it; both fold the same facts with this one function.
"""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterable
from itertools import chain, repeat

import msgspec

from schemas.conditions import decode_condition, encode_condition
from schemas.envelope import Envelope
from schemas.events import (
    Event,
    MemoryArchived,
    MemoryDivided,
    MemoryExpired,
    MemoryJudged,
    MemoryMerged,
    MemoryMoved,
    MemoryPaused,
    MemoryPinned,
    MemoryProposed,
    MemoryQuarantined,
    MemoryReinforced,
    MemoryReleased,
    MemoryRestored,
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
    ProjectIdentified,
)
from services.domain.fold import Map
from services.domain.senders import name_of
from services.memory.classes import MemoryClass, is_class, placed
from services.memory.entry import Judgement, Memory, Note, PendingChange, Source
from services.memory.state import Book, Pause, Quarantine, source_key

__all__ = ["LISTING", "NOUNS", "Book", "evolve"]

replace = msgspec.structs.replace

LISTING = "listing"
"""The reason for which lists of names have expired."""
NOUNS = ("memory", "note", "policy", "project")
"""The nouns of the facts that a book is made of: a new fact of one of them makes a decision on the book stale."""


NoteFact = NoteWritten | NoteUpdated | NoteTranslated | NoteReadied | NoteParked | NoteDismissed


def evolve(book: Book, event: Event, envelope: Envelope) -> Book:
    """The book after this fact. Facts that are in it, or not about memory, leave it as it is.

    A fact of a decision that is not in the log yet has no position: it is folded in however often it comes.
    """
    if 0 < envelope.seq <= book.seq:
        return book
    changed = _changed_by(book, event, envelope)
    if changed is book:
        return book
    return replace(changed, seq=max(book.seq, envelope.seq), unfinished=_unfinished(book.unfinished, envelope))


def _changed_by(book: Book, event: Event, envelope: Envelope) -> Book:
    match event:
        case MemoryProposed() | MemoryWritten():
            return _added(book, event, envelope)
        case MemoryRevised():
            return _revised(book, event, envelope)
        case MemoryMerged():
            return _merged(book, event, envelope)
        case MemoryDivided():
            return _divided(book, event, envelope)
        case MemoryReinforced():
            return _reinforced(book, event, envelope)
        case MemoryArchived(memory=name, is_rejected=is_rejected):
            return _changed(book, [name], envelope, status="rejected" if is_rejected else "archived")
        case MemoryRestored(memory=name):
            return _changed(book, [name], envelope, status="active", superseded_by="", expires_at=None)
        case MemoryPinned(memory=name, is_pinned=is_pinned):
            return _changed(book, [name], envelope, is_pinned=is_pinned)
        case MemoryVerified(memory=name, verification=verification):
            return _changed(book, [name], envelope, verification=verification)
        case MemoryExpired(memories=names, reason=reason):
            expired = _changed(book, names, envelope, status="expired")
            return replace(expired, are_listings_expired=book.are_listings_expired or reason == LISTING)
        case MemoryPaused(since=since, until=until):
            return replace(book, pauses=(*book.pauses, Pause(since, until)))
        case MemoryQuarantined():
            return _quarantined(book, event, envelope)
        case MemoryReleased():
            return _released(book, event, envelope)
        case MemoryJudged(candidate=name):
            judgement = Judgement(event.verdict, event.memory, event.attempt, envelope.seq, tuple(event.reasons))
            return book.judging(name, judgement)
        case PolicyChanged(trust=trust, action=action):
            return replace(book, policy=book.policy.insert(trust, action))
        case MemoryMoved(name=name):
            return replace(book, moved_to=name)
        case ProjectIdentified(home=True) if not book.is_home:
            return replace(book, is_home=True)
        case NoteWritten() | NoteUpdated() | NoteTranslated() | NoteReadied() | NoteParked() | NoteDismissed():
            return replace(book, notes=_noted(book.notes, event, envelope))
        case _:
            return book


def _unfinished(unfinished: Map[str, None], envelope: Envelope) -> Map[str, None]:
    if envelope.cause and not envelope.last:
        return unfinished.insert(envelope.cause, None)
    return unfinished.discard(envelope.cause) if envelope.cause in unfinished else unfinished


def _added(book: Book, event: MemoryProposed | MemoryWritten, envelope: Envelope) -> Book:
    """A memory that is new, or one that is taken up or holds again: it keeps what was seen of it."""
    source = Source(
        event.source or _actor(envelope),
        event.origin,
        event.message,
        envelope.seq,
        event.run,
        tuple(event.evidence),
        is_author=True,
    )
    before = book.memories.get(event.memory)
    is_written = isinstance(event, MemoryWritten)
    memory = Memory(
        id=event.memory,
        category=event.category,
        text=event.text,
        memory_class=_class(event),
        status="active" if is_written else "pending",
        trust=event.trust,
        created=before.created if before else envelope.at,
        clock=envelope.at,
        importance=event.importance,
        is_pinned=before.is_pinned if before else False,
        reinforced=before.reinforced if before else 0,
        reinforced_at=before.reinforced_at if before else None,
        seen=before.seen if before else 1,
        revision=before.revision + (before.text != event.text) if before else 1,
        expires_at=event.expires_at if isinstance(event, MemoryWritten) else None,
        sources=before.sources if before else (),
        supersedes=tuple(dict.fromkeys((*_overtaken(before), *event.supersedes))),
        merged=before.merged if before else (),
        facts=before.facts if before else (),
        change=_pending_change(event),
    ).with_source(source)
    changed = replace(book, changed_at=envelope.at)
    if isinstance(event, MemoryWritten):
        changed = _changed(changed, event.supersedes, envelope, status="superseded", superseded_by=memory.id)
    return changed.with_memory(_touched(memory, envelope))


def _pending_change(event: MemoryProposed | MemoryWritten) -> PendingChange | None:
    if isinstance(event, MemoryWritten) or not event.change:
        return None
    targets = tuple(zip(event.targets, chain(event.revisions, repeat(0)), strict=False))
    return PendingChange(event.change, targets, event.reason, tuple(event.parts))


def _overtaken(memory: Memory | None) -> tuple[str, ...]:
    """The memories whose place a memory has taken; one that waits has taken none yet."""
    return memory.supersedes if memory is not None and memory.status != "pending" else ()


def _revised(book: Book, event: MemoryRevised, envelope: Envelope) -> Book:
    memory = book.memories.get(event.memory)
    if memory is None:
        return book
    has_new_words = (event.text, event.category) != (memory.text, memory.category)
    revised = _touched(
        memory,
        envelope,
        text=event.text,
        category=event.category,
        memory_class=_class(event),
        importance=event.importance,
        trust=event.trust or memory.trust,
        revision=memory.revision + has_new_words,
    )
    if has_new_words:
        revised = revised.with_source(_source(event.origin, envelope, is_author=True))
    return book.with_memory(revised)


def _merged(book: Book, event: MemoryMerged, envelope: Envelope) -> Book:
    """Counters are summed, sources united; it is pinned if one of them was, and as fresh as the freshest."""
    memory = book.memories.get(event.memory)
    if memory is None:
        return book
    names = dict.fromkeys(name for name in event.sources if name in book.memories and name != event.memory)
    others = [book.memories[name] for name in names]
    merged = _touched(
        memory,
        envelope,
        text=event.text,
        category=event.category,
        memory_class=_class(event),
        status="active",
        is_pinned=memory.is_pinned or any(other.is_pinned for other in others),
        seen=memory.seen + sum(other.seen for other in others),
        reinforced=max([memory.reinforced, *(other.reinforced for other in others)]),
        clock=max([memory.clock, *(other.clock for other in others)]),
        revision=memory.revision + (event.text != memory.text),
        trust=event.trust or memory.trust,
        supersedes=tuple(dict.fromkeys((*memory.supersedes, *names))),
        merged=tuple(dict.fromkeys((*memory.merged, *names))),
    )
    known = set(merged.sources)
    for source in (source for other in others for source in other.sources):
        if source not in known:
            merged = merged.with_source(source)
    merged = merged.with_source(_source(event.origin, envelope, is_author=True))
    return _changed(book, names, envelope, status="superseded", superseded_by=memory.id).with_memory(merged)


def _divided(book: Book, event: MemoryDivided, envelope: Envelope) -> Book:
    """Each part has what the memory had: where it comes from, how often it was seen, and how it fades."""
    memory = book.memories.get(event.memory)
    texts: dict[str, str] = {}
    for name, text in zip(event.parts, event.texts, strict=False):
        if name != event.memory:
            texts.setdefault(name, text)
    for name, text in texts.items():
        if name not in book.memories:
            book = book.with_memory(_touched(_part(event, name, text, memory, envelope), envelope))
    if not texts:
        return book
    parts = tuple(texts)
    return _changed(book, [event.memory], envelope, status="superseded", superseded_by=parts[0], parts=parts)


def _part(event: MemoryDivided, name: str, text: str, memory: Memory | None, envelope: Envelope) -> Memory:
    return Memory(
        id=name,
        category=event.category,
        text=text,
        memory_class=_class(event),
        status="active",
        trust=event.trust,
        created=envelope.at,
        clock=memory.clock if memory else envelope.at,
        importance=event.importance,
        is_pinned=memory.is_pinned if memory else False,
        reinforced=memory.reinforced if memory else 0,
        reinforced_at=memory.reinforced_at if memory else None,
        seen=memory.seen if memory else 1,
        expires_at=event.expires_at,
        sources=memory.sources if memory else (),
        supersedes=(event.memory,),
    ).with_source(_source("", envelope, is_author=True))


def _reinforced(book: Book, event: MemoryReinforced, envelope: Envelope) -> Book:
    """A sighting counts always; it slows the fading or starts it anew where the decision says so."""
    memory = book.memories.get(event.memory)
    if memory is None:
        return book
    source = _source(event.origin, envelope, message=event.message, evidence=tuple(event.evidence))
    seen = replace(memory, seen=memory.seen + 1).with_source(source).with_fact(envelope.seq)
    if event.effect in ("increment", "refresh_only"):
        count = memory.reinforced + (event.effect == "increment")
        seen = replace(seen, reinforced=count, reinforced_at=envelope.at, clock=envelope.at)
    return replace(book, memories=book.memories.insert(memory.id, seen), changed_at=envelope.at)


def _quarantined(book: Book, event: MemoryQuarantined, envelope: Envelope) -> Book:
    names = tuple(name for name in event.memories if name in book.memories)
    for name in names:
        was = book.memories[name].status
        if was != "quarantined":
            book = _changed(book, [name], envelope, status="quarantined", quarantined_from=was)
    known = book.quarantines.get(source_key(event.kind, event.value)) or Quarantine((), ())
    both = Quarantine(
        tuple(dict.fromkeys((*known.memories, *names))), tuple(dict.fromkeys((*known.restored, *event.restored)))
    )
    book = _changed(book, event.restored, envelope, status="active", superseded_by="")
    return replace(book, quarantines=book.quarantines.insert(source_key(event.kind, event.value), both))


def _released(book: Book, event: MemoryReleased, envelope: Envelope) -> Book:
    """The book after a release: what was taken back is what it was; what holds only since then is superseded again."""
    for name in event.memories:
        memory = book.memories.get(name)
        if memory is not None and memory.quarantined_from:
            again = [one for one in memory.supersedes if one in event.restored]
            book = _changed(book, again, envelope, status="superseded", superseded_by=name)
            book = _changed(book, [name], envelope, status=memory.quarantined_from, quarantined_from="")
    return replace(book, quarantines=book.quarantines.discard(source_key(event.kind, event.value)))


def _noted(notes: Map[str, Note], event: NoteFact, envelope: Envelope) -> Map[str, Note]:
    at, seq = envelope.at, envelope.seq
    if isinstance(event, NoteWritten):
        note = Note(event.note, event.text, event.origin, event.condition, "active", changed=at, seq=seq)
        return notes.insert(note.id, _waiting(note, event, envelope))
    note_before = notes.get(event.note)
    if note_before is None:
        return notes
    return notes.insert(event.note, _noted_again(note_before, event, envelope))


def _noted_again(note: Note, event: NoteFact, envelope: Envelope) -> Note:
    at, seq = envelope.at, envelope.seq
    match event:
        case NoteUpdated(text=text):
            changed = replace(note, text=text, condition=event.condition, changed=at, seq=seq)
            before = note.condition, encode_condition(note.waits_for)
            is_anew = text == note.text or (event.condition, event.waits_for) != before
            return _waiting(changed, event, envelope) if is_anew else changed
        case NoteTranslated(waits_for=waits_for, reason=reason, zone=zone):
            condition = decode_condition(waits_for)
            return replace(note, waits_for=condition, zone=zone, translated=seq, parked=0, code="", reason=reason)
        case NoteReadied(reason=reason):
            return note if note.readied else replace(note, readied=seq, parked=0, code="", reason=reason)
        case NoteParked(code=code, reason=reason):
            return note if note.readied else replace(note, parked=seq, code=code, reason=reason)
        case _:
            return replace(note, status="dismissed", changed=at, seq=seq)


def _waiting(note: Note, event: NoteWritten | NoteUpdated, envelope: Envelope) -> Note:
    """The note as it begins to wait for what the fact says."""
    return replace(
        note,
        waits_for=decode_condition(event.waits_for),
        since=envelope.seq,
        asked=envelope.at,
        translated=0,
        zone="",
        readied=0,
        parked=0,
        code="",
        reason="",
    )


def _changed(book: Book, names: Iterable[str], envelope: Envelope, **changes: object) -> Book:
    """Each of these memories with the same changes."""
    for name in names:
        memory = book.memories.get(name)
        if memory is not None:
            book = book.with_memory(_touched(memory, envelope, **changes))
    return book


def _touched(memory: Memory, envelope: Envelope, **changes: object) -> Memory:
    """The memory with these changes. What holds is a memory, whatever it was proposed as."""
    if changes.get("status") == "active":
        changes["change"] = None
    return replace(memory.with_fact(envelope.seq), seq=envelope.seq, **changes)


def _class(event: MemoryProposed | MemoryWritten | MemoryRevised | MemoryMerged | MemoryDivided) -> MemoryClass:
    """The class that the fact names, or that of its category: what an older version knew may be neither."""
    if is_class(event.memory_class):
        return event.memory_class
    placement = placed(event.category)
    return placement.memory_class if placement else "project"


def _source(
    session: str,
    envelope: Envelope,
    *,
    message: str = "",
    evidence: tuple[int, ...] = (),
    is_author: bool = False,
) -> Source:
    return Source(_actor(envelope), session, message, envelope.seq, evidence=evidence, is_author=is_author)


def _actor(envelope: Envelope) -> str:
    return name_of(envelope.actor)
