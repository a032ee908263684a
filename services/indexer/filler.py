"""Fills in the vectors of rows: the embedder is asked for them, the newest rows first, as long as some lack them."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from schemas.asks import Embedded, EmbeddedText
from services.domain.search.rows import SearchRow, wide_text
from services.indexer.core.changes import key
from services.indexer.index import Index
from services.indexer.tables import ROW, as_row
from services.kit.embed import embedded
from services.kit.projector import QUIET, pause
from services.kit.room import Kit
from services.kit.vectors import VectorsError, among

ROWS, TEXTS = 64, 16
"""The number of rows that are filled at once, and of texts that are asked for at once."""
REMEMBERED = 512
"""Texts whose vectors are cached: the neighbours of a message change, and its own text does not."""
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
LOOK = 0.1
MOST_PUT_OFF = 10.0
"""The most seconds that the filling of a batch waits where facts come; where none comes, none is put off."""


def is_due(since: float, cost: float, quiet: float) -> bool:
    """Whether the next rows are filled now, `since` seconds after the newest filling began, which took `cost` seconds.

    Words are found as soon as they are written. Vectors take ten times as long, and plans are made on the same machine:
    where facts come, filling takes the share of the time that commits take. `quiet`: seconds since the newest fact.
    """
    return quiet >= QUIET or since >= cost + pause(cost, cost, 0.0, MOST_PUT_OFF)


class OtherModel(Exception):
    """The embedder has another model than the index."""


class Filler:
    """Fills the rows of one index."""

    def __init__(self, kit: Kit, index: Index, quiet: Callable[[], float]) -> None:
        """`quiet`: the seconds since a fact arrived for the index."""
        self._kit = kit
        self._index = index
        self._quiet = quiet
        self._known: OrderedDict[str, EmbeddedText] = OrderedDict()
        self._in_hand = 0
        self.failure = ""
        """The reason why there are no vectors now; empty: there are."""

    @property
    def is_done(self) -> bool:
        """Whether nothing lacks vectors, or they cannot be had."""
        return bool(self.failure) or not (self._index.unfilled or self._in_hand)

    async def run(self) -> None:
        """Fill for ever. Raises `OtherModel`."""
        retry_pause, began, cost = SHORTEST_PAUSE, time.monotonic(), 0.0
        while True:
            if not self._index.unfilled or not is_due(time.monotonic() - began, cost, self._quiet()):
                await asyncio.sleep(LOOK)
                continue
            began = time.monotonic()
            is_filled = await self._fill_some()
            cost = time.monotonic() - began
            self._in_hand = 0
            if is_filled:
                retry_pause = SHORTEST_PAUSE
            else:
                await asyncio.sleep(retry_pause)
                retry_pause = min(2 * retry_pause, LONGEST_PAUSE)

    async def _fill_some(self) -> bool:
        """Fill the newest rows of one kind; whether that went well. Rows that change meanwhile wait again."""
        kind = next(reversed(self._index.unfilled))[0]
        keys = [name for other, name in reversed(self._index.unfilled) if other == kind][:ROWS]
        self._in_hand = len(keys)
        for name in keys:
            del self._index.unfilled[kind, name]
        try:
            found = await self._index.table(kind).rows([column.name for column in ROW], among("key", keys))
            rows = [as_row(values) for values in found]
            failure = await self._ask(list(dict.fromkeys(text for row in rows for text in (row.text, wide_text(row)))))
            if not failure and rows:
                await self._index.fill(kind, self._columns(rows))
        except VectorsError as error:
            failure = f"{type(error).__name__}: {error}"
        except BaseException:
            self._put_back(kind, keys)
            raise
        if failure:
            if failure != self.failure:
                self._kit.log.warning("rows wait for their vectors", reason=failure)
            self._put_back(kind, keys)
        self.failure = failure
        return not failure

    def _put_back(self, kind: str, keys: Sequence[str]) -> None:
        for name in reversed(keys):
            self._index.unfilled.setdefault((kind, name))

    async def _ask(self, texts: Sequence[str]) -> str:
        """Cache the vectors of these texts; the reason, if that fails."""
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        missing = [text for text in texts if text not in self._known]
        for start in range(0, len(missing), TEXTS):
            some = missing[start : start + TEXTS]
            reply = await embedded(self._kit.bus, some)
            if failure := self._judged(reply, len(some)):
                return failure
            self._known.update(zip(some, reply.texts, strict=True))
        return ""

    def _judged(self, reply: Embedded, count: int) -> str:
        current = self._index.current
        if reply.model and reply.model != current.model:
            raise OtherModel(reply.model)
        if reply.error:
            return reply.error
        if len(reply.texts) != count or any(len(one.vector) != 4 * current.dimensions for one in reply.texts):
            return "the embedder answered with vectors that do not fit"
        return ""

    def _columns(self, rows: Sequence[SearchRow]) -> dict[str, list[Any]]:
        bare = [self._known[row.text] for row in rows]
        wide = [None if wide_text(row) == row.text else self._known[wide_text(row)] for row in rows]
        return {
            "key": [key(row.project, row.id) for row in rows],
            "hash": [row.hash for row in rows],
            "vector": [_numbers(one) for one in bare],
            "vector_beside": [_numbers(one) if one else None for one in wide],
            "tokens": [one.tokens for one in bare],
            "tokens_beside": [one.tokens if one else b"" for one in wide],
        }


def _numbers(text: EmbeddedText) -> Any:  # noqa: ANN401 - an array, as a column takes it
    return np.frombuffer(text.vector, "<f4")
