"""The compartments of a session as its facts tell them: which are in force, and which are being made."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

import msgspec

from schemas.events import (
    CompartmentRescored,
    CompartmentSealed,
    Event,
    HistoryAbandoned,
    HistoryReplaced,
    MessageRemoved,
)
from services.kit.fold import Map

replace = msgspec.structs.replace

GONE = frozenset({"deleted", "reverted"})
"""Reasons for which a message is gone for good. One that is only not listed was summarised by the harness."""


class History(msgspec.Struct, frozen=True):
    """Compartments in their order. Those in force follow each other without a gap."""

    sealed: tuple[CompartmentSealed, ...] = ()
    """In force."""
    generation: int = 0
    """The newest that is in force."""
    staged: Map[int, tuple[CompartmentSealed, ...]] = Map()
    """Generation -> the compartments of it that are made and not in force yet."""
    scores: Map[str, int] = Map()
    """Compartment -> another importance than it was sealed with. One that is sealed anew has none."""
    positions: Map[str, int] = Map()
    """Compartment -> where the log tells of it."""

    @property
    def last(self) -> int:
        """The ordinal up to which history is compressed; 0: none is."""
        return self.sealed[-1].last if self.sealed else 0

    def importance(self, one: CompartmentSealed) -> int:
        """1 to 100."""
        return self.scores.get(one.compartment) or one.importance


def evolve(history: History, event: Event, seq: int) -> History:
    """`seq`: where the log tells of the event."""
    match event:
        case CompartmentSealed(compartment=name):
            told = replace(history, positions=history.positions.insert(name, seq), scores=history.scores.discard(name))
            return _sealed(told, event)
        case HistoryReplaced():
            return _replaced(history, event)
        case HistoryAbandoned(generation=generation):
            return replace(history, staged=history.staged.discard(generation))
        case CompartmentRescored(compartment=name, importance=importance):
            return replace(history, scores=history.scores.insert(name, importance))
        case MessageRemoved(messages=names, reason=reason) if reason in GONE:
            return _without(history, frozenset(names))
        case _:
            return history


def _sealed(history: History, one: CompartmentSealed) -> History:
    """What it covers anew gives way to it: the messages have come to an end there and gone on otherwise."""
    if one.generation != history.generation:
        staged = (*history.staged.get(one.generation, ()), one)
        return replace(history, staged=history.staged.insert(one.generation, staged))
    before = tuple(other for other in history.sealed if other.first < one.first)
    return replace(history, sealed=(*before, one))


def _replaced(history: History, event: HistoryReplaced) -> History:
    """A generation that does not cover all of what it is to replace was given up meanwhile, and replaces nothing."""
    made = history.staged.get(event.generation, ())
    if not made or (made[0].first, made[-1].last) != (event.first, event.last):
        return history
    before = tuple(one for one in history.sealed if one.last < event.first)
    behind = tuple(one for one in history.sealed if one.first > event.last)
    return replace(
        history,
        sealed=(*before, *made, *behind),
        generation=event.generation,
        staged=history.staged.discard(event.generation),
    )


def _without(history: History, gone: frozenset[str]) -> History:
    """From the first compartment on whose end is gone, nothing holds: those messages are served as they are again."""
    for number, one in enumerate(history.sealed):
        if one.last_message in gone:
            return replace(history, sealed=history.sealed[:number])
    return history
