"""Given-when-then on values: facts, a decision, and the facts it must make."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from difflib import unified_diff
from typing import Generic, TypeVar

import msgspec

from schemas.envelope import Actor, Envelope
from schemas.events import Event
from services.domain.draft import Draft

S = TypeVar("S")
Evolve = Callable[[S, Event, Envelope], S]

AT = datetime(2026, 1, 1, tzinfo=UTC)


class Given(Generic[S]):
    """A state, the facts that it was folded from, and those of the last decision."""

    def __init__(self, evolve: Evolve[S], state: S, log: tuple[Event, ...] = (), made: tuple[Event, ...] = ()) -> None:
        self._evolve = evolve
        self.state = state
        self.log = log
        self.made = made

    def when(self, decide: Callable[[S], Sequence[Event]]) -> "Given[S]":
        """Decide on the state; what is decided becomes part of it."""
        return self.and_given(*decide(self.state))

    def and_given(self, *events: Event) -> "Given[S]":
        state = self.state
        for seq, event in enumerate(events, len(self.log) + 1):
            state = self._evolve(state, event, envelope(event, seq))
        return Given(self._evolve, state, (*self.log, *events), events)

    def then(self, *expected: Event) -> "Given[S]":
        """Exactly these facts were made."""
        _agree(expected, self.made)
        return self

    def then_only(self, kind: type[Event], *expected: Event) -> "Given[S]":
        """Among others, exactly these facts of this kind were made."""
        _agree(expected, [event for event in self.made if isinstance(event, kind)])
        return self


def given(evolve: Evolve[S], initial: S, *events: Event) -> Given[S]:
    return Given(evolve, initial).and_given(*events)


def drafted(evolve: Evolve[S], state: S, decide: Callable[[Draft[S]], object]) -> list[Event]:
    """The events that a decision on this state records."""
    draft = Draft(state, evolve, lambda _, event: envelope(event, 0))
    decide(draft)
    return draft.events


def envelope(event: Event, seq: int) -> Envelope:
    data = msgspec.Raw(msgspec.json.encode(event))
    return Envelope(f"e{seq}", event.TYPE, AT, "project", "session", Actor("room"), data, seq=seq)


def _agree(expected: Sequence[Event], actual: Sequence[Event]) -> None:
    difference = unified_diff(list(map(_line, expected)), list(map(_line, actual)), "expected", "actual", lineterm="")
    assert list(expected) == list(actual), "\n".join(difference)


def _line(event: Event) -> str:
    """An event in one line, without what is as usual."""
    return f"{type(event).__name__} {msgspec.to_builtins(event)}"
