"""The lane that puts compressed history in the place of its messages: at a rebase, and never before.

The state of the session's work is part of it. That changes with every call, and alone it is no reason to write a prompt
anew: it stays as it was until the history changes, or the provider's cache is lost anyway.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from schemas.plan import AnyEdit, Cut, CutBefore, SetHead, Withdraw
from services.domain.conversation import Message
from services.domain.retention import retention
from services.domain.tokens import tokens
from services.domain.window import window
from services.plan.head.history import render_history, state_in
from services.plan.head.working import lost_rules, taken_back, working_lines
from services.plan.lanes.base import PRESSING, Change, Lane, View
from services.plan.lanes.keeping import Remainder, remainder
from services.plan.session.costs import remaining_parts
from services.plan.session.state import served_tokens, with_edits

NAME = "history"
SLOT = 1
COLD = frozenset({"idle", "model", "variant", "system", "compacted", "late"})
"""Causes at which no cache holds the head any more."""


def rebase(view: View) -> Change:
    """History as it is known now, in front of the first message that it does not replace.

    Where a model refuses two messages of one role in a row, that must be an agent's message. Then the newest one that
    history replaces stays, so that one rebase takes all history that is ready. A copy goes on with what it took over
    until the log has its compartments.
    """
    if view.session.awaits_history and view.limits.history:
        return Change(delays=("history stays as it is: the origin's compartments are not copied yet",))
    first = _first(view)
    stood = _remainder(view, first) if first is not None else ()
    text = _text(view, first, frozenset(one.file for one in stood if one.file))
    if text and first is not None and first.recorded.role == "user" and "requires_alternation" in view.able:
        return _waiting(view, f"history waits: the model takes no message of ours in front of {first.recorded.message}")
    head, cut = served(view)
    start = first.recorded.message if first is not None and text else ""
    edits: list[AnyEdit] = []
    if text != head:
        edits.append(SetHead(slot=SLOT, text=text, by=_by(view) if text else (), lane=NAME))
    stays = tuple(dict.fromkeys(name for one in stood for name in one.parts)) if start else ()
    if (start, stays) != (cut, remaining_parts(view.session.plan)):
        edit = CutBefore(message=start, remaining=stays, by=_by(view), lane=NAME)
        edits.append(edit if start else Withdraw(what=str(Cut()), lane=NAME))
    saving = served_tokens(view.session) - served_tokens(with_edits(view.session, edits)) if edits else 0
    if saving < -view.limits.min_reclaim and view.causes & PRESSING:
        return _waiting(view, f"history would take {-saving} more tokens while room is short")
    return Change(edits=tuple(edits), reclaimed=max(0, saving))


def _waiting(view: View, why: str) -> Change:
    """The served history. A cut whose message is gone goes: it might come back anywhere, and cut what was sent."""
    head, cut = served(view)
    edits: list[AnyEdit] = []
    if cut and not view.session.cut:
        edits.append(Withdraw(what=str(Cut()), lane=NAME))
        if head:
            edits.append(SetHead(slot=SLOT, text="", lane=NAME))
    return Change(edits=tuple(edits), delays=(why,), reclaimed=_cost(head) if edits else 0)


def served(view: View) -> tuple[str, str]:
    """The history that is served now, and the message before which everything is left out; empty: there is none."""
    plan = view.session.plan
    return plan.head(SLOT), plan.cut.message if plan.cut is not None else ""


def _text(view: View, first: Message | None, files: AbstractSet[str]) -> str:
    """The history of all before this message. `files`: those whose names can be read in what stays."""
    step, history = view.session.step, view.session.history
    is_tainted = taken_back(view.session, view.remembered, view.name)
    lost = lost_rules(view.session, is_tainted)
    if not view.limits.history or step is None or first is None or not (history.sealed or lost):
        return ""
    stays = retention(window(step, view.known, view.limits).usable, view.limits.context)
    most = stays.history_of(sum(one.tokens for one in history.sealed)) if history.sealed else stays.history
    head, cut = served(view)
    has_lost_rules = set(lost) <= set(state_in(head))
    if head and cut == first.recorded.message and not view.causes & COLD and not is_tainted and has_lost_rules:
        same = _rendered(view, most, state_in(head), files)
        if same == head:
            return head
    state = working_lines(view.session, view.remembered, view.name)
    return _rendered(view, most, state, files)


def _rendered(view: View, most: int, state: Sequence[str], files: AbstractSet[str]) -> str:
    history = view.session.history
    return render_history(
        history.sealed,
        most,
        state,
        importance=history.importance,
        visible=files,
        is_subagent=view.session.is_subagent,
    )


def _first(view: View) -> Message | None:
    """The first message that stays: the one behind what is compressed, or an agent's before it where it must be one."""
    conversation, last = view.session.conversation, view.session.history.last
    first = next(conversation.after(last), None)
    if first is None or first.recorded.role != "user" or "requires_alternation" not in view.able:
        return first
    before = (conversation.messages.get(conversation.order.get(place, "")) for place in range(last, 0, -1))
    return next((one for one in before if one is not None and one.recorded.role == "assistant"), first)


def _by(view: View) -> tuple[int, ...]:
    """The log positions of the compartments."""
    history = view.session.history
    return tuple(history.positions.get(one.compartment, 0) for one in history.sealed)


def _remainder(view: View, first: Message) -> tuple[Remainder, ...]:
    """The parts that stay of what is before this message.

    Where a model refuses messages of one role in a row, nothing does. Where it would refuse the prompt, what fits.
    """
    session, step = view.session, view.session.step
    if step is None or "requires_alternation" in view.able:
        return ()
    stays = retention(window(step, view.known, view.limits).usable, view.limits.context)
    if not view.excess:
        return remainder(session, first.ordinal, stays)
    behind = sum(message.tokens for message in session.conversation.after(first.ordinal - 1))
    room = max(0, served_tokens(session) - view.excess - behind - stays.history)
    return remainder(session, first.ordinal, stays, room)


def _cost(text: str) -> int:
    return tokens(len(text.encode()))


def _spares_firm(view: View) -> bool:
    """Whether no history is ready beyond what is cut away already."""
    return view.session.history.last < max(1, view.session.cut)


LANE = Lane(NAME, rebase=rebase, spares_firm=_spares_firm, order=20)
