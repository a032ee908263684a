"""A log in memory: the facts that it holds, by their positions."""

from collections.abc import Iterable, Sequence

from services.kit.same_log import Mark
from tests.helpers.view_facts import Fact


class RecordedLog:
    """Knows its end, and each fact."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._facts = {envelope.seq: envelope for envelope, _ in facts}

    async def head(self) -> int:
        return max(self._facts, default=0)

    async def marks(self, seqs: Iterable[int]) -> dict[int, Mark]:
        return {seq: Mark(seq, self._facts[seq].id) for seq in seqs if seq in self._facts}
