"""Reads an address of which only some nouns matter, among any number of other facts."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from services.domain.record import Record
from services.kit.bus import LogReader

AT_ONCE = 100
"""Facts that are folded before others have a turn."""


class NounReader:
    """Reads the facts of some nouns as if an address had no others."""

    def __init__(self, reader: LogReader, nouns: Sequence[str], *, catches_up: bool = False, until: int = 0) -> None:
        """`catches_up`: who has read an address goes on with all of its facts, which are few behind the head.

        `until`: the last position that is read; 0: the head of the log.
        """
        self._reader = reader
        self._nouns = nouns
        self._catches_up = catches_up
        self._until = until
        self._heads: dict[str, int] = {}
        """Address -> the position up to which its nouns were read."""

    async def after(self, seq: int, subject_filter: str) -> AsyncGenerator[Record, None]:
        """The records of the log behind `seq`, to its head as it is now, in order; `subject_filter` ends with `>`.

        One noun is read after another: of what comes meanwhile, a part would be missed.
        """
        known = self._heads.get(subject_filter) if seq and self._catches_up else None
        if known is not None:
            async for record in self._reader.after(max(seq, known), subject_filter):
                yield record
            return
        head = self._until or await self._reader.head()
        found: list[Record] = []
        for noun in self._nouns:
            async with aclosing(self._reader.after(seq, f"{subject_filter.removesuffix('>')}{noun}.*")) as read:
                async for record in read:
                    if record.envelope.seq > head:
                        break
                    found.append(record)
        for number, record in enumerate(sorted(found, key=lambda one: one.envelope.seq), 1):
            yield record
            if not number % AT_ONCE:
                await asyncio.sleep(0)
        self._heads[subject_filter] = head
