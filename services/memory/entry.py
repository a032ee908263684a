"""One memory, one note, and one candidate."""

from datetime import datetime
from typing import Literal

import msgspec

from schemas.conditions import Condition
from services.memory.classes import MemoryClass

Status = Literal["pending", "active", "superseded", "archived", "expired", "rejected", "quarantined"]
"""`pending` waits for a person; of the others only `active` holds."""

MOST_SIGHTINGS = 32
MOST_FACTS = 64
"""The number of its newest facts that a memory names, with the first one. The log has all of them."""


class Source(msgspec.Struct, frozen=True):
    """A sighting of a memory: the session, its message, the run that found it there, and the fact in the log."""

    actor: str
    session: str
    message: str
    seq: int
    run: str = ""
    evidence: tuple[int, ...] = ()
    is_author: bool = False
    """Whether words of the memory came from there, rather than that it was only seen there again."""


class PendingChange(msgspec.Struct, frozen=True):
    """A proposed change of existing memories."""

    kind: str
    """`merge`, `split`, `revise`, `archive` or `importance`."""
    targets: tuple[tuple[str, int], ...]
    """Each of them with the wording that it had; the one that goes on is the first."""
    reason: str = ""
    parts: tuple[str, ...] = ()
    """The texts of the memories that a split would make."""


class Memory(msgspec.Struct, frozen=True):
    """A memory in its present state: its words, what they weigh, and where they come from."""

    id: str
    category: str
    text: str
    memory_class: MemoryClass
    status: Status
    trust: str
    created: datetime
    clock: datetime
    """Since when it fades."""
    importance: str = "normal"
    is_pinned: bool = False
    verification: str = "unverified"
    reinforced: int = 0
    """The number of times that its fading was slowed."""
    reinforced_at: datetime | None = None
    seen: int = 1
    """The number of times that it was seen, in any session."""
    revision: int = 1
    """Which wording it has, from 1 on."""
    expires_at: datetime | None = None
    sources: tuple[Source, ...] = ()
    """All that words of it came from, and the newest of those that it was seen at again; the newest last."""
    superseded_by: str = ""
    supersedes: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    """Those of them whose words are in it, since they were made one."""
    quarantined_from: Status | Literal[""] = ""
    """The status that it had before it was quarantined."""
    seq: int = 0
    """The position of the newest fact that changed what is shown of it."""
    facts: tuple[int, ...] = ()
    """The positions of the newest facts that concern it, the newest last; the first of all stays."""
    change: PendingChange | None = None
    """The change that a proposal asks for which is no memory by itself."""
    parts: tuple[str, ...] = ()
    """The memories that it was split into last."""

    @property
    def is_active(self) -> bool:
        return self.status == "active"

    @property
    def successors(self) -> tuple[str, ...]:
        """The memories that have taken its place: all parts of one that was split."""
        if self.superseded_by in self.parts:
            return self.parts
        return (self.superseded_by,) if self.superseded_by else ()

    def with_source(self, source: Source) -> "Memory":
        """The memory with one more source. However often it is seen again, it does not grow without end."""
        sources = (*self.sources, source)
        seen_again = [index for index, one in enumerate(sources) if not one.is_author]
        if len(seen_again) > MOST_SIGHTINGS:
            sources = (*sources[: seen_again[0]], *sources[seen_again[0] + 1 :])
        return msgspec.structs.replace(self, sources=sources)

    def with_fact(self, seq: int) -> "Memory":
        """The memory with one more fact that concerns it."""
        facts = (*self.facts, seq)
        if len(facts) > MOST_FACTS:
            facts = (facts[0], *facts[2:])
        return msgspec.structs.replace(self, facts=facts)


class Note(msgspec.Struct, frozen=True):
    """Something that an agent or a person wants to come back to."""

    id: str
    text: str
    session: str
    condition: str
    status: Literal["active", "dismissed"]
    changed: datetime
    seq: int
    waits_for: Condition | None = None
    """The condition that the dreamer checks; None: there is none, or only words for it."""
    since: int = 0
    """The position of the fact that gave the note its condition."""
    asked: datetime | None = None
    """The time of the fact that gave the note its condition."""
    translated: int = 0
    """The position at which the words of its condition were translated, or that was given up; 0: they were not."""
    zone: str = ""
    """The name of the time zone by whose days a date was found in these words; empty: none was."""
    readied: int = 0
    """The position at which the condition came true; 0: it has not."""
    parked: int = 0
    """The position at which looking was given up; 0: it was not."""
    code: str = ""
    """The reason why it was given up, in one word (see `note.parked`)."""
    reason: str = ""
    """The finding of a look, or the reason why nothing can be looked at, or why its words were not translated."""

    @property
    def announced(self) -> int:
        """The position of the fact that sessions get a notice of; 0: there is none."""
        return (self.readied or self.parked) if self.status == "active" else 0

    @property
    def stage(self) -> str:
        """Its status as it is displayed: `active`, `ready`, `parked` or `dismissed`."""
        if self.status != "active":
            return self.status
        return "ready" if self.readied else "parked" if self.parked else "active"


class Judgement(msgspec.Struct, frozen=True):
    """The final judgement of a candidate."""

    verdict: str
    memory: str
    attempt: int
    seq: int
    reasons: tuple[str, ...] = ()
