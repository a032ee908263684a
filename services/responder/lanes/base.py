"""What a lane is: edits for what is new, and edits for everything at a rebase."""

from collections.abc import Callable, Sequence

import msgspec

from schemas.plan import AnyEdit
from services.kit.conversation import Message
from services.responder.limits import Limits
from services.responder.state import Session


class Change(msgspec.Struct, frozen=True):
    """What a lane wants of a rebase."""

    edits: tuple[AnyEdit, ...] = ()
    dropped: tuple[int, ...] = ()
    """Tags whose drop it serves."""
    reclaimed: int = 0
    """Estimated tokens that it saves."""
    held: tuple[str, ...] = ()
    """What it would do and may not yet, with the reason."""


Extend = Callable[[Session, Sequence[Message]], Sequence[AnyEdit]]
Rebase = Callable[[Session, Limits], Change]


class Lane(msgspec.Struct, frozen=True):
    """Two pure functions under a name.

    `extend` edits messages that were never sent. `rebase` edits any message, where the prefix changes anyway;
    it yields only edits that are not in force yet.
    """

    name: str
    extend: Extend
    rebase: Rebase
