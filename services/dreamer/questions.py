"""The questions of tasks to models: who is asked, what that costs, and which items of the answer pass the checks."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from schemas.events import TaskAsked
from schemas.subjects import Address
from services.dreamer.core.outcome import LONGEST_DETAIL
from services.dreamer.core.sheet import ITEMS
from services.dreamer.core.task import DreamTask, JudgedAnswer, QuestionSheet, Scene, TaskChange
from services.kit import metrics
from services.kit.model import Attempt, Budget, ModelFailed, ModelQuestion, Models
from services.kit.room import Kit
from services.kit.spending import Spending

TOO_LONG = frozenset({"overflow", "window_too_small"})
"""Failures after which half as many items are asked about at once."""
MOST_REASONS = 8
OK, UNUSABLE = "ok", "invalid_output"


class TaskQuestions:
    """Asks models what the rules of a task leave open. Without models, or without leave to ask any, it asks nothing."""

    def __init__(self, kit: Kit, models: Models, most: int) -> None:
        """`most`: questions that each task may ask in one run."""
        self._kit = kit
        self._models = models
        self._most = most if models.names else 0

    @property
    def are_possible(self) -> bool:
        """Whether there is anybody to ask."""
        return self._most > 0

    def may_go_on(self, asked: Sequence[TaskAsked]) -> bool:
        """Whether a task that has asked these may ask again in this run. Where nobody has answered, it may not."""
        return len(asked) < self._most and all(one.outcome == OK for one in asked)

    async def ask(
        self, address: Address, run: str, task: DreamTask, scene: Scene
    ) -> "tuple[TaskAsked, Sequence[TaskChange]] | None":
        """Ask the next question of a task: what is recorded of it, and its checked changes; none: it has none."""
        began, most, attempts = time.monotonic(), ITEMS, list[Attempt]()
        while sheet := await asyncio.to_thread(_sheet, task, scene, most):
            try:
                answer = await self._models.ask(_question(sheet, address), budget=self._budget(address))
            except ModelFailed as error:
                attempts += error.attempts
                most //= 2
                if error.code in TOO_LONG and most:
                    continue
                recorded = self._recorded(run, task, attempts, began, code=error.code, detail=error.detail)
                return recorded, sheet.unusable if error.code == UNUSABLE else ()
            attempts += answer.attempts
            checked = await asyncio.to_thread(sheet.judge, answer.value)
            return self._recorded(run, task, attempts, began, checked=checked, model=answer.model), checked.changes
        return None

    def _budget(self, address: Address) -> Budget:
        return Spending(self._kit.bus, address.project, self._kit.room).budget(self._kit.room)

    def _recorded(
        self,
        run: str,
        task: DreamTask,
        attempts: Sequence[Attempt],
        began: float,
        *,
        checked: JudgedAnswer = JudgedAnswer(),  # noqa: B008 - it cannot be changed
        model: str = "",
        code: str = OK,
        detail: str = "",
    ) -> TaskAsked:
        for one in attempts:
            metrics.MODEL_TOKENS.labels(self._kit.room, one.model, "in").inc(one.tokens_in)
            metrics.MODEL_TOKENS.labels(self._kit.room, one.model, "out").inc(one.tokens_out)
            metrics.MODEL_USD.labels(self._kit.room, one.model).inc(one.usd)
            metrics.MODEL_SECONDS.labels(self._kit.room, one.model, one.outcome).observe(one.seconds)
        return TaskAsked(
            run=run,
            task=task.NAME,
            outcome=code,
            detail=detail[:LONGEST_DETAIL],
            model=model,
            items=[*checked.items],
            accepted=len(checked.changes),
            dropped=len(checked.dropped),
            reasons=[one[:LONGEST_DETAIL] for one in dict.fromkeys(checked.dropped)][:MOST_REASONS],
            tokens=sum(one.tokens_in + one.tokens_out for one in attempts),
            usd=sum(one.usd for one in attempts),
            seconds=round(time.monotonic() - began, 3),
        )


def _sheet(task: DreamTask, scene: Scene, most: int) -> QuestionSheet | None:
    return task.model.sheet(scene, most) if task.model is not None else None


def _question(sheet: QuestionSheet, address: Address) -> ModelQuestion[Any]:
    return ModelQuestion(
        system=sheet.system, prompt=sheet.prompt, shape=sheet.shape, check=sheet.check, address=Address(address.project)
    )
