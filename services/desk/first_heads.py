"""The memories in the heads of sessions, as their plans have recorded them."""

from schemas.codec import decode_event
from schemas.envelope import Envelope
from schemas.events import Event, PlanExtended, PlanRebased, StepOpened
from schemas.subjects import Address
from services.domain.newest import NewestMap
from services.kit.bus import LogReader
from services.memory.decide.context import FirstHead

WITH_HEADS = frozenset({"primary", "reduce_off"})
"""The modes of sessions whose heads have the memory."""
MOST = 1_000


class FirstHeads:
    """The first head of each session that shows a memory, read once."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._known = NewestMap[Address, FirstHead](MOST)

    async def of(self, address: Address) -> FirstHead | None:
        """The first head of a session; none: it has made no call yet, or its head has no memory.

        As long as no plan has recorded a head, it is an empty one at the position of the session's first call.
        """
        if not address.session or address in self._known:
            return self._known.get(address)
        opened = await self._first(address, StepOpened)
        step = decode_event(opened) if opened is not None else None
        if opened is None or not isinstance(step, StepOpened) or step.mode not in WITH_HEADS:
            return None
        for kind in (PlanExtended, PlanRebased):
            envelope = await self._first(address, kind)
            plan = decode_event(envelope) if envelope is not None else None
            if isinstance(plan, PlanExtended | PlanRebased) and plan.memories:
                self._known[address] = FirstHead(plan.as_of, frozenset(plan.memories))
                return self._known[address]
        return FirstHead(opened.seq)

    async def _first(self, address: Address, kind: type[Event]) -> Envelope | None:
        """The first fact of this type that can be read: of thousands no more is asked for."""
        subject = [address.log(kind.TYPE)]
        seq = await self._reader.next_after(0, subject)
        while seq and (envelope := await self._reader.at(seq)) is None:
            seq = await self._reader.next_after(seq, subject)
        return envelope if seq else None
