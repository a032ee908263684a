"""What the responder holds of a session in work: conversation, wishes, usage, and the plan as served."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TypeVar

import msgspec

from schemas.codec import decode_edits
from schemas.envelope import Envelope
from schemas.events import (
    DropRequested,
    Event,
    FlushRequested,
    HistoryFailed,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    NativeCompacted,
    OverflowDetected,
    PartRecorded,
    PartRemoved,
    PlanExtended,
    PlanRebased,
    SessionForked,
    StepOpened,
    TagAssigned,
    UsageSampled,
)
from schemas.plan import (
    AnyEdit,
    AppendText,
    CutBefore,
    InsertPair,
    OmitArc,
    OmitPart,
    PrefixText,
    ReplaceOutput,
    ReplaceText,
    Restore,
    Revision,
    SetHead,
    Withdraw,
    target,
)
from services.kit import conversation, window
from services.kit.conversation import Conversation, Message, is_written, precedes
from services.kit.fold import Map
from services.kit.history import book
from services.kit.history.book import History
from services.kit.tokens import tokens
from services.kit.window import Learned
from services.responder.notes import Notes, noted
from services.responder.reclaim import Reclaim, reclaimed
from services.responder.uses import Uses, used

replace = msgspec.structs.replace
V = TypeVar("V")


class Session(msgspec.Struct, frozen=True):
    """A session at one position of the log."""

    talk: Conversation = Conversation()
    seq: int = 0
    step: StepOpened | None = None
    """The newest model call."""
    step_at: datetime | None = None
    step_seq: int = 0
    """Its position."""
    before: StepOpened | None = None
    """The one before it."""
    before_seq: int = 0
    """The position of that; 0: there is none."""
    system: str = ""
    """Digest of the newest system prompt that is known, of the agent and the model in work; empty: not known."""
    system_changed: bool = False
    """Whether the newest step has another system prompt than the one before, as far as anybody can tell."""
    planned: str = ""
    """The step that the newest revision was made for."""
    revision: int = 0
    revisions: Map[int, Revision] = Map()
    edits: Map[str, AnyEdit] = Map()
    """Target -> the edit in force."""
    altered: Map[str, AnyEdit] = Map()
    """Part -> the edit in force, of those that do more than to show a tag."""
    bare: Map[str, int] = Map()
    """Parts with a tag and without any edit -> their tag."""
    omitted: Map[str, str] = Map()
    """Part -> the part that names the tool arc with which it is left out."""
    saved: int = 0
    """Estimated tokens that the edits in force save of what is part of the conversation now."""
    added: int = 0
    """Estimated tokens that the edits in force add: heads, appended texts, inserted calls."""
    queued: Map[int, int] = Map()
    """Tag -> position of the wish to drop it, until it is served."""
    dropped: Map[int, None] = Map()
    compacted: int = 0
    """Tags up to this one were summarised away by the harness."""
    flush: int = 0
    """Position of a flush that was not served yet."""
    rebased_step: str = ""
    """The step that the newest rebase was made for."""
    rebased_at: datetime | None = None
    """When the newest rebase was made: the call with it has written the provider's cache anew."""
    usage: UsageSampled | None = None
    usage_at: datetime | None = None
    latched: str = ""
    """The usage sample that triggered a rebase already."""
    reasons: frozenset[str] = frozenset()
    """Why the conversation before the newest step is not what it was at the step before; `coming` collects them."""
    coming: frozenset[str] = frozenset()
    origin: str = ""
    """The session that this one was copied from."""
    steps: int = 0
    """Model calls so far."""
    held: frozenset[str] = frozenset()
    """Causes of rebases that had to wait for the end of a turn with signed thinking."""
    declined: int = 0
    """Tokens of the prompt at which a rebase under pressure was last found not to pay."""
    overflow: int = 0
    """Position of a refusal because of length that nothing was done about yet."""
    learned: Learned = Learned()
    uses: Uses = Uses()
    reclaim: Reclaim = Reclaim()
    turn: int = 0
    """Ordinal of the newest message that a person wrote."""
    signed: int = 0
    """Ordinal of the newest message with signed thinking."""
    notes: Notes = Notes()
    history: History = History()
    """What is compressed of it."""
    failed: HistoryFailed | None = None
    """Why history could not be compressed, where that has come since the newest step ..."""
    failing: HistoryFailed | None = None
    """... or between it and the step before."""

    @property
    def cut(self) -> int:
        """Ordinal of the first message that is not cut away; 0: nothing is, or that message is listed no more."""
        edit = self.edits.get("cut")
        first = self.talk.messages.get(edit.message) if isinstance(edit, CutBefore) else None
        return first.ordinal if first is not None and first.present else 0


