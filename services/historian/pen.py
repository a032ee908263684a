"""How the historian writes: what was decided on a state is appended behind that state, or not at all."""

from collections.abc import Sequence
from datetime import UTC, datetime

from schemas.envelope import Actor
from schemas.events import Event
from services.historian.state import Session
from services.kit import metrics
from services.kit.bus import Conflict
from services.kit.cache import Entry
from services.kit.decide import envelopes
from services.kit.room import Kit


async def append(kit: Kit, entry: Entry[Session], events: Sequence[Event], cause: str) -> bool:
    """Append; whether nobody else has written meanwhile. The state learns of it when it catches up."""
    actor = Actor("room", kit.room)
    facts = envelopes(events, entry.address, entry.subjects, at=datetime.now(UTC), actor=actor, cause=cause)
    try:
        await kit.appender.append(facts, entry.subjects)
    except Conflict:
        metrics.CONFLICTS.labels(kit.room).inc()
        return False
    for fact in facts:
        metrics.APPENDED.labels(kit.room, fact.type).inc()
    return True
