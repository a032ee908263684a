"""The writer that asks a model, and what it does when no model can answer."""

import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from schemas.events import HistoryAttempted
from schemas.subjects import Address
from services.domain.transcript.reader import Chunk
from services.historian.core import model_answer
from services.historian.core.from_answer import to_summary
from services.historian.core.prompt import SYSTEM, budget, prompt
from services.historian.core.publish import SignedSummary
from services.historian.core.rules.index import index
from services.historian.core.rules.steps import steps
from services.historian.core.summary import CompartmentDraft
from services.historian.core.triggers import FORCE_PERCENT
from services.historian.core.validate import check
from services.historian.writers.base import RuleWriter, Unwritten, WriterInput, WriterOutput
from services.kit.bus import Unreachable
from services.kit.jobs import CRASHED
from services.kit.model import Attempt, Budget, ModelFailed, ModelQuestion, Models

PATIENCE = 2
"""Jobs that may fail in a row before the rules take over."""


class ModelWriter:
    """Asks the configured models. Where none may answer, or history cannot wait for one, the rules write it."""

    def __init__(self, models: Models, budget_of: Callable[[Address], Budget], rules: RuleWriter) -> None:
        self._models = models
        self._budget_of = budget_of
        self._rules = rules

    @property
    def budget(self) -> int:
        return budget(self._models.room) or self._rules.budget

    async def write(self, reading: WriterInput) -> WriterOutput:
        try:
            return await self._ask(reading)
        except ModelFailed as error:
            return await self._otherwise(
                reading, error.code, error.detail, attempted(reading.request.run, error.attempts)
            )
        except (Unreachable, Unwritten):
            raise
        except Exception as error:  # noqa: BLE001 - whatever an answer does to us, history goes on without it
            return await self._otherwise(reading, CRASHED, f"{type(error).__name__}: {error}", ())

    async def _ask(self, reading: WriterInput) -> WriterOutput:
        began = time.monotonic()
        chunk = reading.chunk
        bounds = model_answer.bounds(chunk, reading.before[-1].last if reading.before else 0)
        question = ModelQuestion(
            system=SYSTEM,
            prompt=prompt(chunk, reading.before, self._models.room),
            shape=model_answer.Output,
            check=lambda output: check(output, bounds),
            address=reading.address,
        )
        answer = await self._models.ask(question, budget=self._budget_of(reading.address))
        summary = to_summary(answer.value, bounds)
        drafts = tuple(_with_names(draft, chunk, reading.directory) for draft in summary.compartments)
        written = SignedSummary(replace(summary, compartments=drafts), answer.model, time.monotonic() - began)
        return WriterOutput(written, attempted(reading.request.run, answer.attempts))

    async def _otherwise(
        self, reading: WriterInput, code: str, detail: str, attempts: tuple[HistoryAttempted, ...]
    ) -> WriterOutput:
        """The summary by the rules, of what nobody may be asked for any more, or what cannot wait."""
        request = reading.request
        is_pressing = request.percent >= FORCE_PERCENT or request.failures >= PATIENCE
        if code != "budget_exhausted" and not is_pressing:
            raise Unwritten(code, detail, attempts)
        output = await self._rules.write(reading)
        return replace(output, attempts=(*attempts, *output.attempts))


def _with_names(draft: CompartmentDraft, chunk: Chunk, directory: str) -> CompartmentDraft:
    """The draft with its names: what can be found by name later is not left to a model."""
    inside = [one for one in chunk.recorded if draft.first <= one.ordinal <= draft.last]
    found = index(steps(inside), directory).listed()
    return replace(draft, names=tuple(dict.fromkeys((*draft.anchors, *found))))


def attempted(run: str, attempts: Sequence[Attempt]) -> tuple[HistoryAttempted, ...]:
    """The facts about the model calls of a job."""
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
