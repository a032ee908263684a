"""Commands that wait to be decided on one address, and what becomes of each."""

import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime
from typing import Generic, TypeVar

import msgspec
from msgspec.structs import replace

from schemas.envelope import Actor, Envelope
from schemas.events import Event
from services.domain.draft import Draft
from services.kit.cache import Precedent

S = TypeVar("S")
R = TypeVar("R")

PATIENCE = 5.0
"""Seconds in which a command that someone waits for is decided anew while others write to its address."""
MOST_AT_ONCE = 64
"""The most commands that are appended as one."""


class HandledCommand(msgspec.Struct, Generic[S, R], frozen=True):
    """The result of a command."""

    state: S
    """The state with the command's events."""
    result: R
    """The result that the decision returned."""
    events: Sequence[Event] = ()
    positions: Sequence[int] = ()
    """The positions of the events in the log."""


class QueuedCommand(Generic[S, R]):
    """Something to be decided on the state of an address.

    `decide` records its events in the draft that it is given, and returns what its caller wants to know; it may be
    called more than once. `again` makes the command one that is decided once however often it comes, known by its
    `cause`: it gives the answer to a repeated one, from the last fact of the first. It is decided anew while others
    write to its address for `patience` seconds: for ever where nobody waits, since each lost attempt is a success of
    theirs.
    """

    def __init__(
        self,
        decide: Callable[[Draft[S]], Awaitable[R]],
        *,
        cause: str,
        at: datetime,
        actor: Actor,
        again: Callable[[Precedent], R] | None = None,
        patience: float = math.inf,
    ) -> None:
        self.decide = decide
        self.cause = cause
        self.at = at
        self.actor = actor
        self.again = again
        self.patience = patience


class WaitingCommand(Generic[S, R]):
    """A command in the queue of its address."""

    def __init__(self, command: QueuedCommand[S, R]) -> None:
        self.command = command
        self.until = time.monotonic() + command.patience
        self.handled: HandledCommand[S, R] | Exception | None = None
        self.is_given_up = False
        """Whether nobody waits for it any more."""

    @property
    def is_done(self) -> bool:
        return self.is_given_up or self.handled is not None

    @property
    def outcome(self) -> HandledCommand[S, R] | Exception:
        if self.handled is None:
            raise RuntimeError("a command that waits still has no outcome")
        return self.handled


class DecidedCommand(Generic[S, R]):
    """The decision on a waiting command, before it is in the log."""

    def __init__(self, waiting: WaitingCommand[S, R], draft: Draft[S], result: R) -> None:
        self.waiting = waiting
        self.state = draft.state
        self.events = draft.events
        self.envelopes = _ended(draft)
        self.result = result


def take_group(queue: deque[WaitingCommand[S, R]]) -> Iterator[WaitingCommand[S, R]]:
    """Take the commands that are decided together out of the queue: no two with one cause, the second is a repeat."""
    causes: set[str] = set()
    room = MOST_AT_ONCE
    for _ in range(len(queue)):
        one = queue.popleft()
        if one.is_done:
            continue
        if not room or (one.command.again is not None and one.command.cause in causes):
            queue.append(one)
            continue
        causes.add(one.command.cause)
        room -= 1
        yield one


def _ended(draft: Draft[S]) -> list[Envelope]:
    """The envelopes of a decision, the last with its end and its answer."""
    ends = [replace(one, last=True, answer=draft.answer, refused=draft.is_refused) for one in draft.envelopes[-1:]]
    return [*draft.envelopes[:-1], *ends]
