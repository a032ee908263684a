"""Commands about notes: what an agent or a person wants to come back to, and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from schemas.commands import NoteDismiss, NotePark, NoteReady, NoteTranslate, NoteUpdate, NoteWrite
from schemas.conditions import DateCondition, MergeCondition, encode_condition
from schemas.events import NoteDismissed, NoteParked, NoteReadied, NoteTranslated, NoteUpdated, NoteWritten
from schemas.tools import ALL_SESSIONS, OWN_SESSIONS, Action
from services.domain.command import AGENTS, command
from services.domain.condition_sentences import NO_KIND, condition_in
from services.domain.conditions import FORMS, BadCondition, condition_of, words_of
from services.domain.decision import Decision
from services.domain.finding import SHORTEST
from services.memory.book import Book
from services.memory.decide.context import BookContext, Refusal, checked_reason, checked_text
from services.memory.decide.ids import find_note, note_id
from services.memory.entry import Note

CONDITION: dict[str, object] = {
    "condition": {
        "type": "string",
        "description": (
            "JSON, what a note waits for: kind date (at), file (path, state exists|absent|changed|contains, text), "
            "commit (sha|subject|tag), merged (branch, into), passed (command), address (url, status, contains)"
        ),
    }
}
"""The parameter by which an agent gives one. Its forms are in one sentence, since each prompt has them; and it is a
text, since some providers refuse an object of which not all fields are declared. An object is taken as well."""
LONGEST_ZONE = 64
"""Characters of the name of a time zone."""
SWEEPER = ("dreamer",)
"""The only senders that report whether conditions have come true."""


class GivenCondition(NamedTuple):
    """The condition of a note: in words, and in the form of an event where it can be checked."""

    words: str
    waits_for: str

    @property
    def answer(self) -> str:
        """The sentence that answers who gives it; empty: it is none."""
        if self.waits_for:
            return f" It is announced once {self.words}."
        if not self.words:
            return ""
        return (
            " Nothing looks whether its condition has come true, unless a model of the dreamer translates these words "
            "within some minutes, which `read` shows: they are stored, and it is announced with the other notes. A "
            f"condition that is looked at in any case is one such as {FORMS['date']} or {FORMS['passed']}."
        )


@command(
    NoteWrite,
    on=Book,
    sent_by=AGENTS,
    writes=(NoteWritten,),
    for_subagents=True,
    action=Action("note", ALL_SESSIONS, order=20, parameters=CONDITION),
)
def write_note(book: Book, command: NoteWrite, context: BookContext) -> Decision:
    """A note of a session, or of the whole project where none is named."""
    text, condition = checked_text(command.text), _given(command.condition)
    name = note_id(book.notes, context.cause, text)
    event = NoteWritten(
        note=name,
        text=text,
        origin=context.session,
        message=command.message,
        condition=condition.words,
        waits_for=condition.waits_for,
    )
    return Decision(ok=True, text=f"Noted as {name}.{condition.answer}", events=(event,))


@command(NoteUpdate, on=Book, sent_by=AGENTS, writes=(NoteUpdated,), for_subagents=True)
def update_note(book: Book, command: NoteUpdate, context: BookContext) -> Decision:
    """Other words, or another condition. With a condition it begins to wait anew."""
    note = _own(book, command.id, context)
    if note.status == "dismissed":
        raise Refusal(f"{note.id} is dismissed; write a new note")
    text = checked_text(command.text) if command.text.strip() else note.text
    given = _given(command.condition)
    known = GivenCondition(note.condition, encode_condition(note.waits_for))
    is_same = given.words in ("", note.condition) and not given.waits_for
    condition = known if is_same else given
    is_tried_again = bool(given.words and condition.waits_for) and note.announced > 0 and text == note.text
    if (text, condition) == (note.text, known) and not is_tried_again:
        return Decision(ok=True, text=f"Nothing to do: {note.id} says that now.")
    event = NoteUpdated(note=note.id, text=text, condition=condition.words, waits_for=condition.waits_for)
    return Decision(ok=True, text=f"{note.id} says that now.{given.answer}", events=(event,))


def is_note(book: Book, name: str) -> bool:
    """Whether this names a note and no memory: an agent has one action to change either."""
    return name.startswith("n") and len(name) >= SHORTEST and any(one.startswith(name) for one in book.notes)


@command(
    NoteDismiss,
    on=Book,
    sent_by=AGENTS,
    writes=(NoteDismissed,),
    for_subagents=True,
    action=Action("dismiss", OWN_SESSIONS, order=60),
)
def dismiss_note(book: Book, command: NoteDismiss, context: BookContext) -> Decision:
    """A note is done with."""
    note = _own(book, command.id, context)
    if note.status == "dismissed":
        return Decision(ok=True, text=f"Nothing to do: {note.id} is dismissed.")
    return Decision(ok=True, text=f"{note.id} is dismissed.", events=(NoteDismissed(note=note.id),))


@command(NoteReady, on=Book, sent_by=SWEEPER, writes=(NoteReadied,))
def ready_note(book: Book, command: NoteReady, _: BookContext) -> Decision:
    """Record that the condition of a note is met. Of a condition that it has no more, nothing is recorded."""
    note = find_note(book, command.id)
    if nothing := _why_not(note, command.since):
        return Decision(ok=True, text=nothing)
    event = NoteReadied(note=note.id, reason=checked_reason(command.reason))
    return Decision(ok=True, text=f"{note.id} is ready.", events=(event,))


@command(NotePark, on=Book, sent_by=SWEEPER, writes=(NoteParked,))
def park_note(book: Book, command: NotePark, _: BookContext) -> Decision:
    """Record that the condition of a note cannot be checked; to have found that again is no fact."""
    note = find_note(book, command.id)
    if nothing := _why_not(note, command.since):
        return Decision(ok=True, text=nothing)
    if note.code:
        return Decision(ok=True, text=f"Nothing to do: {note.id} is parked.")
    event = NoteParked(note=note.id, code=command.code, reason=checked_reason(command.reason))
    return Decision(ok=True, text=f"{note.id} is parked.", events=(event,))


@command(NoteTranslate, on=Book, sent_by=SWEEPER, writes=(NoteTranslated,))
def translate_note(book: Book, command: NoteTranslate, _: BookContext) -> Decision:
    """Record the condition that the words of a note were translated into, or why there is none, once."""
    note = find_note(book, command.id)
    if note.status == "dismissed":
        return Decision(ok=True, text=f"Nothing to do: {note.id} is dismissed.")
    if note.since != command.since or not note.condition or note.asked is None:
        return Decision(ok=True, text=f"Nothing to do: {note.id} waits for something else by now.")
    if isinstance(note.waits_for, MergeCondition) and not note.waits_for.into:
        return _with_branch(note, note.waits_for, command.condition)
    if note.waits_for is not None or note.translated:
        return Decision(ok=True, text=f"Nothing to do: the words of {note.id} were translated.")
    if not command.condition:
        reason = checked_reason(command.reason) or NO_KIND
        event = NoteTranslated(note=note.id, reason=reason)
        return Decision(ok=True, text=f"Nothing looks whether the condition of {note.id} is met.", events=(event,))
    try:
        found = condition_in(command.condition, note.condition, note.asked)
    except BadCondition as error:
        raise Refusal(str(error)) from error
    zone = command.zone[:LONGEST_ZONE] if isinstance(found, DateCondition) and command.zone.isprintable() else ""
    event = NoteTranslated(note=note.id, waits_for=encode_condition(found), zone=zone)
    return Decision(ok=True, text=f"{note.id} is announced once {words_of(found, zone)}.", events=(event,))


def _with_branch(note: Note, condition: MergeCondition, text: str) -> Decision:
    """Record the branch that git has as the default one. It is all that may be added to what the note waits for."""
    try:
        found = condition_of(text)
    except BadCondition as error:
        raise Refusal(str(error)) from error
    if not isinstance(found, MergeCondition) or found.branch != condition.branch or not found.into:
        raise Refusal(
            f"{note.id} waits for the merge of {condition.branch}, and only the other branch is added to that"
        )
    event = NoteTranslated(note=note.id, waits_for=encode_condition(found))
    return Decision(ok=True, text=f"{note.id} is announced once {words_of(found)}.", events=(event,))


def _why_not(note: Note, since: int) -> str:
    """The reason why nothing is to be recorded of a look at this condition; empty: something is."""
    if note.status == "dismissed":
        return f"Nothing to do: {note.id} is dismissed."
    if note.waits_for is None or note.since != since:
        return f"Nothing to do: {note.id} waits for something else by now."
    return f"Nothing to do: {note.id} is ready." if note.readied else ""


def _given(condition: str | Mapping[str, object]) -> GivenCondition:
    """A condition as somebody gives it. Raises `Refusal` with the right form."""
    try:
        found = condition_of(condition)
    except BadCondition as error:
        raise Refusal(str(error)) from error
    if found is not None:
        return GivenCondition(words_of(found), encode_condition(found))
    words = str(condition)
    return GivenCondition(checked_text(words, "condition") if words.strip() else "", "")


def _own(book: Book, name: str, context: BookContext) -> Note:
    """The note. Raises `Refusal` for one of another session, unless a person asks, or it was announced to all."""
    note = find_note(book, name)
    is_everybodys = not note.session or note.announced > 0
    if not is_everybodys and note.session != context.session and context.trust != "person":
        raise Refusal(f"{note.id} is a note of another session, and only that one or a person may change it")
    return note
