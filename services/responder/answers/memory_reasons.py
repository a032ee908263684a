"""The reason why a session's head shows a memory, or does not: read off the served head and the facts that it names."""

from __future__ import annotations

import msgspec

from schemas.plan import SetHead
from services.memory.entry import Memory
from services.memory.remembered import Remembered
from services.plan.lanes import head
from services.plan.session.lane_marks import mark_of
from services.plan.session.state import Session
from services.responder.answers.memory_reports import KnownMemory

SENTENCES = {
    "shown": "the head shows it",
    "shown_as_it_was": "the head shows it as it was when the head was made; it has changed since then",
    "no_head": "the session's prompts have no head",
    "newer_than_head": "it became active after the head was made; a notice at the end has it until the next rebase",
    "held": "it waits for a person to decide about it",
    "superseded": "another one has taken its place",
    "archived": "it is archived",
    "expired": "it has expired",
    "rejected": "it was rejected",
    "quarantined": "all that came of its source is taken back",
    "global_cap": "stronger ones fill what there is room for",
    "token_budget": "others that go first left too little room for its length",
    "twin": "another one is the same sentence, and represents both",
    "empty_budget": "the settings leave no room for memories",
}
"""By reason: what it means."""


class Why(msgspec.Struct, frozen=True):
    """Whether a memory is shown, and the reason."""

    rendered: bool
    reason: str
    revision: int = 0
    """Of the session's plan: the one that made the head; 0: there is none."""

    @property
    def text(self) -> str:
        sentence = SENTENCES.get(self.reason, self.reason)
        return f"{'Shown' if self.rendered else 'Not shown'}: {sentence}."


def by_settings(known: KnownMemory, memory: Memory) -> Why:
    """Whether a head that is made then shows it."""
    choice = known.choice
    if any(one.memory.id == memory.id for one in choice.memories):
        return Why(rendered=True, reason="shown")
    return Why(rendered=False, reason=dict(choice.omitted).get(memory.id, "archived"))


def position_of_head(session: Session) -> int:
    """The position up to which the session's head knows the project's memory; 0: it has no head that does."""
    mark = mark_of(session.plan.heads.get(head.SLOT), head.NAME)
    return int(mark.detail) if mark is not None and mark.detail else 0


def by_head(session: Session, now: Remembered, then: KnownMemory, memory: Memory) -> Why:
    """Whether the head that is served shows it. `then` is what was known when that head was made."""
    served = session.plan.heads.get(head.SLOT)
    if served is None or not served.text:
        return Why(rendered=False, reason="no_head")
    made = _revision(session, served)
    changed = next((one for one in now.since(position_of_head(session)) if one.memory == memory.id), None)
    position = changed.before if changed is not None else now.newest.get(memory.id, 0)
    if position in served.by:
        return Why(rendered=True, reason="shown_as_it_was" if changed is not None else "shown", revision=made)
    if memory.id not in then.remembered.book.memories or (changed is not None and changed.kind == "added"):
        return Why(rendered=False, reason="newer_than_head", revision=made)
    return msgspec.structs.replace(by_settings(then, then.remembered.book.memories[memory.id]), revision=made)


def _revision(session: Session, served: SetHead) -> int:
    """The newest revision that holds this edit."""
    for number in range(session.revisions.newest, 0, -1):
        if served in session.revisions.made[number].edits:
            return number
    return 0
