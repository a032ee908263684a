"""Orders that could do harm wait for a person, whoever brings them: only a person's own connection lets them hold."""

from __future__ import annotations

from msgspec.structs import replace

from services.domain.texts.risky import OUTSIDE, SECRETS, WORK, risk_of
from services.memory.decide.candidate import Candidate
from services.memory.decide.context import Refusal

REASONS = {
    SECRETS: "it orders agents what to do with secrets",
    WORK: "it orders agents to overwrite or switch off something, or to ask nobody",
    OUTSIDE: "it orders agents to send or fetch something outside",
    "quoted": "it is in a quotation, which somebody else may have written",
    "pasted": "it is in a text that looks pasted, which somebody else may have written",
}
"""The reasons why a candidate waits for approval, as the end of a sentence."""


def waiting_where_risky(candidate: Candidate) -> Candidate:
    """The candidate, as one that waits where it gives an order that no person has sent themselves."""
    risk = risk_of(candidate.text) if candidate.trust != "person" else ""
    return replace(candidate, needs_approval=True, codes=(*candidate.codes, risk)) if risk else candidate


def check_risk(text: str, trust: str) -> None:
    """Raise `Refusal` where a change that holds at once would give such an order."""
    risk = risk_of(text) if trust != "person" else ""
    if risk:
        raise Refusal(f"{REASONS[risk]}; ask a person to write it, or write it anew, so that it waits for one")
