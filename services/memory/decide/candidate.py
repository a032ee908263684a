"""A candidate: something that may be worth remembering, with where it comes from and who found it."""

import msgspec

from schemas.events import MemoryJudged
from services.memory.classes import Placement
from services.memory.gate.verdict import GATE_VERSION, Verdict

PREVIEW = 80
"""Characters of a candidate that its judgement repeats."""


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
