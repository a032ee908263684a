"""Facts about erasures: what whoever was not reached by one is to do."""

from datetime import datetime
from typing import ClassVar

from schemas.events.base import Event, LogOnly


class ErasureOrdered(Event, frozen=True):
    """An order to plugins: what an erasure took out of the log goes out of their stores, too, once they connect.

    The texts are not here. Of each spelling there are its length, two small filters by which it is looked for, and a
    slow digest by which it is recognized: `services/domain/erasure/orders.py` computes them. The lists are parallel.
    """

    TYPE: ClassVar[str] = "erasure.ordered"

    order: str
    """Its id, by which a plugin stores that it is done."""
    ordered_at: datetime
    """When it was given: of a session that went, only messages from before are dropped."""
    salt: LogOnly
    """16 random bytes in hexadecimal, which filters and digests are computed with."""
    cost: int
    """The parameter N of scrypt; r is 8, and p is 1."""
    lengths: list[int] = []
    """The length of each spelling, in bytes of UTF-8."""
    anchors: list[int] = []
    """A filter of 12 bits of the first 8 bytes of each spelling."""
    checks: list[int] = []
    """A filter of 8 bits of all of each spelling."""
    digests: list[str] = []
    """16 bytes of scrypt of each spelling, in hexadecimal."""
    encoded: list[bool] = []
    """Whether each spelling is base64, in whose place as many letters are put."""
    sessions: list[str] = []
    """Ids of sessions that went."""
    projects: list[str] = []
    """Projects that went, under all their names."""


EVENTS: tuple[type[Event], ...] = (ErasureOrdered,)