def evolve(session: Session, event: Event, envelope: Envelope) -> Session:
    after = _evolved(session, event, envelope)
    counts = reclaimed(session, after, event)
    return after if counts is after.reclaim else replace(after, reclaim=counts)


def _evolved(session: Session, event: Event, envelope: Envelope) -> Session:
    talk = conversation.evolve(session.talk, event, envelope)
    before = session
    session = replace(
        session,
        talk=talk,
        seq=max(session.seq, envelope.seq),
        coming=_reasons(session, event),
        notes=noted(session.notes, event),
        learned=window.evolve(session.learned, event),
        uses=used(session.uses, event),
        history=book.evolve(session.history, event, envelope.seq),
    )
    affected = _affected(before, session, event)
    if affected:
        session = replace(session, saved=session.saved + _saving(session, affected) - _saving(before, affected))
    match event:
        case PartRecorded():
            return _part_recorded(session, event)
        case MessageListed():
            return _listed(session, event)
        case TagAssigned(first=first, parts=names):
            bare = session.bare
            for number, name in enumerate(names, first):
                if f"part:{name}" not in session.edits:
                    bare = bare.insert(name, number)
            return replace(session, bare=bare)
        case StepOpened():
            return _step_opened(session, event, envelope)
        case PlanExtended() | PlanRebased():
            return _planned(session, event, envelope)
        case UsageSampled():
            return _usage_sampled(session, event, envelope)
        case SessionForked(origin=origin):
            return replace(session, origin=origin)
        case OverflowDetected():
            return replace(session, overflow=envelope.seq)
        case DropRequested(tags=tags):
            queued = session.queued
            for number in tags:
                if number not in session.dropped:
                    queued = queued.insert(number, envelope.seq)
            return replace(session, queued=queued, declined=0)
        case FlushRequested():
            return replace(session, flush=envelope.seq)
        case HistoryFailed():
            return replace(session, failed=event)
        case NativeCompacted(last_tag=last):
            return replace(session, compacted=max(session.compacted, last), queued=Map())
        case _:
            return session


def _reasons(session: Session, event: Event) -> frozenset[str]:
    """Why what was sent is not what it was, with this event's part in it."""
    reason = "changed"
    match event:
        case NativeCompacted():
            return session.coming | {"compacted"}
        case MessageRemoved(messages=names, reason=given):
            reason = given
        case MessageListed(messages=names, ordinals=ordinals):
            if session.step and min(ordinals, default=session.step.last + 1) <= session.step.last:
                return session.coming | {reason}
        case MessageRecorded(message=name, listed=listed):
            known = session.talk.messages.get(name)
            names = [name] if known is not None and known.recorded.listed != listed else []
        case PartRecorded(message=name):
            names = [name]
        case PartRemoved(message=name, part=part):
            names = [name] if part in session.talk.parts else []
        case _:
            return session.coming
    sent = session.step.last if session.step else 0
    known_now = [session.talk.messages[name] for name in names if name in session.talk.messages]
    if any(message.present and message.ordinal <= sent for message in known_now):
        return session.coming | {reason}
    return session.coming


def _affected(before: Session, after: Session, event: Event) -> Iterable[str]:
    """The parts whose edits may save more or less than before this event."""
    match event:
        case PartRecorded(part=part) | PartRemoved(part=part):
            return (part,)
        case MessageListed(messages=names) | MessageRemoved(messages=names):
            known = [after.talk.messages[name] for name in names if name in after.talk.messages]
            told = [part for message in known for part in message.parts]
            return dict.fromkeys([*told, *_moved_over(before, after)])
        case _:
            return ()


def _moved_over(before: Session, after: Session) -> Iterator[str]:
    """The parts of the messages that stand on the other side of the cut than they stood."""
    first, last = sorted((before.cut, after.cut))
    for ordinal in range(first, last):
        message = after.talk.messages.get(after.talk.order.get(ordinal, ""))
        yield from message.parts if message else ()


def _saving(session: Session, parts: Iterable[str]) -> int:
    """Estimated tokens that the edits in force save of these parts."""
    talk, cut, saved = session.talk, session.cut, 0
    for name in parts:
        place = talk.place(name)
        saved += _saving_of(session, talk.parts[name].recorded, is_cut=place < cut) if place else _unsent(session, name)
    return saved


def _unsent(session: Session, name: str) -> int:
    """Tokens that edits would add to a part that is not sent: to its end, and behind its message if it is the first."""
    known = session.talk.parts.get(name)
    message = session.talk.messages.get(known.recorded.message) if known else None
    is_first = message is not None and message.parts[:1] == (name,)
    pair = session.edits.get(f"pair:{known.recorded.message}") if known and is_first else None
    return _adds(session.edits.get(f"append:{name}")) + _adds(pair)


