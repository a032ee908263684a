"""The gate's verdict on words, by their author, and the category and class that words belong to."""

from __future__ import annotations

from schemas.events.fact import CATEGORIES
from schemas.events.memory import IMPORTANCES
from services.domain.finding import echo
from services.domain.senders import PEOPLE
from services.memory.classes import MemoryClass, Placement, placed
from services.memory.decide.answers import rejection
from services.memory.decide.candidate import check_risk
from services.memory.decide.context import BookContext, Refusal
from services.memory.gate.verdict import Verdict, judge, judge_request
from services.memory.requests.find import place_of as place_of_words

CHOOSERS = PEOPLE | {"agent", "historian"}
"""Those who choose a category by what it means. Of others the class is read off a text that names it."""


def gate_verdict(text: str, memory_class: MemoryClass, trust: str) -> Verdict:
    """The gate's verdict on words, of which only `rejecting` reasons reject them."""
    return judge_request(text) if trust in PEOPLE else judge(text, memory_class)


def rejecting(verdict: Verdict, trust: str) -> tuple[str, ...]:
    """The reasons that reject words. To read like another class is none where the class was chosen."""
    return verdict.reasons if verdict.is_hard or trust not in CHOOSERS else ()


def check_words(text: str, memory_class: MemoryClass, context: BookContext) -> None:
    """Raise `Refusal` where a new memory with these words would be rejected, or wait for a person."""
    check_risk(text, context.trust)
    reasons = rejecting(gate_verdict(text, memory_class, context.trust), context.trust)
    if reasons:
        raise Refusal(rejection(reasons, text))


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
