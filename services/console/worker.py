"""The console's wiring: queries in, rows out. What runs a query is a process of its own, and ends with it."""

import asyncio
import time
from datetime import UTC, datetime
from typing import ClassVar

import msgspec

from schemas.codec import encode
from schemas.events import Event
from schemas.subjects import ask as subject_of
from schemas.view_asks import Rows, SqlAsk, ViewsCopy, ViewsCopyAsk
from services.console.core.exchange import Outcome, SqlQuery
from services.console.results import Results
from services.console.running import Runs
from services.kit.asks import AskHandler
from services.kit.background import begin
from services.kit.bus import Unreachable
from services.kit.data_directory import views_copy
from services.kit.room import Kit
from services.kit.turns import Queue, Turns

WAITING = 16
"""The most queries that wait for their turn."""
COPY_SHARE = 0.5
"""The share of a query's time for which it waits for a newer copy, where there is one already."""
ENVELOPE = 512
"""Bytes of a reply without its columns and rows."""
MOST_BYTES = 16 * 1024 * 1024
"""Of all pages of one result."""
SHORTEST = 0.05
"""Seconds that a query is given at least."""


class Console:
    """Answers what people ask in SQL, over a copy of the views."""

    NAME: ClassVar[str] = "console"
    READS: ClassVar[tuple[type[Event], ...]] = ()
    WRITES: ClassVar[tuple[type[Event], ...]] = ()

    async def open(self, kit: Kit) -> None:
        self._kit = kit
        self._limits = kit.settings.views
        self._path = views_copy(kit.settings.data)
        self._results = Results()
        kit.stack.callback(self._results.close)
        self._runs = Runs()
        kit.stack.callback(self._runs.close)
        self._queue = Queue(Turns(self._limits.sql_at_once, WAITING))
        self._handler = AskHandler(kit, SqlAsk, self._answer, lambda reason: Rows(error=reason))
        await self._handler.open()
        begin(kit, self._results.forget_for_ever())

    async def idle(self) -> bool:
        return not self._handler.in_hand

    def health(self) -> dict[str, object]:
        in_hand = self._handler.in_hand
        return {"ok": True, "in_hand": in_hand, "results": len(self._results), "copy": self._path.exists()}

    async def _answer(self, ask: SqlAsk) -> Rows:
        return self._results.page(ask.cursor) if ask.cursor else await self._found(ask)

    async def _found(self, ask: SqlAsk) -> Rows:
        """Wait for a turn, for the copy and for the query, all within the time that the query has."""
        seconds = max(SHORTEST, min(ask.timeout_ms / 1000, self._limits.sql_timeout))
        deadline = time.monotonic() + seconds
        has_turn = False
        try:
            async with asyncio.timeout(seconds), self._queue.turn(f"ask.{ask.NAME}"):
                has_turn = True
                copy = await self._newest_copy(deadline - time.monotonic())
                result = await self._runs.run(self._query(ask, deadline - time.monotonic()))
        except TimeoutError:
            if has_turn:
                return Rows(error=f"the query took longer than {seconds:.3g} s and was ended; ask for less")
            return Rows(error=f"others' queries took all of {seconds:.3g} s; ask again in a moment")
        outcome = result.outcome
        return msgspec.structs.replace(self._results.add(result), as_of=outcome.as_of, age=_age(outcome, copy))

    def _query(self, ask: SqlAsk, seconds: float) -> SqlQuery:
        return SqlQuery(
            copy=str(self._path),
            sql=ask.sql,
            max_rows=max(1, min(ask.max_rows, self._limits.sql_max_rows)),
            seconds=seconds,
            memory=self._limits.sql_memory,
            room=self._kit.bus.max_payload - ENVELOPE,
            bytes=MOST_BYTES,
        )

    async def _newest_copy(self, patience: float) -> ViewsCopy:
        """Have the responder leave a newer copy. Where it cannot, or takes long, the one that is there will do.

        Raises `Unreachable` where there is none.
        """
        is_there = self._path.exists()
        wait = patience * COPY_SHARE if is_there else patience
        try:
            reply = await self._kit.bus.request(subject_of(ViewsCopyAsk.NAME), encode(ViewsCopyAsk()), wait)
            copy = msgspec.json.decode(reply, type=ViewsCopy)
        except Unreachable as error:
            copy = ViewsCopy(error=str(error))
        if not self._path.exists():
            raise Unreachable(
                f"there is no copy of the views in {self._path.parent}, which the responder makes where it runs "
                f"({copy.error or 'it has answered that it made one'}); `annals status` lists which rooms run"
            )
        return copy


def _age(outcome: Outcome, copy: ViewsCopy) -> float:
    """Seconds since the views were as a query saw them: the responder knows of a copy that it was still right later."""
    moments = [at for at in (outcome.at, copy.at if copy.as_of == outcome.as_of else None) if at is not None]
    return round(max(0.0, (datetime.now(UTC) - max(moments)).total_seconds()), 3) if moments else 0.0
