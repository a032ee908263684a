"""The lanes that say, behind what a person has just said, that notes wait, and what is known that may bear on it."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice

import msgspec

from schemas.plan import AppendText, SetHead
from services.kit.conversation import Message
from services.responder.lanes.base import Change, View
from services.responder.lanes.hints import note_reminder, search_hint
from services.responder.lanes.turns import backwards, written
from services.responder.state import Session

NOTES = "notes"
"""The lane of the notes, and when it has spoken, in seconds: `notes:1767225600`."""
HINTS = "hints"
MODES = frozenset({"primary", "reduce_off"})
MAX_BACK = 4000
"""Messages among which the last reminder is sought."""

replace = msgspec.structs.replace


def remind(view: View, fresh: Sequence[Message]) -> tuple[AppendText, ...]:
    """One reminder of notes, behind the first message of a person after what makes it worth to look at them."""
    place, at, notes = _place(view.session, fresh), view.session.step_at, view.notes
    if place is None or at is None or notes is None or not view.limits.note_reminders:
        return ()
    message, part = place
    if not _is_open(view.session, message, notes.triggered_in):
        return ()
    since = _seconds_since(view.session, message, at)
    text = note_reminder(replace(notes, newest=message.recorded.message, seconds_since=since))
    return _said(view.session, part, text, f"{NOTES}:{_seconds(at)}")


def hint(view: View, fresh: Sequence[Message]) -> tuple[AppendText, ...]:
    """One hint, if something was found about this very message before it is sent. What is found later is not told."""
    place = _place(view.session, fresh) if view.hits and view.limits.search_hints else None
    if place is None:
        return ()
    message, part = place
    hits = [hit for hit in view.hits if hit.message == message.recorded.message]
    return _said(view.session, part, search_hint(hits, _heads(view.session)), HINTS)


def rebase(_: View) -> Change:
    """What was said stays said."""
    return Change()


def _place(session: Session, fresh: Sequence[Message]) -> tuple[Message, str] | None:
    """The newest message, if a person wrote it and no call has sent it before, and its text."""
    if not fresh or _was_sent(session, fresh[-1]):
        return None
    part = written(session, fresh[-1])
    return (fresh[-1], part) if part else None


def _was_sent(session: Session, message: Message) -> bool:
    """Whether an earlier call has sent it, even if it is sent anew: parts get their tags when they are first sent."""
    tagged = [part.tag_seq for _, part in session.talk.sent_parts(message) if part.number]
    return not tagged or min(tagged) <= session.before_seq


def _is_open(session: Session, message: Message, triggered_in: str) -> bool:
    """Whether notes are still to be looked at: at the first message of a person that is sent after that one."""
    for one in backwards(session.talk, message.ordinal):
        if one.recorded.message == triggered_in:
            return True
        if written(session, one) and _was_sent(session, one):
            return False
    return False


def _seconds_since(session: Session, message: Message, at: datetime) -> float | None:
    """Since the step of the newest reminder whose message is still there; none: there is none."""
    for one in islice(backwards(session.talk, message.ordinal), MAX_BACK):
        edit = session.edits.get(f"append:{written(session, one)}")
        for lane in edit.lane.split("+") if edit is not None else ():
            name, _, then = lane.partition(":")
            if name == NOTES:
                return _seconds(at) - int(then)
    return None


def _seconds(at: datetime) -> int:
    return int(at.timestamp())


def _heads(session: Session) -> list[str]:
    heads = (session.edits.get(f"head:{slot}") for slot in (0, 1))
    return [head.text for head in heads if isinstance(head, SetHead)]


def _said(session: Session, part: str, text: str, lane: str) -> tuple[AppendText, ...]:
    """The edit, if there is something to say and nothing was said there before."""
    if not text or f"append:{part}" in session.edits:
        return ()
    return (AppendText(part=part, text=text, by=(session.talk.parts[part].seq,), lane=lane),)
