"""The answers about candidates: the same one when a command comes again."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.events import Event
from services.domain.decision import Decision
from services.memory.book import Book
from services.memory.decide.candidate import REASONS
from services.memory.decide.ids import why_not
from services.memory.entry import Judgement
from services.memory.gate.verdict import quote

_REJECTED = {
    "prompt_injection": "it reads as an order to override an agent's instructions; say only what holds of the project",
    "quarantined": "all that comes from this source is taken back; a person can undo that (memory.quarantine)",
    "policy": "candidates of this trust are refused in this project; a person can change that (policy.set)",
}
PROPOSED = "Proposed as "
"""The beginning of the answer about a candidate that was not known, and waits."""
REPORT = "report"
"""The mark of a candidate that a person asked for and that only reports the state of the work: it gets little
weight."""
_NOT_DURABLE = "say in one sentence what will hold in later sessions, and not what happens now"


def judgement_answer(
    book: Book, judgement: Judgement, *, events: Sequence[Event] = (), seq: int | None = None, words: str = ""
) -> Decision:
    """A decision on a candidate with its answer. It is granted where the text is in the book now, or waits there.

    `words`: those of the candidate, of which a refusal quotes the ones that it is about.
    """
    text = _text(book, judgement, words)
    return Decision(ok=not text.startswith("Nothing"), text=text, events=tuple(events), seq=seq)


def _text(book: Book, judgement: Judgement, words: str) -> str:
    name, reasons = judgement.memory, judgement.reasons
    match judgement.verdict:
        case "accepted" if REPORT in reasons:
            full = f"`annals memory edit {name} --importance normal` has it go first"
            return f"Remembered as {name}. It reads as a report of the moment, and weighs little: {full}."
        case "accepted":
            return f"Remembered as {name}."
        case "held":
            why = next((f", since {REASONS[one]}" for one in reasons if one in REASONS), "")
            return f"{PROPOSED}{name}{why}. It is not part of the project's memory before it is taken up."
        case "absorbed" if not reasons:
            return f"{name} says the same already; that it was seen again is noted."
        case "absorbed" if reasons[0] == "identity":
            return f"{name} is about the same and holds; that it was seen again is noted. Revise it if it is wrong."
        case "absorbed" if reasons[0] == "pending":
            return f"The same was proposed before as {name}; that it was seen again is noted."
        case "absorbed" if reasons[0] in ("shown", "reread"):
            return f"{name} says the same already, and was known where this was found: that is no new sighting."
        case "absorbed" if name in book.memories and not book.memories[name].is_active:
            return f"Nothing is remembered: {name} has these words, and {why_not(book.memories[name])}."
        case "absorbed":
            return f"Nothing was remembered: {name} had these words and did not hold then; it does now."
        case "retrying" | "exhausted":
            last = " This was the last attempt." if judgement.verdict == "exhausted" else ""
            return f"Nothing was remembered at attempt {judgement.attempt}: {_REJECTED['policy']}.{last}"
        case _:
            return f"Nothing was remembered: {rejection(reasons, words)}."


def rejection(reasons: Sequence[str], words: str = "") -> str:
    """The reasons of a gate as the end of a sentence, with the words that each is about, and what would be right."""
    known = [_REJECTED[reason] for reason in reasons if reason in _REJECTED]
    others = [reason for reason in reasons if reason not in _REJECTED]
    if others:
        named = [f'"{quote(words, reason)}" ({reason})' if words else reason for reason in others]
        known.append(f"it does not read as something lasting: {', '.join(named)}; {_NOT_DURABLE}")
    return "; ".join(known)
