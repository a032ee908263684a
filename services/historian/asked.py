"""The writer that asks a model, and what it does when no model can answer."""

import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from schemas.events import HistoryAttempted
from schemas.subjects import Address
from services.historian import shape
from services.historian.adopted import to_summary
from services.historian.contract import check
from services.historian.drafts import Draft
from services.historian.extract.index import index
from services.historian.extract.steps import steps
from services.historian.prompt import SYSTEM, budget, prompt
from services.historian.publish import Written
from services.historian.triggers import FORCE_PERCENT
from services.historian.writers import Output, Reading, Rules, Unwritten
from services.kit.history.reader import Chunk
from services.kit.model import Attempt, ModelFailed, Models, Purse, Question

PATIENCE = 2
"""Runs that may fail in a row before the rules take over."""


class Asked:
    """Asks the models of the house. Where none may answer, or history cannot wait for one, the rules write it."""

    def __init__(self, models: Models, purse: Callable[[Address], Purse], rules: Rules) -> None:
        self._models = models
        self._purse = purse
        self._rules = rules

    @property
    def budget(self) -> int:
        return budget(self._models.room) or self._rules.budget

    async def write(self, reading: Reading) -> Output:
        began = time.monotonic()
        chunk = reading.chunk
        shown = shape.bounds(chunk, reading.before[-1].last if reading.before else 0)
        question = Question(
            system=SYSTEM,
            prompt=prompt(chunk, reading.before, self._models.room),
            shape=shape.Output,
            check=lambda output: check(output, shown),
        )
        try:
            answer = await self._models.ask(question, purse=self._purse(reading.address))
        except ModelFailed as error:
            return await self._otherwise(reading, error)
        summary = to_summary(answer.value, shown)
        drafts = tuple(_with_names(draft, chunk, reading.directory) for draft in summary.compartments)
        written = Written(replace(summary, compartments=drafts), answer.model, time.monotonic() - began)
        return Output(written, told(reading.request.run, answer.attempts))

    async def _otherwise(self, reading: Reading, error: ModelFailed) -> Output:
        """What nobody may be asked for any more, or what cannot wait, is written by the rules."""
        attempts = told(reading.request.run, error.attempts)
        request = reading.request
        is_pressing = request.percent >= FORCE_PERCENT or request.failures >= PATIENCE
        if error.code != "budget_exhausted" and not is_pressing:
            raise Unwritten(error.code, error.detail, attempts) from error
        output = await self._rules.write(reading)
        return replace(output, attempts=(*attempts, *output.attempts))


def _with_names(draft: Draft, chunk: Chunk, directory: str) -> Draft:
    """What can be found by name later is not left to a model."""
    inside = [one for one in chunk.said if draft.first <= one.ordinal <= draft.last]
    found = index(steps(inside), directory).listed()
    return replace(draft, names=tuple(dict.fromkeys((*draft.anchors, *found))))


def told(run: str, attempts: Sequence[Attempt]) -> tuple[HistoryAttempted, ...]:
    """What the log keeps of the calls of a run."""
    return tuple(
        HistoryAttempted(
            run=run,
            model=one.model,
            step=one.step,
            outcome=one.outcome,
            detail=one.detail,
            tokens_in=one.tokens_in,
            tokens_out=one.tokens_out,
            cached=one.cached,
            usd=one.usd,
            seconds=round(one.seconds, 3),
        )
        for one in attempts
    )
