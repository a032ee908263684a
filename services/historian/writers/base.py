"""The interface of summary writers: the rules, which need no model, or a model."""

import asyncio
import time
from typing import Protocol

import msgspec

from schemas.events import CompartmentSealed, HistoryAttempted, HistoryRequested
from schemas.subjects import Address
from services.domain.transcript.reader import Chunk
from services.historian.core.publish import SignedSummary
from services.historian.core.rules.summary import summarise
from services.historian.core.summary import RULES

BUDGET = 32_000
"""Tokens of transcript that the rules read at a time."""


class WriterInput(msgspec.Struct, frozen=True):
    """The input of a writer."""

    address: Address
    request: HistoryRequested
    chunk: Chunk
    before: tuple[CompartmentSealed, ...] = ()
    """The compartments in front of the chunk."""
    directory: str = ""
    """The directory of the work."""


class Unwritten(Exception):
    """No summary came of it."""

    def __init__(self, code: str, detail: str, attempts: tuple[HistoryAttempted, ...] = ()) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.attempts = attempts


class WriterOutput(msgspec.Struct, frozen=True):
    """A summary, and what it took."""

    written: SignedSummary
    attempts: tuple[HistoryAttempted, ...] = ()


class Writer(Protocol):
    """Makes a summary of a chunk, or raises `Unwritten`."""

    @property
    def budget(self) -> int:
        """Tokens of transcript that it reads at a time."""

    async def write(self, reading: WriterInput) -> WriterOutput: ...


class RuleWriter:
    """Extracts what matters, by rules: the same chunk makes the same summary."""

    @property
    def budget(self) -> int:
        return BUDGET

    async def write(self, reading: WriterInput) -> WriterOutput:
        began = time.monotonic()
        summary = await asyncio.to_thread(summarise, reading.chunk, reading.directory)
        if not summary.compartments:
            raise Unwritten("chunk_empty", f"there is no text from {reading.chunk.first} to {reading.chunk.last}")
        seconds = time.monotonic() - began
        attempt = HistoryAttempted(run=reading.request.run, model=RULES, seconds=round(seconds, 3))
        return WriterOutput(SignedSummary(summary, RULES, seconds), (attempt,))
