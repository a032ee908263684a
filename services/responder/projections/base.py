"""The interface of a projection: the state of a scope of the log, folded event by event."""

from collections.abc import Callable, Sequence
from typing import Generic, Literal, TypeVar

from schemas.envelope import Envelope
from schemas.events import Event
from schemas.subjects import Address

S = TypeVar("S")

Scope = Literal["session", "project", "global"]
"""Whose events are folded: those of one session, those of a project that belong to no session, or those of neither."""


class Projection(Generic[S]):
    """A fold over all events of one scope."""

    def __init__(
        self, scope: Scope, initial: S, evolve: Callable[[S, Event, Envelope], S], nouns: Sequence[str] = ()
    ) -> None:
        """`nouns`: those of the events that are folded, where the scope has many others; none: all are read."""
        self.scope = scope
        self.initial = initial
        self.evolve = evolve
        self.nouns = tuple(nouns)


def scope_of(address: Address) -> Scope:
    """The scope that an address in the log belongs to."""
    if address.session:
        return "session"
    return "project" if address.project else "global"
