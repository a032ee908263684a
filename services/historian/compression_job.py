"""The job that compresses: read a part of the range, have it summarised, publish it; until the range is done."""

from collections.abc import Sequence

from schemas.events import Event, HistoryRequested
from schemas.subjects import Address
from services.domain.transcript.pages import page, whole
from services.domain.transcript.reader import Chunk, read
from services.historian.core.lifecycle import REBUILD
from services.historian.core.publish import closing, fingerprint, is_another_generation, published, unread
from services.historian.core.state import HistorianSession
from services.historian.jobs import HistoryJob
from services.historian.writers.base import Unwritten, Writer, WriterInput, WriterOutput
from services.kit.contents import Contents
from services.kit.jobs import CRASHED, Advance, Complete, Fail, Outcome
from services.kit.logs import Logger

CONTEXT = 6
"""Compartments in front of a chunk that a writer is shown."""
SMALLER = 2
"""The divisor of the budget with which a chunk is read anew that was too much for a writer."""
MIN_BUDGET = 2_000
"""The least budget, in tokens, with which a chunk is read anew."""
TOO_MUCH = frozenset({"overflow", "window_too_small"})
TOO_HARD = frozenset({"invalid_output"})
"""A rebuild does not give up what it has made because one chunk is too hard as a whole."""


class CompressionJob:
    """Does one job that compresses. It can be cut anywhere: what is published of it stays."""

    def __init__(self, writer: Writer, contents: Contents, log: Logger) -> None:
        self._writer = writer
        self._contents = contents
        self._log = log
        self._budget = writer.budget

    async def perform(self, job: HistoryJob) -> Outcome[HistorianSession]:
        state, request = job.state, job.request
        chunk = await self._chunk(job.address, state, request)
        if not chunk.messages:
            return _end(state, request)
        known = fingerprint(state.conversation, chunk.first, chunk.last)
        before = [one for one in state.history.sealed if one.last < chunk.first]
        reading = WriterInput(job.address, request, chunk, tuple(before[-CONTEXT:]), state.directory)
        try:
            output = await self._writer.write(reading)
        except Unwritten as error:
            if error.code == CRASHED:
                self._log.exception("a writer broke", session=job.address.session, job=job.name)
            return self._unwritten(request, error)
        return Advance(lambda now: _published(now, job, chunk, known, output))

    def _unwritten(self, request: HistoryRequested, error: Unwritten) -> Outcome[HistorianSession]:
        """Go on with less at once where that may help."""
        self._budget //= SMALLER
        again = TOO_MUCH | TOO_HARD if request.reason == REBUILD else TOO_MUCH
        if error.code in again and self._budget >= MIN_BUDGET:
            return Advance(lambda _: error.attempts)
        return Fail(error.code, error.detail, error.attempts)

    async def _chunk(self, address: Address, state: HistorianSession, request: HistoryRequested) -> Chunk:
        """The next part of the range, without a call at its end whose result comes behind the range.

        A range whose compartments are made anew ends where the last of them does, whatever follows it.
        """
        left = unread(state, request, max(state.reached, request.first - 1))
        ends = left if is_another_generation(state, request) else whole(left, state.conversation)
        messages = page(ends, state.conversation)
        recorded = self._contents.recorded(address, state.conversation, messages, is_subagent=state.is_subagent)
        return read(await recorded, self._budget)


def _end(state: HistorianSession, request: HistoryRequested) -> Outcome[HistorianSession]:
    """The end of a job of whose range nothing is left: its last facts were cut off, or there never was anything."""
    if state.reached < request.first:
        return Fail("no_eligible", "there is nothing in this range that could be compressed")
    if is_another_generation(state, request) and unread(state, request, state.reached):
        return Fail("no_progress", f"nothing can be read behind {state.reached}, and the range ends at {request.last}")
    return Complete(lambda now: closing(now, request))


def _published(
    now: HistorianSession, job: HistoryJob, chunk: Chunk, known: str, output: WriterOutput
) -> Sequence[Event] | Fail:
    """The facts of a summary, if its messages are as they were read and nobody else has published them."""
    if now.reached != job.state.reached:
        return ()
    if fingerprint(now.conversation, chunk.first, chunk.last) != known:
        return Fail("stale_fingerprint", "messages of the range were changed meanwhile", output.attempts)
    return [*published(now, job.request, job.address, chunk, output.written), *output.attempts]
