"""The sessions and projects that facts have come of lately, each as it is at the position of the index."""

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import aclosing

import msgspec

from schemas.envelope import Envelope
from schemas.events import Event, PartRecorded
from schemas.streams import BODIES
from schemas.subjects import Address
from services.domain.record import Record
from services.indexer.core import project, session
from services.indexer.core.project import ProjectRows
from services.indexer.core.session import SessionRows
from services.kit.bus import Bodies, Missing
from services.kit.cache import folded
from services.kit.nouns import NounReader
from services.kit.room import Kit

MOST, MOST_CHARACTERS = 256, 32_000_000
"""Limits of the cache: so many addresses, and of sessions so many characters in all."""

State = SessionRows | ProjectRows


class States:
    """Cached folds of facts. What is not cached is folded anew, up to the position of the index and no further."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._bodies = Bodies(kit.bus, BODIES)
        self._states: OrderedDict[Address, State] = OrderedDict()

    def __len__(self) -> int:
        return len(self._states)

    async def get(self, address: Address, through: int) -> State:
        """The state of this address after all facts up to this position."""
        state = self._states.get(address)
        if state is None:
            state = await self._loaded(address, through)
        self._states[address] = state
        self._states.move_to_end(address)
        return state

    async def facts_of(self, address: Address, through: int) -> AsyncIterator[Record]:
        """All that the log has on this address, up to a position."""
        async with aclosing(self._kit.reader.after(0, address.log_filter)) as records:
            async for record in records:
                if record.envelope.seq > through:
                    return
                yield record

    def store(self, address: Address, state: State) -> None:
        self._states[address] = state

    def forget(self) -> None:
        """Hold nothing: what was folded in was not written."""
        self._states.clear()

    def trim(self) -> None:
        """Forget what was not needed for the longest time, where there is too much."""
        characters = sum(getattr(state, "size", 0) for state in self._states.values())
        while len(self._states) > 1 and (len(self._states) > MOST or characters > MOST_CHARACTERS):
            _, state = self._states.popitem(last=False)
            characters -= getattr(state, "size", 0)

    async def _loaded(self, address: Address, through: int) -> State:
        state: State = SessionRows() if address.session else ProjectRows()
        if not through:
            return state
        nouns = session.NOUNS if address.session else project.NOUNS
        async for record in NounReader(self._kit.reader, nouns, until=through).after(0, address.log_filter):
            if record.event is not None:
                state = after(state, await self.whole(record.event), record.envelope)
        return state

    async def whole(self, event: Event) -> Event:
        """A fact with its text, its arguments and its output, where these were too long to travel with it."""
        if not isinstance(event, PartRecorded):
            return event
        if event.text_ref and event.kind == "text":
            event = msgspec.structs.replace(event, text=await self._body(event, event.text_ref))
        if event.input_ref:
            event = msgspec.structs.replace(event, input=await self._body(event, event.input_ref))
        if event.output_ref:
            event = msgspec.structs.replace(event, output=await self._body(event, event.output_ref))
        return event

    async def _body(self, event: PartRecorded, reference: str) -> str:
        """A body; empty where it is gone."""
        try:
            return await self._bodies.get(reference)
        except Missing as error:
            self._kit.log.warning("a text cannot be indexed", part=event.part, reason=str(error))
            return ""


def after(state: State, event: Event, envelope: Envelope) -> State:
    """The state after a fact; one that is in it already changes nothing."""
    if envelope.seq <= state.seq:
        return state
    if isinstance(state, SessionRows):
        return folded(session.evolve, state, event, envelope)
    return folded(project.evolve, state, event, envelope)