def _saving_of(session: Session, part: PartRecorded, *, is_cut: bool) -> int:
    """What they save of a part that is part of the conversation. `is_cut`: it is cut away, with what was added."""
    if is_cut:
        return part.tokens + _unsent(session, part.part)
    if part.part in session.omitted or f"message:{part.message}" in session.edits:
        return part.tokens
    match session.edits.get(f"part:{part.part}"):
        case PrefixText(text=text):
            size = part.bytes + part.input_bytes
            return tokens(size) - tokens(len(text.encode()) + size)
        case ReplaceText(text=text) | ReplaceOutput(text=text):
            return part.tokens - tokens(len(text.encode()) + part.input_bytes)
        case OmitPart():
            return part.tokens
        case _:
            return 0


def served_tokens(session: Session) -> int:
    """What the prompt costs under the edits in force, as estimated."""
    return max(0, session.talk.tokens - session.saved + session.added)


def cost(session: Session, messages: Iterable[Message]) -> int:
    """What these messages cost, which are listed and not cut away. All of them, with the heads, make up the prompt."""
    edits, parts, whole = session.edits, session.talk.parts, 0
    for message in messages:
        whole += message.tokens + _adds(edits.get(f"pair:{message.recorded.message}"))
        for name in message.parts:
            whole += _adds(edits.get(f"append:{name}")) - _saving_of(session, parts[name].recorded, is_cut=False)
    return whole


def heads(session: Session) -> int:
    """What the messages at the head cost."""
    return sum(_adds(session.edits.get(f"head:{slot}")) for slot in (0, 1))


def with_edits(session: Session, made: Iterable[AnyEdit]) -> Session:
    """The session with these edits in force, and what all edits save and add then."""
    edits: dict[str, AnyEdit | None] = {}
    omitted: dict[str, str | None] = {}
    altered: dict[str, AnyEdit | None] = {}
    bare: dict[str, int | None] = {}
    affected: dict[str, None] = {}
    added = session.added
    for edit in made:
        key = target(edit)
        kind, _, name = key.partition(":")
        before = edits[key] if key in edits else session.edits.get(key)
        now = None if isinstance(edit, Restore | Withdraw) else edit
        edits[key] = now
        if kind != "part":
            added += _adds(now) - _adds(before)
            affected |= dict.fromkeys(_parts_of(session, kind, name))
            continue
        affected[name] = None
        altered[name] = None if isinstance(now, PrefixText) else now
        known = session.talk.parts.get(name) if now is None else None
        bare[name] = (known.number or None) if known is not None else None
        for arc in (before, now):
            if isinstance(arc, OmitArc):
                affected |= dict.fromkeys(arc.parts)
                omitted |= dict.fromkeys(arc.parts, arc.part if arc is now else None)
    after = replace(
        session,
        edits=_with(session.edits, edits),
        omitted=_with(session.omitted, omitted),
        added=added,
        altered=_with(session.altered, altered),
        bare=_with(session.bare, bare),
    )
    affected |= dict.fromkeys(_moved_over(session, after))
    return replace(after, saved=session.saved + _gain(session, after, affected))


def _with(known: Map[str, V], changes: Mapping[str, V | None]) -> Map[str, V]:
    """The map with these entries; without those of which nothing is left."""
    for key, value in changes.items():
        if value is None:
            known = known.discard(key)
    return known.update({key: value for key, value in changes.items() if value is not None})


def _gain(before: Session, after: Session, parts: Iterable[str]) -> int:
    """Estimated tokens that the edits of `after` save of these parts, and those of `before` do not."""
    talk, cut_before, cut_after, gain = after.talk, before.cut, after.cut, 0
    for name in parts:
        known = talk.parts.get(name)
        message = talk.messages.get(known.recorded.message) if known is not None else None
        if known is not None and message is not None and message.present:
            gain += _saving_of(after, known.recorded, is_cut=message.ordinal < cut_after)
            gain -= _saving_of(before, known.recorded, is_cut=message.ordinal < cut_before)
        else:
            gain += _unsent(after, name) - _unsent(before, name)
    return gain


def _parts_of(session: Session, kind: str, name: str) -> Iterable[str]:
    """The parts that an edit with this target is about, which is not one of a part's own content."""
    if kind == "append":
        return (name,)
    message = session.talk.messages.get(name) if kind in ("message", "pair") else None
    return message.parts if message else ()


def _adds(edit: AnyEdit | None) -> int:
    match edit:
        case SetHead(text=text) | AppendText(text=text):
            return tokens(len(text.encode()))
        case InsertPair(input=given, output=output):
            return tokens(len(given.encode()) + len(output.encode()))
        case _:
            return 0


