"""The door to models: questions that are answered with a checked value, by the first of a chain that can."""

from services.kit.model.models import PAUSES, Models
from services.kit.model.question import (
    Answer,
    Attempt,
    BudgetExhausted,
    Code,
    ModelFailed,
    Purse,
    Question,
)

__all__ = [
    "PAUSES",
    "Answer",
    "Attempt",
    "BudgetExhausted",
    "Code",
    "ModelFailed",
    "Models",
    "Purse",
    "Question",
]
