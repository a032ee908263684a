"""A decision while it is made: its events, and the state with each of them folded in once."""

from collections.abc import Callable
from typing import Generic, TypeVar

from schemas.envelope import Envelope
from schemas.events import Event

S = TypeVar("S")
Wrap = Callable[[int, Event], Envelope]
"""Makes the envelope of the so-manyth event of a decision."""


class Draft(Generic[S]):
    """A draft of a decision: the state that it starts from, and what it has recorded so far.

    `wrap` makes the envelope of an event before it is in the log: its position is not known yet.
    """

    def __init__(self, state: S, evolve: Callable[[S, Event, Envelope], S], wrap: Wrap) -> None:
        self.state = state
        self.events: list[Event] = []
        self.envelopes: list[Envelope] = []
        self.answer = ""
        """The answer to the sender of the command, where the log is to have it; empty: it is not."""
        self.is_refused = False
        """Whether that is a refusal."""
        self._evolve = evolve
        self._wrap = wrap

    def record(self, *events: Event) -> None:
        """Add events to the decision. The state has them from here on."""
        for event in events:
            envelope = self._wrap(len(self.events), event)
            self.events.append(event)
            self.envelopes.append(envelope)
            self.state = self._evolve(self.state, event, envelope)
