"""The tagger's book of projects: facts that belong to no session."""

from schemas.envelope import Actor
from schemas.inbox import DocumentSeen, SessionSeen
from schemas.subjects import Address
from services.kit.bus import Conflict
from services.kit.cache import Sessions
from services.kit.decide import envelopes
from services.kit.room import Kit
from services.tagger.core import Told
from services.tagger.project import Project, decide, evolve

ATTEMPTS = 8
"""How often a decision is made anew when the log keeps moving, before its message is put off."""


class Projects:
    """Notes where projects lie and what their documents say. Sessions of one project take turns."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._projects = Sessions(kit.reader, evolve, Project(), kit.settings.loop.sessions)

    async def take(self, project: str, told: Told) -> None:
        """Append what an inbound message says about its project. Raises `Conflict` if the log keeps moving."""
        if not any(isinstance(item, SessionSeen | DocumentSeen) for item in told.inbound.items):
            return
        entry = await self._projects.get(Address(project))
        async with entry.deciding:
            for _ in range(ATTEMPTS):
                events = decide(entry.state, told.harness, told.id, told.inbound.items, told.sizes)
                facts = envelopes(
                    events,
                    entry.address,
                    entry.subjects,
                    at=told.at,
                    actor=Actor("room", self._kit.room),
                    cause=told.id,
                )
                try:
                    seqs = await self._kit.appender.append(facts, entry.subjects)
                except Conflict:
                    await self._projects.reload(entry)
                    continue
                state = entry.state
                for event, fact in zip(events, facts, strict=True):
                    state = evolve(state, event, fact)
                entry.take(facts, seqs, state)
                entry.own.clear()  # this book never catches up: it reloads
                return
        raise Conflict("another tagger keeps writing about this project")
