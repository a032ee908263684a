"""What is proposed to be remembered of a project, and how often the same was seen."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

import msgspec

from schemas.codec import derived_id
from schemas.commands import MemoryPropose
from schemas.events import Event, MemoryProposed, MemoryReinforced
from schemas.events.fact import CATEGORIES
from services.desk.verdict import Terms, Verdict
from services.kit.fold import Map

LONGEST = 400
"""Characters of a text."""
MOST_EVIDENCE = 100
LAST_ORDINAL = 10**9

Sighting = tuple[str, tuple[int, ...]]
"""A session, and the ordinals of the messages in it."""


class Memories(msgspec.Struct, frozen=True):
    """What was proposed of a project."""

    seen: Map[str, Map[Sighting, None]] = Map()
    """Memory -> where it was seen."""


def evolve(memories: Memories, event: Event) -> Memories:
    match event:
        case (
            MemoryProposed(memory=memory, origin=origin, evidence=evidence)
            | MemoryReinforced(memory=memory, origin=origin, evidence=evidence)
        ):
            sightings = memories.seen.get(memory) or Map()
            sightings = sightings.insert((origin, tuple(evidence)), None)
            return Memories(memories.seen.insert(memory, sightings))
        case _:
            return memories


def identity(category: str, text: str) -> str:
    """The id of a memory: the same for the same words, whatever their case and spacing."""
    return derived_id("memory", category, " ".join(text.lower().split()))


def propose(memories: Memories, wish: MemoryPropose, terms: Terms) -> Verdict:
    """Take a proposal in, or note that the same was seen again. The same sighting is noted once."""
    text = wish.text.strip()
    wrong = _wrong(wish, text)
    if wrong:
        return Verdict(ok=False, text=f"Nothing was proposed: {wrong}.")
    memory = identity(wish.category, text)
    sightings = memories.seen.get(memory)
    if sightings is None:
        event = MemoryProposed(
            memory=memory,
            category=wish.category,
            text=text,
            origin=wish.session,
            evidence=list(wish.evidence),
            source=terms.actor.id or terms.actor.kind,
        )
        return Verdict(
            ok=True, text="Proposed. It is not part of the project's memory before it is taken up.", events=(event,)
        )
    if (wish.session, wish.evidence) in sightings:
        return Verdict(ok=True, text="Nothing to do: the same was proposed from there before.")
    again = MemoryReinforced(memory=memory, origin=wish.session, evidence=list(wish.evidence))
    return Verdict(ok=True, text="The same was proposed before; that it was seen again is noted.", events=(again,))


def _wrong(wish: MemoryPropose, text: str) -> str:
    if wish.category not in CATEGORIES:
        return f"{wish.category[:LONGEST]!r} is no category; use one of {', '.join(CATEGORIES)}"
    if not text:
        return f"the text is empty; say in 1 to {LONGEST} characters what holds"
    if len(text) > LONGEST:
        return f"the text has {len(text)} characters; say it in at most {LONGEST}"
    if len(wish.evidence) > MOST_EVIDENCE or any(not 0 < number <= LAST_ORDINAL for number in wish.evidence):
        return f"evidence is the ordinals of at most {MOST_EVIDENCE} messages, from 1 on"
    return ""
