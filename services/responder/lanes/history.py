"""The lane that puts compressed history in the place of the messages it stands for: at a rebase, and never before."""

from schemas.plan import AnyEdit, CutBefore, SetHead, Withdraw
from services.kit.conversation import Message
from services.kit.tokens import tokens
from services.kit.window import threshold, window
from services.responder.head.history import render_history
from services.responder.lanes.base import Change, View
from services.responder.lanes.head import PRESSING

NAME = "history"
MODES = frozenset({"primary", "reduce_off"})
SLOT = 1


def rebase(view: View) -> Change:
    """History as it is known now, in front of the first message that it does not stand for.

    Where a model refuses two messages of one role in a row, that must be an agent's message.
    """
    text = _text(view)
    first = _first(view)
    if text and first is not None and first.recorded.role == "user" and "requires_alternation" in view.able:
        return _waiting(view, f"history waits: the model takes no message of ours in front of {first.recorded.message}")
    head, cut = served(view)
    start = first.recorded.message if first is not None and text else ""
    edits: list[AnyEdit] = []
    if text != head:
        edits.append(SetHead(slot=SLOT, text=text, by=_by(view) if text else (), lane=NAME))
    if start != cut:
        edits.append(CutBefore(message=start, by=_by(view), lane=NAME) if start else Withdraw(what="cut", lane=NAME))
    saving = _cost(head) - _cost(text) + _between(view, cut, start)
    if saving < -view.limits.min_reclaim and view.causes & PRESSING:
        return _waiting(view, f"history would take {-saving} more tokens while room is short")
    return Change(edits=tuple(edits), reclaimed=max(0, saving))


def _waiting(view: View, why: str) -> Change:
    """What is served stays. A cut whose message is gone goes: it might come back anywhere, and cut what was sent."""
    head, cut = served(view)
    edits: list[AnyEdit] = []
    if cut and not view.session.cut:
        edits.append(Withdraw(what="cut", lane=NAME))
        if head:
            edits.append(SetHead(slot=SLOT, text="", lane=NAME))
    return Change(edits=tuple(edits), held=(why,), reclaimed=_cost(head) if edits else 0)


def served(view: View) -> tuple[str, str]:
    """The history that is served now, and the message before which everything is left out; empty: there is none."""
    head, cut = view.session.edits.get(f"head:{SLOT}"), view.session.edits.get("cut")
    return head.text if isinstance(head, SetHead) else "", cut.message if isinstance(cut, CutBefore) else ""


def _text(view: View) -> str:
    step, history = view.session.step, view.session.history
    if not view.limits.history or step is None or not history.sealed or _first(view) is None:
        return ""
    room = window(step, view.known, view.limits)
    most = int(threshold(step, room, view.limits).tokens(room) * view.limits.history_percent / 100)
    return render_history(history.sealed, most, importance=history.importance)


def _first(view: View) -> Message | None:
    """The first message behind what is compressed."""
    return next(view.session.talk.after(view.session.history.last), None)


def _by(view: View) -> tuple[int, ...]:
    """Where the log tells of the compartments."""
    history = view.session.history
    return tuple(history.positions.get(one.compartment, 0) for one in history.sealed)


def _between(view: View, cut: str, start: str) -> int:
    """Estimated tokens that leave the prompt when the cut moves; less than nothing: they come back."""
    if cut == start:
        return 0
    messages = view.session.talk.messages
    before = messages[cut].ordinal if cut in messages else 0
    now = messages[start].ordinal if start else 0
    low, high = sorted((before, now))
    moved = sum(one.tokens for one in view.session.talk.after(low - 1) if one.ordinal < high)
    return moved if now > before else -moved


def _cost(text: str) -> int:
    return tokens(len(text.encode()))
