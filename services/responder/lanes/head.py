"""The lane that puts what is known of the project at the head of a prompt: rewritten by rebases and by nothing else."""

from collections.abc import Iterable, Sequence

from schemas.plan import AnyEdit, SetHead
from services.kit.conversation import Message
from services.kit.tokens import tokens
from services.kit.window import window
from services.responder.head.documents import Document, at_the_head, chosen
from services.responder.head.render import Room, render_project
from services.responder.lanes.base import Change, View

NAME = "head"
MODES = frozenset({"primary", "reduce_off"})
SLOT = 0
MOST_PERCENT = 10
"""Of the usable window, for documents and key files together: the head of a small model is small."""
PRESSING = frozenset({"pressure", "force", "overflow"})
"""Causes at which a prompt must shrink."""


def extend(view: View, _: Sequence[Message]) -> Iterable[AnyEdit]:
    """At the first step of a session nothing was sent yet, so that there is no prefix to keep."""
    if view.session.before is not None or view.session.revision:
        return ()
    wanted = _wanted(view)
    return (_head(view, wanted),) if wanted != in_force(view) else ()


def rebase(view: View) -> Change:
    """The head as it should be now, unless it would grow where a prompt must shrink."""
    wanted, present = _wanted(view), in_force(view)
    if wanted == present:
        return Change()
    saving = _cost(present) - _cost(wanted)
    if saving < -view.limits.min_reclaim and view.causes & PRESSING:
        return Change(held=(f"the head would take {-saving} more tokens while room is short",))
    return Change(edits=(_head(view, wanted),), reclaimed=max(0, saving))


def in_force(view: View) -> str:
    """The text of the head as it is served; empty: there is none."""
    edit = served(view)
    return edit.text if edit else ""


def served(view: View) -> SetHead | None:
    """The edit that made the head."""
    edit = view.session.edits.get(f"head:{SLOT}")
    return edit if isinstance(edit, SetHead) else None


def shown(view: View) -> tuple[Document, ...]:
    """What the head is made from, and what is gone, in the order of the settings."""
    return chosen(view.documents, at_the_head(view.limits))


def _wanted(view: View) -> str:
    """Nothing where a model refuses two messages of one role in a row: the head stands before a user's message."""
    step, limits = view.session.step, view.limits
    if not limits.head or step is None or "requires_alternation" in view.able:
        return ""
    share = window(step, view.known, limits).usable * MOST_PERCENT // 100
    documents = chosen(view.documents, limits.head_documents)
    return render_project(
        documents,
        key_files=[file for file in shown(view) if file not in documents],
        room=Room(limits.head_tokens, limits.key_files_tokens, share),
    )


def _head(view: View, text: str) -> SetHead:
    by = tuple(document.seq for document in shown(view)) if text else ()
    return SetHead(slot=SLOT, text=text, by=by, lane=NAME)


def _cost(text: str) -> int:
    return tokens(len(text.encode()))
