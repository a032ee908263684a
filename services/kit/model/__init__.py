"""The door to models: questions that are answered with a checked value, by the first of a chain that can."""

from services.domain.questions.question import (
    Attempt,
    Budget,
    BudgetExhausted,
    Code,
    ModelAnswer,
    ModelFailed,
    ModelQuestion,
)
from services.kit.model.harness import HarnessQuestions
from services.kit.model.models import PAUSES, Models

__all__ = [
    "PAUSES",
    "Attempt",
    "Budget",
    "BudgetExhausted",
    "Code",
    "HarnessQuestions",
    "ModelAnswer",
    "ModelFailed",
    "ModelQuestion",
    "Models",
]
