"""Drops that agents have asked for, by tag: those that wait for a rebase, and those that are done."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterable

import msgspec

from services.domain.conversation import Conversation
from services.domain.fold import Map

replace = msgspec.structs.replace


class Drops(msgspec.Struct, frozen=True):
    """The tags whose drop was asked for."""

    queued: Map[int, int] = Map()
    """Tag -> position of the request to drop it, until it is served."""
    dropped: Map[int, None] = Map()
    gone: int = 0
    """No tag up to this one is of the conversation now."""

    def is_free(self, number: int) -> bool:
        """Whether this tag is neither dropped nor queued to be dropped."""
        return number not in self.dropped and number not in self.queued


def requested(drops: Drops, tags: Iterable[int], seq: int) -> Drops:
    """An agent or a person has asked for these."""
    queued = drops.queued
    for number in tags:
        if number not in drops.dropped:
            queued = queued.insert(number, seq)
    return replace(drops, queued=queued)


def served(drops: Drops, numbers: Iterable[int]) -> Drops:
    """These are dropped now."""
    queued, dropped = drops.queued, drops.dropped
    for number in numbers:
        queued, dropped = queued.discard(number), dropped.insert(number, None)
    return replace(drops, queued=queued, dropped=dropped)


def with_gone(drops: Drops, conversation: Conversation, names: Iterable[str]) -> Drops:
    """With the tags counted that have left the conversation or come back to it with these messages."""
    gone = drops.gone
    messages = [conversation.messages[name] for name in names if name in conversation.messages]
    numbers = [conversation.parts[part].number for message in messages if message.present for part in message.parts]
    gone = min([gone, *(number - 1 for number in numbers if number)])
    while gone < conversation.last_number and not conversation.place(conversation.numbered.get(gone + 1, "")):
        gone += 1
    return drops if gone == drops.gone else replace(drops, gone=gone)


def with_tags(drops: Drops, first: int) -> Drops:
    """Tags were given, from this one on."""
    return replace(drops, gone=min(drops.gone, first - 1))


def waiting(drops: Drops, numbers: Iterable[int], seq: int) -> Drops:
    """These wait since that position, as a copy takes them over."""
    queued = drops.queued
    for number in numbers:
        queued = queued.insert(number, seq)
    return replace(drops, queued=queued)
