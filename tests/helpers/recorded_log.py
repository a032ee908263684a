"""A log in memory: the facts that it holds, by their positions."""

from collections.abc import Sequence

from schemas.envelope import Envelope
from tests.helpers.view_facts import Fact


class RecordedLog:
    """Knows its end, and each fact."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._facts = {envelope.seq: envelope for envelope, _ in facts}

    async def head(self) -> int:
        return max(self._facts, default=0)

    async def at(self, seq: int) -> Envelope | None:
        return self._facts.get(seq)
