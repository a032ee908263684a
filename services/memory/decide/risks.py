"""Orders that could do harm wait for a person, whoever brings them: only a person's own connection lets them hold."""

from __future__ import annotations

from msgspec.structs import replace

from services.domain.texts.risky import OUTSIDE, SECRETS, WORK, risk_of
from services.memory.decide.candidate import Candidate
from services.memory.decide.context import Refusal

REASONS = {
    SECRETS: "it tells agents what to do with secrets",
    WORK: "it tells agents to overwrite or switch off something, or to ask nobody",
    OUTSIDE: "it tells agents to send or fetch something outside",
    "quoted": "it stands in a quotation, which somebody else may have written",
    "pasted": "it stands in what looks pasted, which somebody else may have written",
}
"""Why a candidate waits for approval, as the end of a sentence."""


def held_where_risky(candidate: Candidate) -> Candidate:
    """The candidate, as one that waits where it gives an order that no person has sent themselves."""
    risk = risk_of(candidate.text) if candidate.trust != "person" else ""
    return replace(candidate, is_held=True, codes=(*candidate.codes, risk)) if risk else candidate


def check_risk(text: str, trust: str) -> None:
    """Raise `Refusal` where a change that holds at once would give such an order."""
    risk = risk_of(text) if trust != "person" else ""
    if risk:
        raise Refusal(f"{REASONS[risk]}; ask a person to write it, or write it anew, so that it waits for one")