def _usage_sampled(session: Session, event: UsageSampled, envelope: Envelope) -> Session:
    """A late sample of an older answer never replaces that of a newer one."""
    if session.usage is not None and precedes(session.talk, event.message, session.usage.message):
        return session
    return replace(session, usage=event, usage_at=envelope.at, overflow=0)


def _part_recorded(session: Session, event: PartRecorded) -> Session:
    message = session.talk.messages[event.message]
    if not message.present:
        return session
    if event.signed:
        session = replace(session, signed=max(session.signed, message.ordinal))
    if message.recorded.role == "user" and is_written(event):
        session = replace(session, turn=max(session.turn, message.ordinal))
    return session


def _listed(session: Session, event: MessageListed) -> Session:
    turn, signed = session.turn, session.signed
    for name, ordinal in zip(event.messages, event.ordinals, strict=True):
        message = session.talk.messages[name]
        parts = [session.talk.parts[part].recorded for part in message.parts if part in session.talk.parts]
        if message.recorded.role == "user" and any(is_written(part) for part in parts):
            turn = max(turn, ordinal)
        if any(part.signed for part in parts):
            signed = max(signed, ordinal)
    return replace(session, turn=turn, signed=signed)


def _step_opened(session: Session, event: StepOpened, envelope: Envelope) -> Session:
    shortened = session.step is not None and event.kept < session.step.last
    system, system_changed = _system(session, event)
    return replace(
        session,
        system=system,
        system_changed=system_changed,
        before=session.step,
        failing=session.failed,
        failed=None,
        step=event,
        step_at=envelope.at,
        step_seq=envelope.seq,
        before_seq=session.step_seq,
        steps=session.steps + 1,
        reasons=(session.coming or frozenset({"changed"})) if shortened else frozenset(),
        coming=frozenset(),
    )


def _history_waits(session: Session) -> bool:
    """Whether other compartments are in force than those that are served."""
    head, history = session.edits.get("head:1"), session.history
    served = head.by if isinstance(head, SetHead) else ()
    return served != tuple(history.positions.get(one.compartment, 0) for one in history.sealed)


def _system(session: Session, event: StepOpened) -> tuple[str, bool]:
    """The system prompt now, and whether it is another one.

    A harness may not know it before its agent and model have made a call. Then another agent means another prompt;
    that it becomes known afterwards changes nothing.
    """
    before = session.step
    other_agent = before is not None and event.agent != before.agent
    other_model = before is not None and (event.provider, event.model) != (before.provider, before.model)
    if not event.system_digest:
        return "" if other_agent or other_model else session.system, other_agent
    if not session.system:
        return event.system_digest, other_agent
    return event.system_digest, event.system_digest != session.system


def _planned(session: Session, event: PlanExtended | PlanRebased, envelope: Envelope) -> Session:
    """Enter a revision. Facts that came after its decision (`as_of`) may have been read already: they stand."""
    made = decode_edits(event.edits)
    causes = tuple(event.causes) if isinstance(event, PlanRebased) else ()
    revision = Revision(event.revision, made, causes)
    session = replace(
        with_edits(session, made),
        planned=event.step,
        revision=event.revision,
        revisions=session.revisions.insert(event.revision, revision),
    )
    if isinstance(event, PlanExtended):
        return _waiting(session, event)
    queued, dropped = session.queued, session.dropped
    for number in event.dropped:
        queued = queued.discard(number)
        dropped = dropped.insert(number, None)
    return replace(
        session,
        queued=queued,
        dropped=dropped,
        flush=session.flush if session.flush > event.as_of else 0,
        rebased_step=event.step,
        rebased_at=envelope.at,
        latched=event.sample or session.latched,
        held=frozenset(),
        declined=0,
        overflow=session.overflow if session.overflow > event.as_of else 0,
    )


def _waiting(session: Session, event: PlanExtended) -> Session:
    """Enter what an extension says of the rebase that was not made."""
    dropped = session.dropped
    for number in event.inherited:
        dropped = dropped.insert(number, None)
    is_stuck = "overflow" in event.held and session.overflow <= event.as_of
    more_waits = any(seq > event.as_of for seq in session.queued.values())
    is_flushed = session.flush <= event.as_of and not session.queued and not _history_waits(session)
    return replace(
        session,
        dropped=dropped,
        flush=0 if is_flushed else session.flush,
        held=session.held | (set(event.held) - {"overflow"}),
        overflow=0 if is_stuck else session.overflow,
        declined=0 if event.declined and more_waits else (event.declined or session.declined),
    )
