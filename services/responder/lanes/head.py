"""The lane that puts what is known of the project at the head of a prompt: rewritten by rebases and by nothing else."""

from collections.abc import Iterable, Sequence

from schemas.plan import AnyEdit, SetHead
from services.kit.conversation import Message
from services.kit.tokens import tokens
from services.kit.window import window
from services.responder.head.documents import chosen
from services.responder.head.render import render_project
from services.responder.lanes.base import Change, View

NAME = "head"
MODES = frozenset({"primary", "reduce_off"})
SLOT = 0
MOST_PERCENT = 10
"""Of the usable window: the head of a small model is small."""
PRESSING = frozenset({"pressure", "force", "overflow"})
"""Causes at which a prompt must shrink."""


def extend(view: View, _: Sequence[Message]) -> Iterable[AnyEdit]:
    """At the first step of a session nothing was sent yet, so that there is no prefix to keep."""
    is_first = view.session.before is None and view.session.revision == 0
    return (_head(view),) if is_first and _wanted(view) != in_force(view) else ()


def rebase(view: View) -> Change:
    """The head as it should be now, unless it would grow where a prompt must shrink."""
    wanted, present = _wanted(view), in_force(view)
    if wanted == present:
        return Change()
    saving = _cost(present) - _cost(wanted)
    if saving < -view.limits.min_reclaim and view.causes & PRESSING:
        return Change(held=(f"the head would take {-saving} more tokens while room is short",))
    return Change(edits=(_head(view),), reclaimed=max(0, saving))


def in_force(view: View) -> str:
    """The text of the head as it is served; empty: there is none."""
    edit = served(view)
    return edit.text if edit else ""


def served(view: View) -> SetHead | None:
    """The edit that made the head."""
    edit = view.session.edits.get(f"head:{SLOT}")
    return edit if isinstance(edit, SetHead) else None


def _wanted(view: View) -> str:
    """Nothing where a model refuses two messages of one role in a row: the head stands before a user's message."""
    step = view.session.step
    if not view.limits.head or step is None or "requires_alternation" in view.able:
        return ""
    usable = window(step, view.session.learned, view.limits).usable
    most = min(view.limits.head_tokens, usable * MOST_PERCENT // 100)
    return render_project(chosen(view.documents, view.limits.head_documents), most=most)


def _head(view: View) -> SetHead:
    text = _wanted(view)
    documents = chosen(view.documents, view.limits.head_documents) if text else ()
    return SetHead(slot=SLOT, text=text, by=tuple(document.seq for document in documents), lane=NAME)


def _cost(text: str) -> int:
    return tokens(len(text.encode()))
