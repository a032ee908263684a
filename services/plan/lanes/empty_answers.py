"""The lane that leaves out answers of which only placeholders would be served."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from schemas.plan import AnyEdit, OmitMessage, ReplaceText, Withdraw, target
from services.domain.conversation import Part
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.index import EDITED, MARKED, RECORDED_AGAIN, Finder, IsMeant, PlacedMessage
from services.plan.lanes.reasoning import ReasoningRules, cause, is_reasoning, is_spent, rules_of
from services.plan.lanes.rewrite import is_in_memory
from services.plan.lanes.turns import Ages, ages
from services.plan.session.state import Session

NAME = "emptied"
OPENING = "[dropped §"
PLACEHOLDERS = re.compile(r"\s*(?:\[dropped §\d+§\]\s*)+")


def rebase(view: View) -> Change:
    """Leave out what says nothing, where no two turns meet by it; what says something again comes back."""
    known = ages(view)
    touched = [placed for placed in _of_interest(view) if _is_touched(view, known, placed)]
    if not touched:
        return Change()
    rules = rules_of(view)
    hollow = {placed.name for placed in touched if _is_hollow(view, rules, placed)}
    removable = _removable(view, hollow)
    edits: list[AnyEdit] = []
    for placed in touched:
        by = tuple(part.seq for part in placed.parts)
        edit = view.session.plan.left_out.get(placed.name)
        if placed.name in removable and edit is None:
            edits.append(OmitMessage(message=placed.name, by=by, lane=NAME))
        elif placed.name not in removable and edit is not None and edit.lane == NAME:
            edits.append(Withdraw(what=str(target(edit)), by=by, lane=NAME))
    return Change(tuple(edits))


def _of_interest(view: View) -> Iterator[PlacedMessage]:
    """Answers with a text that may be blank, and those that are left out already.

    All other answers have words, or never had a text: in a long session those are nearly all.
    """
    conversation = view.session.conversation
    names = {placed.name for placed in view.index.messages(NAME)}
    names.update(name for name, edit in view.session.plan.left_out.items() if edit.lane == NAME)
    for change in view.made:
        for edit in change.edits:
            part = conversation.parts.get(edit.part) if isinstance(edit, ReplaceText) else None
            if part is not None:
                names.add(part.recorded.message)
    messages = (conversation.messages[name] for name in names if name in conversation.messages)
    for ordinal in sorted(message.ordinal for message in messages if message.present):
        placed = view.index.at(ordinal)
        if placed is not None and placed.role == "assistant":
            yield placed


def _is_touched(view: View, known: Ages, placed: PlacedMessage) -> bool:
    """Whether a look at its edits is worth it: of most answers nothing was dropped or changed."""
    dropped = view.session.drops.dropped
    return any(may_be_touched(part) or part.number in dropped or known.is_going(part.number) for part in placed.parts)


def may_be_touched(part: Part) -> bool:
    """Whether it was recorded anew after it got its tag, or begins as what was dropped does."""
    return part.seq > part.tag_seq > 0 or OPENING in part.head


def _is_hollow(view: View, rules: ReasoningRules, placed: PlacedMessage) -> bool:
    """Whether an answer says nothing but that it was dropped."""
    if not any(part.recorded.kind == "text" for part in placed.parts) or placed.name in view.session.plan.pairs:
        return False
    if any(part.recorded.kind not in ("text", "reasoning") and _is_shown(view, part) for part in placed.parts):
        return False
    visible = [part for part in placed.parts if _is_shown(view, part)]
    texts = [part for part in visible if part.recorded.kind == "text"]
    thoughts = [part for part in visible if is_reasoning(part)]
    if not any(_is_dropped(view, rules, part) for part in texts):
        return False
    if not all(_is_dropped(view, rules, part) or _is_blank(view, part) for part in texts):
        return False
    spent = is_spent(view, rules.known, placed)
    return all(cause(rules, placed, part, is_spent=spent) for part in thoughts)


def _is_shown(view: View, part: Part) -> bool:
    return not part.recorded.ignored and not view.session.plan.is_omitted(part.recorded.part)


def _is_dropped(view: View, rules: ReasoningRules, part: Part) -> bool:
    """Whether a text is served as nothing but placeholders, now or by this very rebase."""
    name = part.recorded.part
    if name in view.session.plan.ends:
        return False
    if rules.known.is_going(part.number):
        return True
    edit = view.change_of(name)
    if isinstance(edit, ReplaceText):
        return PLACEHOLDERS.fullmatch(edit.text) is not None
    return is_in_memory(part) and PLACEHOLDERS.fullmatch(part.head) is not None


def _is_blank(view: View, part: Part) -> bool:
    name = part.recorded.part
    if name in view.session.plan.ends or isinstance(view.change_of(name), ReplaceText):
        return False
    return is_in_memory(part) and not part.head.strip()


def _removable(view: View, hollow: AbstractSet[str]) -> AbstractSet[str]:
    """Those that may go. Where turns must alternate, an answer that parts two prompts stays, or may come to."""
    if not hollow or "requires_alternation" not in view.able:
        return hollow
    cut = view.session.cut
    listed = [placed for placed in view.index.placed if placed.ordinal >= cut and _is_listed(view, placed)]
    following = [*(placed.role for placed in listed[1:]), ""]
    before = "user" if view.session.plan.head_texts else ""
    removable: set[str] = set()
    for placed, behind in zip(listed, following, strict=True):
        if placed.name in hollow and before and behind and (before != behind or behind == "assistant"):
            removable.add(placed.name)
        else:
            before = placed.role
    return removable


def _is_listed(view: View, placed: PlacedMessage) -> bool:
    """Whether the message is served at all, if this lane does not leave it out."""
    plan = view.session.plan
    omitted = plan.left_out.get(placed.name)
    if omitted is not None and omitted.lane != NAME:
        return False
    if placed.name in plan.pairs:
        return True
    parts = [part for part in placed.parts if not part.recorded.ignored]
    return not parts or any(_is_shown(view, part) for part in parts)


def _finds(session: Session) -> IsMeant:
    """Texts that were changed, or recorded anew; those that were dropped or are to be are found besides."""
    altered = session.plan.altered
    return lambda part: part.recorded.part in altered or part.seq > part.tag_seq > 0 or OPENING in part.head


FINDER = Finder(
    _finds,
    kinds=frozenset({"text"}),
    role="assistant",
    signs=EDITED | MARKED | RECORDED_AGAIN,
    with_dropped=True,
    with_queued=True,
)
LANE = Lane(NAME, spares_firm=spares_firm, rebase=rebase, order=160, finder=FINDER)
