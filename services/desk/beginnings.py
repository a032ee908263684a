"""When sessions made their first model calls: what was remembered by then stood at their heads."""

from collections import OrderedDict
from contextlib import aclosing

from schemas.events import StepOpened
from schemas.subjects import Address
from services.kit.bus import LogReader
from services.memory.decide.context import Began

WITH_HEADS = frozenset({"primary", "reduce_off"})
"""The modes of sessions that are shown the memory."""
MOST = 1_000


class Beginnings:
    """The first calls of sessions, each read once."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._known: OrderedDict[Address, Began] = OrderedDict()

    async def of(self, address: Address) -> Began | None:
        """The first call of a session; none: it has made none yet, or is shown no memory."""
        known = self._known.get(address) if address.session else None
        if known is not None or not address.session:
            return known
        async with aclosing(self._reader.after(0, address.log(StepOpened.TYPE))) as found:
            async for record in found:
                if not isinstance(record.event, StepOpened):
                    continue
                if record.event.mode not in WITH_HEADS:
                    return None
                self._known[address] = began = Began(record.envelope.seq, record.envelope.at)
                if len(self._known) > MOST:
                    self._known.popitem(last=False)
                return began
        return None
