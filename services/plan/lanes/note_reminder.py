"""The lane that reminds an agent of its notes, behind a person's message, once a piece of work has come to an end."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

import msgspec

from schemas.plan import AppendText
from services.domain.conversation import Message
from services.memory.remembered import Remembered
from services.plan.lanes import hints
from services.plan.lanes.base import Lane, View
from services.plan.lanes.hints import NoteNews, NoteStatus
from services.plan.lanes.turns import appended, backwards, text_of_person, unsent, was_sent
from services.plan.session.lane_marks import LaneMark, mark_of
from services.plan.session.state import Session

NAME = "notes"
"""Its mark contains the time of the reminder, in seconds: `notes:1767225600`. Where it reported news of notes, the
position up to which it did so comes after that: `notes:1767225600:4711`."""
MODES = frozenset({"primary", "reduce_off"})
MAX_BACK = 4000
"""Messages among which the last reminder is sought."""

replace = msgspec.structs.replace


def extend(view: View, fresh: Sequence[Message]) -> tuple[AppendText, ...]:
    """News of notes, and a reminder of those that wait behind the first message after what makes it worth to look."""
    place, at, notes = unsent(view.session, fresh), view.session.calls.at, view.notes
    if place is None or at is None or notes is None:
        return ()
    message, part = place
    reported = _reported_up_to(view.session, message) if notes.news else 0
    news = [one for one in notes.news if one.position > reported]
    text = hints.news_notice(news) + _reminder(view.session, message, notes, at)
    position = [str(max(one.position for one in news))] if news else []
    return appended(view.session, part, text, str(LaneMark(NAME, (str(_seconds(at)), *position))))


def _reminder(session: Session, message: Message, notes: NoteStatus, at: datetime) -> str:
    """One reminder of notes that wait, once a piece of work has come to an end; empty: it is not the moment."""
    if not notes.triggered_in or not _is_open(session, message, notes.triggered_in):
        return ""
    since = _seconds_since(session, message, at)
    return hints.note_reminder(replace(notes, newest=message.recorded.message, seconds_since=since))


def status_of(session: Session, remembered: Remembered, name: str) -> NoteStatus | None:
    """The status of a session's notes; none: nothing makes it worth looking at them."""
    milestones = session.milestones
    news = tuple(NoteNews(one.id, one.announced, is_parked=not one.readied) for one in remembered.announced)
    if not milestones.reached_in:
        return NoteStatus(news=news) if news else None
    notes = [*remembered.waiting.get("", ()), *(remembered.waiting.get(name, ()) if name else ())]
    newest = max((note.seq for note in notes), default=0)
    return NoteStatus(
        deferred=len(notes),
        triggered_in=milestones.reached_in,
        is_read=milestones.read_at > newest and _is_shown(session, milestones.read),
        news=news,
    )


def _is_shown(session: Session, part: str) -> bool:
    """Whether a part is served as it is."""
    return session.conversation.place(part) >= max(1, session.cut) and session.plan.is_whole(part)


def _is_open(session: Session, message: Message, triggered_in: str) -> bool:
    """Whether notes are still to be looked at: at the first message of a person that is sent after that one."""
    for one in backwards(session.conversation, message.ordinal):
        if one.recorded.message == triggered_in:
            return True
        if text_of_person(session, one) and was_sent(session, one):
            return False
    return False


def _seconds_since(session: Session, message: Message, at: datetime) -> float | None:
    """Since the step of the newest reminder whose message is still there; none: there is none."""
    newest = next(_marks(session, message), None)
    return _seconds(at) - int(newest.detail) if newest else None


def _reported_up_to(session: Session, message: Message) -> int:
    """The position up to which news of notes were reported; 0: none were."""
    return next((int(mark.details[1]) for mark in _marks(session, message) if len(mark.details) > 1), 0)


def _marks(session: Session, message: Message) -> Iterator[LaneMark]:
    """Its marks before a message, the newest first."""
    for one in islice(backwards(session.conversation, message.ordinal), MAX_BACK):
        if mark := mark_of(session.plan.ends.get(text_of_person(session, one)), NAME):
            yield mark


def _seconds(at: datetime) -> int:
    return int(at.timestamp())


LANE = Lane(NAME, extend=extend, modes=MODES, order=210)
