"""A candidate: something that may be worth remembering, with where it comes from and who found it."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from schemas.events import MemoryJudged
from services.domain.texts.risky import OUTSIDE, SECRETS, WORK, risk_of
from services.memory.classes import Placement
from services.memory.decide.context import Refusal
from services.memory.gate.verdict import GATE_VERSION, Verdict

PREVIEW = 80
"""Characters of a candidate that its judgement repeats."""
REASONS = {
    SECRETS: "it orders agents what to do with secrets",
    WORK: "it orders agents to overwrite or switch off something, or to ask nobody",
    OUTSIDE: "it orders agents to send or fetch something outside",
    "quoted": "it is in a quotation, which somebody else may have written",
    "pasted": "it is in a text that looks pasted, which somebody else may have written",
}
"""The reasons why a candidate waits for approval, as the end of a sentence."""


class Candidate(msgspec.Struct, frozen=True):
    """A text with its place and its origin. It is judged once, however often it comes."""

    id: str
    text: str
    place: Placement
    trust: str
    rule: str
    """The rule that found it."""
    source: str = ""
    """The sender of the words."""
    origin: str = ""
    """The session that showed it."""
    message: str = ""
    run: str = ""
    evidence: tuple[int, ...] = ()
    importance: str = "normal"
    is_asked: bool = False
    """Whether somebody asked for it in so many words: it is tried again where the policy refuses it."""
    sessions: int = 1
    """In how many sessions it must be seen before it may hold."""
    needs_approval: bool = False
    """Whether it waits for a person's approval, whatever the policy is."""
    verdict: Verdict | None = None
    """The gate's verdict, where more than its words was judged."""
    supersedes: tuple[str, ...] = ()
    """Memories that it corrects."""
    codes: tuple[str, ...] = ()
    """The codes that its judgement has: how it corrects them, why it waits for a person, or that it is a mere
    report."""
    family: tuple[str, ...] = ()
    """Sessions of which its own is a copy: what was seen there is not seen again."""

    def judged(
        self, verdict: str, memory: str = "", reasons: tuple[str, ...] = (), *, name: str = "", attempt: int = 1
    ) -> MemoryJudged:
        """The judgement of this candidate."""
        return MemoryJudged(
            candidate=name or self.id,
            verdict=verdict,
            memory=memory,
            rule=self.rule,
            reasons=list(reasons),
            gate=GATE_VERSION,
            category=self.place.category,
            trust=self.trust,
            origin=self.origin,
            message=self.message,
            attempt=attempt,
            preview=self.text[:PREVIEW],
        )


def waiting_where_risky(candidate: Candidate) -> Candidate:
    """The candidate, as one that waits where it gives an order that no person has sent themselves."""
    risk = risk_of(candidate.text) if candidate.trust != "person" else ""
    return replace(candidate, needs_approval=True, codes=(*candidate.codes, risk)) if risk else candidate


def check_risk(text: str, trust: str) -> None:
    """Raise `Refusal` where a change that holds at once would give such an order."""
    risk = risk_of(text) if trust != "person" else ""
    if risk:
        raise Refusal(f"{REASONS[risk]}; ask a person to write it, or write it anew, so that it waits for one")
