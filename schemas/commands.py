"""What may be wished on `do.<project>.<session>.<noun>.<verb>`, and how the desk answers."""

from typing import ClassVar

import msgspec

from schemas.envelope import Actor, Moment


class Command(msgspec.Struct, frozen=True):
    """A wish. It is valid or refused as a whole."""

    TYPE: ClassVar[str]


class DropQueue(Command, frozen=True):
    """The agent no longer needs these tags (the tool `ctx_reduce`)."""

    TYPE: ClassVar[str] = "drop.queue"

    drop: str = ""
    """`3-5,8,12-15`: numbers and ranges, separated by commas."""


class FlushRequest(Command, frozen=True):
    """A person asks for everything that waits to be applied at the next model call."""

    TYPE: ClassVar[str] = "flush.request"

    reason: str = ""


class HistoryOrder(Command, frozen=True):
    """Compress all of a session's history that can be compressed, now."""

    TYPE: ClassVar[str] = "history.order"


class HistoryRebuild(Command, frozen=True):
    """Make compressed history anew, or give that up."""

    TYPE: ClassVar[str] = "history.rebuild"

    range: str = ""
    """`12-80`, in ordinals of messages; empty: everything; `stop`: what was begun is given up."""


class HistoryRescore(Command, frozen=True):
    """Have a model judge anew how long each part of a session's history is worth keeping; what it says stays."""

    TYPE: ClassVar[str] = "history.rescore"


class MemoryPropose(Command, frozen=True):
    """Something may be worth remembering of the project. The session of the wish is empty: it is about the project."""

    TYPE: ClassVar[str] = "memory.propose"

    category: str
    text: str
    session: str = ""
    evidence: tuple[int, ...] = ()


class SpendReserve(Command, frozen=True):
    """A room is about to ask a model. It is refused when the project's budget of the day does not hold that."""

    TYPE: ClassVar[str] = "spend.reserve"

    reservation: str
    purpose: str
    tokens: int
    usd: float = 0.0
    session: str = ""


class SpendSettle(Command, frozen=True):
    """What a reserved call cost in the end."""

    TYPE: ClassVar[str] = "spend.settle"

    reservation: str
    tokens: int
    usd: float = 0.0


COMMANDS: tuple[type[Command], ...] = (
    DropQueue,
    FlushRequest,
    HistoryOrder,
    HistoryRebuild,
    HistoryRescore,
    MemoryPropose,
    SpendReserve,
    SpendSettle,
)


class Wish(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message on `do.*`: the command as JSON, who wishes it and when. `id` makes a repeated wish one wish."""

    id: str
    at: Moment
    actor: Actor
    data: msgspec.Raw
    v: int = 1


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The desk's reply. `text` is meant for the one who asked, agent or person."""

    ok: bool
    text: str
    seq: int = 0
    """The log position of what was written; 0 if nothing was."""
