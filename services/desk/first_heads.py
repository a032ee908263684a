"""The memories in the heads of sessions, as their plans have recorded them."""

from collections import OrderedDict
from contextlib import aclosing

from schemas.events import Event, PlanExtended, PlanRebased, StepOpened
from schemas.subjects import Address
from services.domain.record import Record
from services.kit.bus import LogReader
from services.memory.decide.context import FirstHead

WITH_HEADS = frozenset({"primary", "reduce_off"})
"""The modes of sessions whose heads have the memory."""
MOST = 1_000


class FirstHeads:
    """The first head of each session that shows a memory, read once."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._known: OrderedDict[Address, FirstHead] = OrderedDict()

    async def of(self, address: Address) -> FirstHead | None:
        """The first head of a session; none: it has made no call yet, or its head has no memory.

        As long as no plan has recorded a head, it is an empty one at the position of the session's first call.
        """
        if not address.session or address in self._known:
            return self._known.get(address)
        opened = await self._first(address, StepOpened)
        if opened is None or not isinstance(opened.event, StepOpened) or opened.event.mode not in WITH_HEADS:
            return None
        for plan in (PlanExtended, PlanRebased):
            record = await self._first(address, plan)
            if record is not None and isinstance(record.event, plan) and record.event.memories:
                return self._store(address, FirstHead(record.event.as_of, frozenset(record.event.memories)))
        return FirstHead(opened.envelope.seq)

    async def _first(self, address: Address, kind: type[Event]) -> Record | None:
        async with aclosing(self._reader.after(0, address.log(kind.TYPE))) as found:
            async for record in found:
                if not record.problem:
                    return record
        return None

    def _store(self, address: Address, head: FirstHead) -> FirstHead:
        self._known[address] = head
        if len(self._known) > MOST:
            self._known.popitem(last=False)
        return head
