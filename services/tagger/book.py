"""A book of the tagger that belongs to no session: whoever has something for it writes on its newest page."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from schemas.envelope import Actor
from schemas.events import Event
from schemas.subjects import Address
from services.kit.bus import Conflict
from services.kit.cache import Evolve, Sessions
from services.kit.decide import envelopes
from services.kit.room import Kit
from services.tagger.core import Told

S = TypeVar("S")

ATTEMPTS = 8
"""How often a decision is made anew when the log keeps moving, before its message is put off."""


class Book(Generic[S]):
    """Facts of one kind, by address. Sessions that write to one address take turns."""

    def __init__(self, kit: Kit, evolve: Evolve[S], initial: S) -> None:
        self._kit = kit
        self._evolve = evolve
        self._entries = Sessions(kit.reader, evolve, initial, kit.settings.loop.sessions)

    async def write(self, address: Address, told: Told, decide: Callable[[S], Sequence[Event]]) -> None:
        """Append what is decided of an inbound message. Raises `Conflict` if the log keeps moving."""
        entry = await self._entries.get(address)
        async with entry.deciding:
            for _ in range(ATTEMPTS):
                events = decide(entry.state)
                facts = envelopes(
                    events, address, entry.subjects, at=told.at, actor=Actor("room", self._kit.room), cause=told.id
                )
                try:
                    seqs = await self._kit.appender.append(facts, entry.subjects)
                except Conflict:
                    await self._entries.reload(entry)
                    continue
                state = entry.state
                for event, fact in zip(events, facts, strict=True):
                    state = self._evolve(state, event, fact)
                entry.take(facts, seqs, state)
                entry.own.clear()  # a book never catches up: it reloads
                return
        raise Conflict("another tagger keeps writing to the same book")
