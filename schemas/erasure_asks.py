"""The question of plugins about erasures, asked when they connect, and the reply."""

from datetime import datetime
from typing import ClassVar

import msgspec

from schemas.ask import Ask, RequestReply
from schemas.numbers import Count


class ErasuresAsk(Ask, frozen=True):
    """What was erased? Asked by adapters at each connect, before they send what they have stored."""

    NAME: ClassVar[str] = "erasures"

    project: str = ""
    since: Count = 0
    """The position of the log behind which the orders are wanted."""


class ErasureOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """One `erasure.ordered`, field by field."""

    order: str
    ordered_at: datetime
    salt: str
    cost: int
    lengths: tuple[int, ...] = ()
    anchors: tuple[int, ...] = ()
    checks: tuple[int, ...] = ()
    digests: tuple[str, ...] = ()
    encoded: tuple[bool, ...] = ()
    sessions: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()


class ErasureOrders(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.erasures`: orders in the order of the log."""

    orders: tuple[ErasureOrder, ...] = ()
    more: int = 0
    """There may be further ones behind this position: ask again from there. 0: these are all."""
    error: str = ""


ERASURES = RequestReply(ErasuresAsk, ErasureOrders, order=290)
