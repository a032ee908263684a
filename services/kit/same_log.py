"""Whether what was made from the log was made from this one: a copy may have been brought back, or a broker lost."""

from typing import Protocol

import msgspec

from schemas.codec import Malformed
from schemas.envelope import Envelope


class Log(Protocol):
    """The log that is compared with."""

    async def head(self) -> int:
        """Its newest position."""

    async def at(self, seq: int) -> Envelope | None:
        """The fact at a position."""


class Newest(msgspec.Struct, frozen=True):
    """The newest fact that went into what was made; without a position there is none."""

    seq: int = 0
    id: str = ""


async def doubt(log: Log, through: int, newest: Newest) -> str:
    """Why what was made up to this position, with this fact as its newest, is not of this log; empty: it is.

    An id follows from what is told, and where: two logs that have the same one at the same position count as one.
    """
    if newest.seq > through:
        return f"it holds facts up to {newest.seq}, and its position is {through}"
    head = await log.head()
    if through > head:
        return f"its position is {through}, and the log ends at {head}"
    if newest.seq and newest.id != await _id_at(log, newest.seq):
        return f"the log holds another fact at {newest.seq}"
    return ""


async def _id_at(log: Log, seq: int) -> str | None:
    try:
        fact = await log.at(seq)
    except Malformed:
        return None
    return fact.id if fact is not None else None
