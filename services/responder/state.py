"""What the responder holds of a session that is being worked in: conversation, wishes, usage, and the plan as served."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from datetime import datetime

import msgspec

from schemas.codec import decode_edits
from schemas.envelope import Envelope
from schemas.events import (
    DropRequested,
    Event,
    FlushRequested,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    NativeCompacted,
    PartRecorded,
    PartRemoved,
    PlanExtended,
    PlanRebased,
    StepOpened,
    UsageSampled,
)
from schemas.plan import AnyEdit, Restore, Revision, target
from services.kit import conversation
from services.kit.conversation import Conversation
from services.kit.fold import Map

replace = msgspec.structs.replace


class Session(msgspec.Struct, frozen=True):
    """A session at one position of the log."""

    talk: Conversation = Conversation()
    seq: int = 0
    step: StepOpened | None = None
    """The newest model call."""
    step_at: datetime | None = None
    before: StepOpened | None = None
    """The one before it."""
    planned: str = ""
    """The step that the newest revision was made for."""
    revision: int = 0
    revisions: Map[int, Revision] = Map()
    edits: Map[str, AnyEdit] = Map()
    """Target -> the edit in force."""
    saved: int = 0
    """Estimated tokens that the edits in force save."""
    queued: Map[int, int] = Map()
    """Tag -> position of the wish to drop it, until it is served."""
    dropped: Map[int, None] = Map()
    compacted: int = 0
    """Tags up to this one were summarised away by the harness."""
    flush: int = 0
    """Position of a flush that was not served yet."""
    usage: UsageSampled | None = None
    usage_at: datetime | None = None
    latched: str = ""
    """The usage sample that triggered a rebase already."""
    reasons: frozenset[str] = frozenset()
    """Why the conversation before the newest step is not what it was at the step before; `coming` collects them."""
    coming: frozenset[str] = frozenset()
    turn: int = 0
    """Ordinal of the newest message that a person wrote."""
    signed: int = 0
    """Ordinal of the newest message with signed thinking."""


def evolve(session: Session, event: Event, envelope: Envelope) -> Session:
    talk = conversation.evolve(session.talk, event, envelope)
    session = replace(session, talk=talk, seq=max(session.seq, envelope.seq))
    match event:
        case PartRecorded():
            return _part_recorded(session, event)
        case MessageListed():
            return _listed(session, event)
        case StepOpened():
            return _step_opened(session, event, envelope)
        case PlanExtended() | PlanRebased():
            return _planned(session, event)
        case UsageSampled():
            return replace(session, usage=event, usage_at=envelope.at)
        case DropRequested(tags=tags):
            queued = session.queued
            for number in tags:
                queued = queued.insert(number, envelope.seq)
            return replace(session, queued=queued)
        case FlushRequested():
            return replace(session, flush=envelope.seq)
        case MessageRemoved(reason=reason):
            return _with_reason(session, reason)
        case PartRemoved() | MessageRecorded():
            return _with_reason(session, "changed")
        case NativeCompacted(last_tag=last):
            return replace(_with_reason(session, "compacted"), compacted=max(session.compacted, last), queued=Map())
        case _:
            return session


def _with_reason(session: Session, reason: str) -> Session:
    return replace(session, coming=session.coming | {reason})


def _part_recorded(session: Session, event: PartRecorded) -> Session:
    message = session.talk.messages[event.message]
    if event.signed and message.present:
        session = replace(session, signed=max(session.signed, message.ordinal))
    return _with_reason(session, "changed") if message.present else session


def _listed(session: Session, event: MessageListed) -> Session:
    turn, signed = session.turn, session.signed
    for name, ordinal in zip(event.messages, event.ordinals, strict=True):
        message = session.talk.messages[name]
        parts = [session.talk.parts[part].recorded for part in message.parts if part in session.talk.parts]
        if message.recorded.role == "user" and any(_is_written(part) for part in parts):
            turn = max(turn, ordinal)
        if any(part.signed for part in parts):
            signed = max(signed, ordinal)
    return replace(session, turn=turn, signed=signed)


def _is_written(part: PartRecorded) -> bool:
    """Whether a person wrote it."""
    return part.kind == "text" and not part.ignored and not part.synthetic and part.bytes > 0


def _step_opened(session: Session, event: StepOpened, envelope: Envelope) -> Session:
    shortened = session.step is not None and event.kept < session.step.last
    return replace(
        session,
        before=session.step,
        step=event,
        step_at=envelope.at,
        reasons=(session.coming or frozenset({"changed"})) if shortened else frozenset(),
        coming=frozenset(),
        flush=session.flush if session.queued else 0,
    )


def _planned(session: Session, event: PlanExtended | PlanRebased) -> Session:
    edits = session.edits
    made = decode_edits(event.edits)
    for edit in made:
        edits = edits.discard(target(edit)) if isinstance(edit, Restore) else edits.insert(target(edit), edit)
    causes = tuple(event.causes) if isinstance(event, PlanRebased) else ()
    revision = Revision(event.revision, made, causes)
    session = replace(
        session,
        edits=edits,
        planned=event.step,
        revision=event.revision,
        revisions=session.revisions.insert(event.revision, revision),
        saved=event.tokens_before - event.tokens_after if isinstance(event, PlanExtended) else session.saved,
    )
    if isinstance(event, PlanExtended):
        return session
    queued, dropped = session.queued, session.dropped
    for number in event.dropped:
        queued = queued.discard(number)
        dropped = dropped.insert(number, None)
    return replace(
        session,
        queued=queued,
        dropped=dropped,
        flush=0,
        reasons=frozenset(),
        latched=event.sample or session.latched,
        saved=session.talk.tokens - event.tokens_after,
    )
