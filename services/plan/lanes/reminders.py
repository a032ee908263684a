"""The lane that reminds an agent, behind a person's message, to drop what the turn before has left."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from schemas.plan import AnyEdit, AppendText, Withdraw, target
from services.domain.conversation import Message
from services.domain.texts.markup import element
from services.domain.tokens import tokens
from services.plan.lanes import reclaim_nudge
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.turns import appended, backwards, has_reduced, is_reduce, newest_written, text_of_person
from services.plan.provider_rules.signed_thinking import boundary
from services.plan.session.lane_marks import is_of, mark_of
from services.plan.session.reclaim import OUTPUTS

NAME = "reminders"
MODES = reclaim_nudge.MODES
MIN_CALLS = 5
"""Tools that a turn must have used; after fewer there is little to clean up."""
MAX_MESSAGES = 400
"""The number of messages of a turn that are looked through, from its end on."""
TEXT = element(
    "instruction",
    "The turn before this message has used many tools. Before or while you work on the message, name what you no "
    "longer need of that turn to `ctx_reduce` as well. This is a notice of the service that keeps your context, and "
    "no request.",
    name="last_turn_cleanup",
)


def extend(view: View, fresh: Sequence[Message]) -> Iterable[AnyEdit]:
    """One reminder on the newest message of a person, if the turn before it was long and nothing of it was dropped."""
    session = view.session
    place = newest_written(session, fresh) if view.limits.reminders else None
    if place is None:
        return ()
    message, part = place
    texts, turn = _before(view, message)
    if part in session.plan.ends or any(_is_reminded(view, text) for text in texts):
        return ()
    later = (one for one in reversed(fresh) if one.ordinal > message.ordinal)
    if _calls(view, turn) < MIN_CALLS or any(has_reduced(session, one) for one in (*turn, *later)):
        return ()
    if reclaim_nudge.reclaimable(view).tokens < reclaim_nudge.MIN_ITEM or reclaim_nudge.is_overdue(view):
        return ()
    return appended(session, part, f"\n\n{TEXT}", NAME)


def rebase(view: View) -> Change:
    """A reminder that was followed has done its work."""
    if boundary(view.session):
        return Change()
    served = tuple(_served(view))
    reduced = _newest_reduced(view, served[0][0]) if served else 0
    done = tuple(edit for ordinal, edit in served if ordinal < reduced)
    edits = tuple(Withdraw(what=str(target(edit)), by=edit.by, lane=NAME) for edit in done)
    return Change(edits, reclaimed=sum(tokens(len(edit.text.encode())) for edit in done))


def _before(view: View, message: Message) -> tuple[list[str], list[Message]]:
    """The texts of a person directly before this message, and the turn of the agent before those."""
    texts: list[str] = []
    turn: list[Message] = []
    for one in islice(backwards(view.session.conversation, message.ordinal), MAX_MESSAGES):
        text = text_of_person(view.session, one)
        if text and turn:
            break
        if text:
            texts.append(text)
        else:
            turn.append(one)
    return texts, turn


def _is_reminded(view: View, text: str) -> bool:
    return mark_of(view.session.plan.ends.get(text), NAME) is not None


def _calls(view: View, turn: Iterable[Message]) -> int:
    sent = (part.recorded for message in turn for _, part in view.session.conversation.sent_parts(message))
    return sum(part.kind in OUTPUTS and part.status in ("completed", "error") for part in sent)


def _served(view: View) -> Iterator[tuple[int, AppendText]]:
    """The reminders that are served and that no other lane shares, in order."""
    ends = view.session.plan.ends
    for placed in view.index.prompts:
        for part in placed.parts:
            edit = ends.get(part.recorded.part)
            if edit is not None and is_of(edit, (NAME,)):
                yield placed.ordinal, edit


def _newest_reduced(view: View, first: int) -> int:
    """Ordinal of the newest message behind `first` in which the agent named what may be dropped; 0: there is none."""
    for placed in reversed(view.index.placed):
        if placed.ordinal <= first:
            return 0
        if any(is_reduce(part.recorded.tool) for part in placed.parts):
            return placed.ordinal
    return 0


LANE = Lane(NAME, spares_firm=spares_firm, extend=extend, rebase=rebase, modes=MODES, order=180)
