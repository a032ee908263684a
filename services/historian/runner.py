"""Runs that compress: read a chunk, have it summarised, publish; until the range is done. They can be cut anywhere."""

from collections.abc import Sequence

from schemas.events import Event, HistoryAdvanced, HistoryRequested
from schemas.subjects import Address
from services.historian.publish import closing, fingerprint, published
from services.historian.runs import Runs
from services.historian.state import Session
from services.historian.writers import Reading, Unwritten, Writer
from services.kit.cache import Entry
from services.kit.history.contents import Contents, page
from services.kit.history.reader import Chunk, read
from services.kit.room import Kit

CONTEXT = 6
"""Compartments in front of a chunk that a writer is shown."""
SMALLER = 2
"""A chunk that was too much for a writer is read anew with this part of the budget ..."""
MIN_BUDGET = 2_000
"""... but not below this one."""
TOO_MUCH = frozenset({"overflow", "window_too_small"})
TOO_HARD = frozenset({"invalid_output"})
"""A rebuild does not give up what it has made because one chunk is too hard as a whole."""


class Runner:
    """Makes the runs that compress, of all sessions."""

    def __init__(self, kit: Kit, runs: Runs, writer: Writer) -> None:
        self._kit = kit
        self._runs = runs
        self._writer = writer
        self._contents = Contents(kit.bus, kit.reader)

    async def run(self, address: Address, name: str) -> None:
        """Go on with a run where it stands, to its end. Does nothing where it has ended."""
        budget = self._writer.budget
        while (opened := await self._runs.opened(address, name)) is not None:
            try:
                await self._advance(*opened, budget)
            except Unwritten as error:
                budget //= SMALLER
                again = TOO_MUCH | TOO_HARD if opened[1].reason == "rebuild" else TOO_MUCH
                if error.code not in again or budget < MIN_BUDGET:
                    await self._runs.fail(address, name, error.code, error.detail, error.attempts)

    async def _advance(self, entry: Entry[Session], request: HistoryRequested, budget: int) -> None:
        state = entry.state
        chunk = await self._chunk(entry, request, budget)
        if not chunk.messages:
            await self._close(entry, request)
            return
        known = fingerprint(state.talk, chunk.first, chunk.last)
        before = [one for one in state.history.sealed if one.last < chunk.first]
        reading = Reading(entry.address, request, chunk, tuple(before[-CONTEXT:]), state.directory)
        output = await self._writer.write(reading)

        def decided(now: Session) -> Sequence[Event]:
            if now.reached != state.reached:
                return ()
            if fingerprint(now.talk, chunk.first, chunk.last) != known:
                raise Unwritten("stale_fingerprint", "messages of the range were changed meanwhile")
            return [*published(now, request, entry.address, chunk, output.written), *output.attempts]

        self._tell(entry.address, await self._runs.publish(entry, request, decided))

    async def _close(self, entry: Entry[Session], request: HistoryRequested) -> None:
        """End a run of whose range nothing is left: its last facts were cut off, or there never was anything."""
        if entry.state.reached < request.first:
            raise Unwritten("no_eligible", "there is nothing in this range that could be compressed")
        await self._runs.publish(entry, request, lambda now: closing(now, request))

    async def _chunk(self, entry: Entry[Session], request: HistoryRequested, budget: int) -> Chunk:
        """The next part of the range."""
        talk = entry.state.talk
        waiting = [one for one in talk.after(entry.state.reached) if request.first <= one.ordinal <= request.last]
        held = page(waiting, talk)
        return read(await self._contents.said(entry.address, talk, held), budget)

    def _tell(self, address: Address, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, HistoryAdvanced):
                self._kit.log.info(
                    "compressed",
                    session=address.session,
                    run=event.run,
                    messages=f"{event.first}-{event.last}",
                    tokens=f"{event.tokens_in} -> {event.tokens_out}",
                    left=event.left,
                    ended=event.ended,
                )
