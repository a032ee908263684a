"""Divides a report into messages of a size that the broker takes."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from schemas.codec import encode
from schemas.inbox import Inbound, Listed, ListSeen, MessageSeen, Seen, StepSeen
from schemas.streams import MAX_PIECE_BYTES

LISTED_AT_ONCE = 2000


def pieces(name: str, at: datetime, items: Sequence[Seen]) -> Iterator[Inbound]:
    """Inbound messages of at most 512 KiB each with all of these items, in order. `name` makes their ids."""
    piece: list[Seen] = []
    size = 0
    number = 0
    for item in _small(items):
        cost = len(encode(item))
        if piece and size + cost > MAX_PIECE_BYTES:
            yield Inbound(f"{name}/{number}", at, tuple(piece))
            number += 1
            piece, size = [], 0
        piece.append(item)
        size += cost
    if piece:
        yield Inbound(f"{name}/{number}", at, tuple(piece))


def _small(items: Sequence[Seen]) -> Iterator[Seen]:
    for item in items:
        match item:
            case MessageSeen(parts=parts) if len(encode(item)) > MAX_PIECE_BYTES:
                yield msgspec.structs.replace(item, parts=())
                yield from parts
            case StepSeen(messages=messages) if len(messages) > LISTED_AT_ONCE:
                yield from _long_step(item)
            case _:
                yield item


def _long_step(step: StepSeen) -> Iterator[Seen]:
    """A long list in several pieces, the step itself with the last of them."""
    after = step.after
    for start in range(0, len(step.messages), LISTED_AT_ONCE):
        piece: tuple[Listed, ...] = step.messages[start : start + LISTED_AT_ONCE]
        if start + LISTED_AT_ONCE < len(step.messages):
            yield ListSeen(after, piece)
        else:
            yield msgspec.structs.replace(step, after=after, messages=piece)
        after = piece[-1].message
