"""The scope of an erasure: facts, memories, notes and texts; and what a record is without them.

Of a fact that goes as a whole its position, id, type, moment and cause stay. It has the version `ERASED`, which no
release writes: every release passes over a version that it does not know.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from schemas.codec import Malformed, decode_edits, decode_envelope, decode_event, encode
from schemas.envelope import Actor, Envelope
from schemas.events import (
    AliasAdded,
    AliasProposed,
    AliasRemoved,
    Event,
    HintDecided,
    MemoryArchived,
    MemoryDivided,
    MemoryJudged,
    MemoryMerged,
    MemoryProposed,
    MemoryRestored,
    MemoryRevised,
    MemoryVerified,
    MemoryWritten,
    NoteDismissed,
    NoteParked,
    NoteReadied,
    NoteTranslated,
    NoteUpdated,
    NoteWritten,
    PlanExtended,
    PlanRebased,
    ProfileBound,
    ProfileObserved,
    QuestionAnswered,
    QuestionPut,
    QuestionWithdrawn,
    TaskAnswered,
)
from schemas.plan import AnyEdit, target
from schemas.subjects import Address, BadSubject, parse_inbound, parse_log
from services.domain.erasure.facts import Structural, rewritten
from services.domain.erasure.secret import MASK, Masks

ERASED = 2**31 - 1
"""The version of a fact of which nothing but its position, id, type, moment and cause is left."""
DERIVED = frozenset({"memory", "plan", "hint", "question"})
"""Nouns of facts that show texts of sessions and memories elsewhere than where they were written."""

replace = msgspec.structs.replace
_Reasoned = TypeVar("_Reasoned", MemoryProposed, MemoryArchived, MemoryRestored, MemoryVerified)


class ErasureScope(msgspec.Struct, frozen=True):
    """The scope of an erasure."""

    masks: Masks = {}
    """Texts that are masked wherever they occur."""
    derived: Masks = {}
    """Texts that go out of memories, hints and prompts alone: elsewhere somebody else may have written the same."""
    in_notices: Masks = {}
    """Beginnings of texts that go, as notices in prompts show them: elsewhere other texts may begin alike."""
    sessions: frozenset[Address] = frozenset()
    """The sessions of which all facts go."""
    session_ids: frozenset[str] = frozenset()
    """The ids of `sessions`, under which other facts and messages name them."""
    projects: frozenset[str] = frozenset()
    """The projects of which all facts go, with all their sessions."""
    memories: frozenset[tuple[str, str]] = frozenset()
    """Memories of which the texts go, each by its project and its id."""
    to_archive: frozenset[tuple[str, str]] = frozenset()
    """Those of them that are to be archived."""
    notes: frozenset[tuple[str, str]] = frozenset()
    """Notes of which all facts go, each by its project and its id."""
    questions: frozenset[tuple[str, str]] = frozenset()
    """Questions for models of which the texts go, each by its project and its id."""
    quoted: frozenset[str] = frozenset()
    """Messages, compartments, notes and memories that go: what hints of other sessions quote of them goes, too."""
    in_prompts: Mapping[Address, Masks] = {}
    """Texts that go and that prompts of these sessions show: of these prompts alone."""

    def covers(self, address: Address) -> bool:
        """Whether all facts of an address go."""
        return address.project in self.projects or address in self.sessions

    def covers_message(self, subject: str) -> bool:
        """Whether a message that came on this subject goes as a whole: of a harness, or of the log."""
        try:
            _, address = parse_inbound(subject)
        except BadSubject:
            place = place_of(subject)
            return place is not None and self.covers(place.address)
        return address.project in self.projects or address.session in self.session_ids

    @property
    def names(self) -> tuple[str, ...]:
        """Ids by which tables name what goes."""
        return tuple(sorted(self.session_ids | self.projects))


class RecordPlace(NamedTuple):
    """The address of a record of the log."""

    address: Address
    event_type: str

    @property
    def noun(self) -> str:
        return self.event_type.partition(".")[0]


def place_of(subject: str) -> RecordPlace | None:
    """The place of a record; none where its subject is none of the log."""
    try:
        return RecordPlace(*parse_log(subject))
    except BadSubject:
        return None


class Rewriting:
    """The rewriting of each record of a log. Applied to its own result, it changes nothing."""

    def __init__(self, scope: ErasureScope, renamed: Mapping[bytes, bytes] | None = None) -> None:
        """`renamed`: the names of long bodies, by those that they had. More may be added to it."""
        self._scope = scope
        self._renamed = renamed if renamed is not None else {}
        self._derived = _together(scope.masks, scope.derived)
        self._in_plans = _together(self._derived, scope.in_notices)
        self._in_prompts = {address: _together(self._in_plans, masks) for address, masks in scope.in_prompts.items()}

    def masks_at(self, place: RecordPlace | None) -> Masks:
        """The texts that go out of a fact there."""
        if place is None or place.noun not in DERIVED:
            return self._scope.masks
        return self._in_prompts.get(place.address, self._in_plans if place.noun == "plan" else self._derived)

    def __call__(self, subject: str, data: bytes) -> tuple[str, bytes]:
        """The subject and the data of a record without what is erased. Raises `Structural`."""
        place = place_of(subject)
        if place is not None:
            if self._scope.covers(place.address):
                return subject, emptied(data)
            if place.noun in _READ:
                data = self._without(place, data)
        return rewritten(subject, data, self.masks_at(place), self._renamed)

    def changes(self, subject: str, data: bytes) -> bool:
        """Whether a record holds what is erased."""
        try:
            return self(subject, data) != (subject, data)
        except Structural:
            return True

    def _without(self, place: RecordPlace, data: bytes) -> bytes:
        """A fact without its fields that hold what is erased."""
        try:
            envelope = decode_envelope(data)
            event = decode_event(envelope)
        except Malformed:
            return data
        if event is None:
            return data
        if self._goes(place.address.project, event):
            return emptied(data)
        after = self._event(place.address.project, event)
        if after is event:
            return data
        answer = MASK if envelope.answer and place.noun == "memory" else envelope.answer
        return encode(replace(envelope, data=msgspec.Raw(encode(after)), answer=answer))

    def _goes(self, project: str, event: Event) -> bool:
        """Whether a fact goes as a whole, although its address stays."""
        match event:
            case (
                NoteWritten(note=name)
                | NoteUpdated(note=name)
                | NoteTranslated(note=name)
                | NoteReadied(note=name)
                | NoteParked(note=name)
                | NoteDismissed(note=name)
            ):
                return (project, name) in self._scope.notes
            case AliasAdded() | AliasProposed() | AliasRemoved():
                return not self._scope.projects.isdisjoint((event.alias, event.leads_to))
            case ProfileBound() | ProfileObserved():
                return self._scope.covers(Address(event.origin_project, event.origin))
            case _:
                return False

    def _event(self, project: str, event: Event) -> Event:
        """The event without its texts that are erased; the very same where there are none."""
        scope = self._scope
        match event:
            case MemoryWritten() | MemoryProposed() | MemoryRevised() | MemoryMerged():
                is_erased = (project, event.memory) in scope.memories and event.text != MASK
                event = replace(event, text=MASK) if is_erased else event
                if is_erased and isinstance(event, MemoryProposed):
                    event = replace(event, parts=[MASK] * len(event.parts))
                return self._without_reason(project, event) if isinstance(event, MemoryProposed) else event
            case MemoryDivided(parts=parts, texts=texts):
                goes = [(project, part) in scope.memories for part in parts]
                clean = [MASK if is_gone else text for is_gone, text in zip(goes, texts, strict=False)]
                return replace(event, texts=clean) if clean != texts else event
            case MemoryArchived():
                return self._without_reason(project, event)
            case MemoryRestored():
                return self._without_reason(project, event)
            case MemoryVerified():
                return self._without_reason(project, event)
            case MemoryJudged(preview=preview) if preview:
                is_erased = (project, event.memory) in scope.memories or event.origin in scope.session_ids
                return replace(event, preview="") if is_erased else event
            case PlanExtended() | PlanRebased():
                is_erased = event.predecessor in scope.session_ids
                empty = {"predecessor": "", "left_open": [], "left_open_in": [], "left_open_at": []}
                return replace(event, **empty) if is_erased else event
            case QuestionPut() if self._asks_of_it(project, event) and (event.system or event.prompt):
                return replace(event, system="", prompt="")
            case QuestionAnswered() if self._asks_of_it(project, event) and (event.text or _is_sentence(event.failure)):
                return replace(event, text="", failure=MASK if _is_sentence(event.failure) else event.failure)
            case QuestionWithdrawn(question=name, reason=reason) if _is_sentence(reason):
                return replace(event, reason=MASK) if (project, name) in scope.questions else event
            case TaskAnswered(answer=answer) if answer and self._may_quote(project):
                return replace(event, answer="")
            case HintDecided(ids=ids, texts=texts) if not scope.quoted.isdisjoint(ids):
                clean = [MASK if name in scope.quoted else text for name, text in zip(ids, texts, strict=False)]
                return replace(event, texts=clean) if clean != texts else event
            case _:
                return event

    def _asks_of_it(self, project: str, event: QuestionPut | QuestionAnswered) -> bool:
        return event.origin in self._scope.session_ids or (project, event.question) in self._scope.questions

    def _may_quote(self, project: str) -> bool:
        """Whether an answer to the dreamer may have words of what goes: it is about memories and notes of a project."""
        return any(project == one for one, _ in (*self._scope.memories, *self._scope.notes))

    def _without_reason(self, project: str, event: _Reasoned) -> _Reasoned:
        """A fact of a memory that goes without the sentence in which somebody says why: it may quote the memory."""
        is_erased = (project, event.memory) in self._scope.memories and _is_sentence(event.reason)
        return replace(event, reason=MASK) if is_erased else event


def _is_sentence(text: str) -> bool:
    """Whether it is more than a word of the language, on which rules may depend."""
    return " " in text


_READ = frozenset({"memory", "plan", "hint", "note", "alias", "question", "profile", "task"})
"""Nouns of facts of which fields are looked at one by one."""


def emptied(data: bytes) -> bytes:
    """The rest of a fact that goes as a whole; of a record that is no fact, an empty object."""
    try:
        envelope = decode_envelope(data)
    except Malformed:
        return b"{}"
    if envelope.v == ERASED:
        return data
    left = Envelope(
        envelope.id,
        envelope.type,
        envelope.at,
        envelope.project,
        envelope.session,
        Actor(envelope.actor.kind),
        msgspec.Raw(b"{}"),
        v=ERASED,
        cause=envelope.cause,
        last=envelope.last,
    )
    return encode(left)


def _together(first: Masks, second: Masks) -> Masks:
    if not first or not second:
        return first or second
    return dict(sorted({**first, **second}.items(), key=lambda pair: -len(pair[0])))


class MaskedPrompts:
    """The prompts whose edits in force showed what is erased: their sessions are rebased once, if plans are readable.

    It follows the plans of a log, record by record, as they are and as they become.
    """

    def __init__(self) -> None:
        self._masked: dict[Address, dict[str, None]] = {}
        self._unread: dict[Address, None] = {}

    def add(self, subject: str, before: bytes, after: bytes) -> None:
        """A record with its data before the erasure and after it, in the order of the log."""
        place = place_of(subject)
        if place is None or place.noun != "plan":
            return
        if before == after and place.address not in self._masked:
            return
        edits_before, edits_after = _edits(before), _edits(after)
        if edits_before is None or edits_after is None:
            if before != after:
                self._unread[place.address] = None
            return
        in_force = self._masked.setdefault(place.address, {})
        for was, now in zip(edits_before, edits_after, strict=False):
            in_force.pop(str(target(was)), None)
            if was != now:
                in_force[str(target(now))] = None

    @property
    def targets(self) -> Mapping[Address, Sequence[str]]:
        """Targets of the edits in force that have masks now, by the session of their plan."""
        return {address: [*targets] for address, targets in self._masked.items() if targets}

    @property
    def unread(self) -> Sequence[Address]:
        """Sessions with a plan that showed it and cannot be read: no rebase is due, since no edit is known that did."""
        return [*self._unread]


def _edits(data: bytes) -> tuple[AnyEdit, ...] | None:
    """The edits of a plan, without those of one that was erased as a whole; None where it cannot be read."""
    try:
        envelope = decode_envelope(data)
        if envelope.v == ERASED:
            return ()
        event = decode_event(envelope)
        return decode_edits(event.edits) if isinstance(event, PlanExtended | PlanRebased) else None
    except (Malformed, ValueError):
        return None
