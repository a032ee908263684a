"""When a project was worked on: read from the model calls of all its sessions, each once."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from schemas.events import StepOpened
from schemas.subjects import Address
from services.kit.bus import LogReader
from services.memory.decide.expiring import Span, dormant_spans


class Activity:
    """The spans in which projects rested, as far as they have ended. It reads on from where it has read."""

    def __init__(self, reader: LogReader, grace: timedelta) -> None:
        self._reader = reader
        self._grace = grace
        self._read: dict[str, tuple[int, datetime | None, tuple[Span, ...]]] = {}
        """Project -> the position up to which it was read, its last work there, and the spans before."""

    async def rests(self, project: str) -> Sequence[Span]:
        """The spans without work that have ended, each behind its days of grace."""
        seq, last, spans = self._read.get(project, (0, None, ()))
        whole_project = Address(project).log_prefix.rpartition(".")[0]
        async for record in self._reader.after(seq, f"{whole_project}.*.{StepOpened.TYPE}"):
            at, seq = record.envelope.at, record.envelope.seq
            if record.problem:
                continue
            spans = (*spans, *dormant_spans((at,), self._grace, last))
            last = at if last is None else max(last, at)
        self._read[project] = seq, last, spans
        return spans
