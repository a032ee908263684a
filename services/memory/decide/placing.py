"""The category and the class of a text, as its sender gives them or as its words decide."""

from __future__ import annotations

from schemas.events.fact import CATEGORIES
from schemas.events.memory import IMPORTANCES
from services.domain.finding import echo
from services.memory.classes import Placement, placed
from services.memory.decide.context import Refusal
from services.memory.requests.find import place_of as place_of_words


def place_of(category: str, text: str) -> Placement:
    """The place of a text in this category; empty: its words decide. Raises `Refusal` for what is no category."""
    if not category:
        return place_of_words(text)
    place = placed(category)
    if place is None:
        raise Refusal(f"{echo(category)} is no category; use one of {', '.join(CATEGORIES)}")
    return place


def checked_importance(importance: str) -> str:
    """The importance. Raises `Refusal` for what is none."""
    if importance not in IMPORTANCES:
        raise Refusal(f"{echo(importance)} is no importance; use one of {', '.join(IMPORTANCES)}")
    return importance
