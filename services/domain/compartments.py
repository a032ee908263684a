"""The compartments of a session, folded from its events: which are in force, and which are being made."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from bisect import bisect_left
from collections.abc import Sequence

import msgspec

from schemas.events import (
    CompartmentRescored,
    CompartmentSealed,
    Event,
    HistoryAbandoned,
    HistoryReplaced,
    MessageRemoved,
)
from services.domain.conversation import Conversation
from services.domain.fold import Map

AHEAD = "ahead"
"""The reason of runs that only keep history ready before it is needed: nothing of a prompt has ended with them."""

replace = msgspec.structs.replace

GONE = frozenset({"deleted", "reverted"})
"""Reasons for which a message is gone for good. One that is only not listed was summarised by the harness."""


NO_MESSAGES = Conversation()


class CompartmentHistory(msgspec.Struct, frozen=True):
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
    """Compartment -> the log position of its event, or of the event of the one that it is a copy of."""
    outdated: Map[str, None] = Map()
    """Compartments, in force or in the making, of which messages were deleted since: they quote what is gone."""
    cut: Map[str, None] = Map()
    """Those of them whose last message was deleted."""

    @property
    def last(self) -> int:
        """The ordinal up to which history is compressed; 0: none is."""
        return self.sealed[-1].last if self.sealed else 0

    def importance(self, one: CompartmentSealed) -> int:
        """1 to 100."""
        return self.scores.get(one.compartment) or one.importance


def evolve(
    history: CompartmentHistory, event: Event, seq: int, conversation: Conversation = NO_MESSAGES
) -> CompartmentHistory:
    """`seq`: the event's position in the log; `conversation`: the conversation, with the places of its messages."""
    match event:
        case CompartmentSealed(compartment=name):
            anew = replace(
                history,
                positions=history.positions.insert(name, event.copied or seq),
                scores=history.scores.discard(name),
                outdated=history.outdated.discard(name),
                cut=history.cut.discard(name),
            )
            return _sealed(anew, event)
        case HistoryReplaced():
            return _trimmed(_replaced(history, event))
        case HistoryAbandoned(generation=generation):
            return replace(history, staged=history.staged.discard(generation))
        case CompartmentRescored(compartment=name, importance=importance):
            return replace(history, scores=history.scores.insert(name, importance))
        case MessageRemoved(messages=names, reason=reason) if reason in GONE:
            places = (conversation.messages[name].ordinal for name in names if name in conversation.messages)
            return _without(history, frozenset(names), sorted(place for place in places if place))
        case _:
            return history


def _sealed(history: CompartmentHistory, one: CompartmentSealed) -> CompartmentHistory:
    """The history with one more. It replaces those whose messages it covers anew: they went on otherwise."""
    if one.generation != history.generation:
        staged = (*history.staged.get(one.generation, ()), one)
        return replace(history, staged=history.staged.insert(one.generation, staged))
    before = tuple(other for other in history.sealed if other.first < one.first)
    return replace(history, sealed=(*before, one))


def _replaced(history: CompartmentHistory, event: HistoryReplaced) -> CompartmentHistory:
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


def _without(history: CompartmentHistory, names: frozenset[str], places: Sequence[int]) -> CompartmentHistory:
    """The history without these messages, at these places, which are gone for good."""
    outdated, cut = history.outdated, history.cut
    for one in (*history.sealed, *(each for staged in history.staged.values() for each in staged)):
        if one.last_message in names:
            cut = cut.insert(one.compartment, None)
        at = bisect_left(places, one.first)
        if one.last_message in names or (at < len(places) and places[at] <= one.last):
            outdated = outdated.insert(one.compartment, None)
    return _trimmed(replace(history, outdated=outdated, cut=cut))


def _trimmed(history: CompartmentHistory) -> CompartmentHistory:
    """Without the newest compartments that lost their ends: what is left of their messages is served as it is again.

    One that precedes another that is whole stays until it is made anew.
    """
    length = len(history.sealed)
    while length and history.sealed[length - 1].compartment in history.cut:
        length -= 1
    return history if length == len(history.sealed) else replace(history, sealed=history.sealed[:length])
