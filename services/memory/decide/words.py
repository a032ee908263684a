"""The gate's verdict on words, by their author."""

from __future__ import annotations

from services.domain.senders import PEOPLE
from services.memory.classes import MemoryClass
from services.memory.decide.answers import rejection
from services.memory.decide.context import BookContext, Refusal
from services.memory.decide.risks import check_risk
from services.memory.gate.verdict import Verdict, judge, judge_request

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
