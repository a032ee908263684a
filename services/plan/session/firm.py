"""The firm part of a prompt, which no lane takes out unasked, counted as facts come.

A rebase leaves at least so much in the prompt. So it is known without a look at the conversation that some rebases
would not pay: see `services.plan.planner.economics`.
"""

from collections.abc import Iterable
from typing import Protocol

import msgspec

from schemas.plan import ReplaceOutput
from services.domain.conversation import Part
from services.domain.texts.clean import may_hold_injected
from services.domain.texts.placeholders import DROPPED
from services.domain.tokens import tokens
from services.plan.session.costs import ServedSession, first_after_cut

CALL = 64
"""Estimated tokens of a dropped call at most that counts: few are longer, and a rebase may take out some of them."""
MARKS = ("[dropped §", "<think")
"""Marks in texts that lanes may take out although nobody asks for it: placeholders, and thinking."""


class Firm(msgspec.Struct, frozen=True):
    """Estimated tokens of what is firm, as it is served."""

    words: int = 0
    """Texts that are served whole, in which no lane looks for anything."""
    calls: int = 0
    """Calls whose outputs were dropped: their arguments, and the placeholders. They are taken out a few at a time."""


class FirmSession(ServedSession, Protocol):
    """A session with what was firm in it."""

    @property
    def firm(self) -> Firm: ...


def firm_after(before: FirmSession, after: FirmSession, names: Iterable[str]) -> Firm:
    """The firm part after a fact that may have changed these parts. `after` has the fact, and the firm part before."""
    words = calls = 0
    for name in names:
        words += firm_words(after, name) - firm_words(before, name)
        calls += firm_call(after, name) - firm_call(before, name)
    known = after.firm
    return Firm(known.words + words, known.calls + calls) if words or calls else known


def firm_words(session: ServedSession, name: str) -> int:
    """Estimated tokens of a text that no lane takes out; 0: it is none, or may go."""
    part = session.conversation.parts.get(name)
    if part is None or part.recorded.kind != "text" or not session.drops.is_free(part.number):
        return 0
    is_served = session.plan.is_whole(name) and _is_behind_cut(session, part)
    return part.recorded.tokens if is_served and _is_plain(part) else 0


def firm_call(session: ServedSession, name: str) -> int:
    """Estimated tokens of a call whose output is a placeholder; 0: it is none, or a long one."""
    edit = session.plan.altered.get(name)
    part = session.conversation.parts.get(name)
    if part is None or not isinstance(edit, ReplaceOutput) or part.number not in session.drops.dropped:
        return 0
    if edit.text != DROPPED.text(number=part.number) or not _is_behind_cut(session, part):
        return 0
    size = tokens(len(edit.text.encode()) + part.recorded.input_bytes)
    return size if size <= CALL and name not in session.plan.in_arcs else 0


def _is_behind_cut(session: ServedSession, part: Part) -> bool:
    """Whether its message is listed, not cut away and not left out."""
    place = session.conversation.place(part.recorded.part)
    is_listed = place > 0 and place >= first_after_cut(session.conversation, session.plan)
    return is_listed and part.recorded.message not in session.plan.left_out


def _is_plain(part: Part) -> bool:
    """Whether it says something, has a tag, is as it was when it got that, and shows no mark of what lanes look for."""
    recorded, head = part.recorded, part.head
    if not 0 < part.seq <= part.tag_seq or not part.number or recorded.ignored or recorded.synthetic:
        return False
    if not head.strip() or any(mark in head for mark in MARKS):
        return False
    return not may_hold_injected(head)
