"""Whether what was found is worth a word behind a person's message. Values in, one fact out."""

from collections.abc import Sequence
from datetime import datetime

from schemas.events import HintDecided
from schemas.search_asks import Hit as Found
from schemas.search_asks import Hits
from services.domain.search.answer_text import age
from services.domain.texts.clean import CONTEXT_ELEMENT
from services.plan.lanes.hints import MAX_HITS, HintHit, query_of
from services.plan.session.state import Session

_AUGMENTS = f"<{CONTEXT_ELEMENT}>"
MOST_RECORDED = 2 * MAX_HITS
"""Results that were found; some may be in the prompt already when the hint is written."""


def skipped(message: str, reason: str, threshold: float = 0.0, score: float = 0.0) -> HintDecided:
    """There is no hint, and this is why."""
    return HintDecided(message=message, decision="skip", reason=reason, threshold=threshold, score=score)


def too_short(text: str, least: int) -> bool:
    """Whether a person has written too little to look for."""
    return len(query_of(text)) < least


def decided(message: str, found: Hits, threshold: float, now: datetime) -> HintDecided:
    """The hint for a message: the hits that fit well enough, each by itself. The message is no hit for itself."""
    others = [hit for hit in found.hits if hit.id != message]
    score = max((hit.score for hit in others), default=0.0)
    if not others:
        return skipped(message, "error" if found.error else "empty", threshold)
    near = [hit for hit in others if hit.score >= threshold]
    if not near:
        return skipped(message, "below_threshold", threshold, score)
    best = sorted(near, key=lambda hit: -hit.score)[:MOST_RECORDED]
    return HintDecided(
        message=message,
        decision="hint",
        score=score,
        threshold=threshold,
        sources=[hit.source for hit in best],
        ids=[hit.id for hit in best],
        texts=[hit.fragment for hit in best],
        scores=[hit.score for hit in best],
        ages=[_age(hit, now) for hit in best],
    )


def hits_of(hint: HintDecided | None) -> Sequence[HintHit]:
    """The content of a hint, as the lane shows it."""
    if hint is None or hint.decision != "hint":
        return ()
    listed = zip(hint.sources, hint.ids, hint.texts, hint.scores, hint.ages, strict=True)
    return tuple(
        HintHit(text=text, score=score, message=hint.message, sha=name if source == "commit" else "", age=old)
        for source, name, text, score, old in listed
    )


def is_augmented(session: Session, message: str) -> bool:
    """Whether what is known goes out behind a message already, because its person has asked for that."""
    known = session.conversation.messages.get(message)
    parts = (session.conversation.parts.get(name) for name in known.parts) if known else ()
    return any(part is not None and part.recorded.synthetic and part.head.startswith(_AUGMENTS) for part in parts)


def is_late(session: Session, message: str) -> bool:
    """Whether the call that sends a message has got its plan already."""
    known, step = session.conversation.messages.get(message), session.step
    if known is None or not known.ordinal or step is None:
        return False
    # the list of a call comes before the call itself: until then the newest call is the one before
    return known.ordinal <= step.last and session.revisions.planned == step.step


def _age(hit: Found, now: datetime) -> str:
    return age(hit.at, now) if hit.source == "commit" and hit.at is not None else ""
