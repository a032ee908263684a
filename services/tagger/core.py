"""What the facts are in what a harness saw. No clock, no I/O: content comes in masked, times with the content."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from schemas.envelope import Actor, Envelope
from schemas.events import (
    Event,
    MessageRecorded,
    ModelChanged,
    NativeCompacted,
    PartRemoved,
    SessionClosed,
    SessionForked,
    SessionIdled,
    SessionOpened,
    SessionRenamed,
    StepOpened,
)
from schemas.inbox import (
    AdapterSeen,
    CompactionSeen,
    DocumentSeen,
    ErrorSeen,
    Inbound,
    ListSeen,
    MessageGone,
    MessageSeen,
    PartGone,
    PartSeen,
    Seen,
    SessionIdle,
    SessionReverted,
    SessionSeen,
    StepSeen,
    TodoSeen,
    ToolsSeen,
    UsageSeen,
)
from schemas.inbox import (
    SessionClosed as SessionEnded,
)
from services.kit.conversation import Conversation, Message
from services.tagger.listing import from_message, is_present, listed, removed
from services.tagger.modes import is_helpers, mode_of
from services.tagger.notes import adapter_seen, error_seen, todos_seen, tools_seen, usage_seen
from services.tagger.numbering import MAX_NAMES_PER_EVENT, assignments
from services.tagger.parts import part_seen
from services.tagger.runs import tool_seen
from services.tagger.state import Session, evolve
from services.tagger.use import Use

_NOWHEN = Envelope(
    id="", type="", at=datetime(1970, 1, 1, tzinfo=UTC), project="", session="", actor=Actor("room"), data=msgspec.Raw()
)


class Told(msgspec.Struct, frozen=True):
    """One inbound message with all that deciding on it needs."""

    harness: str
    inbound: Inbound
    origin: Session | None = None
    """The state of the session that this one was copied from, where it says so."""
    sizes: Mapping[str, int] = {}
    """Reference -> UTF-8 bytes, of the bodies that are kept aside."""
    pictures: Mapping[str, int] = {}
    """Reference of a picture that is kept aside -> its estimated tokens."""
    uses: Mapping[str, Use] = {}
    """Reference of a call's arguments that are kept aside -> what the call is about."""
    definitions: Mapping[str, str] = {}
    """Digest of a set of tools -> reference of its definitions, where these are kept aside."""

    @property
    def id(self) -> str:
        return self.inbound.id

    @property
    def at(self) -> datetime:
        return self.inbound.at

    @property
    def actor(self) -> Actor:
        return self.inbound.actor


def decide(session: Session, told: Told) -> list[Event]:
    """The facts that are new in it, in order. What is known already yields nothing."""
    if told.inbound.id in session.told:
        return []
    events: list[Event] = []
    for item in told.inbound.items:
        for event in _facts(session, item, told):
            events.append(event)
            session = evolve(session, event, _NOWHEN)
    return events


def _facts(session: Session, item: Seen, told: Told) -> Sequence[Event]:
    match item:
        case SessionIdle() | ErrorSeen() | CompactionSeen() if told.at < session.since:
            return []  # told again, after a step: it was judged then
        case AdapterSeen():
            return adapter_seen(session, item, told.harness)
        case SessionSeen():
            return _session_seen(session, item, told)
        case SessionIdle():
            return [] if "idle" in session.said else [SessionIdled()]
        case SessionEnded(reason=reason):
            return [] if session.closed else [SessionClosed(reason=reason)]
        case SessionReverted(message=message):
            return removed(from_message(session.talk, message), "reverted")
        case MessageSeen():
            return _message_seen(session, item, told)
        case MessageGone(message=message):
            return removed([message] if is_present(session.talk, message) else [], "deleted")
        case PartSeen():
            return _part_seen(session, item, told)
        case PartGone(part=part):
            gone = session.talk.parts.get(part)
            return [PartRemoved(message=gone.recorded.message, part=part)] if gone else []
        case UsageSeen():
            return usage_seen(session, item)
        case ErrorSeen():
            return error_seen(session, item)
        case CompactionSeen(auto=auto):
            return [] if "compacted" in session.said else [NativeCompacted(last_tag=session.last_number, auto=auto)]
        case TodoSeen():
            return todos_seen(session, item)
        case ToolsSeen():
            return tools_seen(session, item, told.definitions)
        case DocumentSeen():
            return []  # it belongs to the project
        case ListSeen(after=after, messages=messages):
            return listed(session, after, messages, is_last=False)
        case StepSeen():
            return _step_seen(session, item)


def _session_seen(session: Session, item: SessionSeen, told: Told) -> list[Event]:
    if session.opened:
        return [SessionRenamed(title=item.title)] if item.title not in ("", session.title) else []
    opened = SessionOpened(
        harness=told.harness,
        mode=item.mode,
        title=item.title,
        parent=item.parent,
        directory=item.directory,
        agent=item.agent,
        version=item.version,
    )
    return [*_forks(item, told.origin), opened]  # opened last: only then is the copy complete


def _forks(item: SessionSeen, origin: Session | None) -> Iterator[Event]:
    """The numbers that a copy takes over, by content, since a harness may give its copies new ids."""
    if not item.forked_from or origin is None:
        return
    numbered = list(_numbered(origin, item.forked_at))
    for start in range(0, max(1, len(numbered)), MAX_NAMES_PER_EVENT):
        piece = numbered[start : start + MAX_NAMES_PER_EVENT]
        yield SessionForked(
            origin=item.forked_from,
            until=item.forked_at,
            last_tag=origin.last_number,
            tags=[number for number, _ in piece],
            digests=[digest for _, digest in piece],
        )


def _numbered(origin: Session, until: str) -> Iterator[tuple[int, str]]:
    for message in origin.talk.after(0):
        for _, part in origin.talk.sent_parts(message):
            if part.number:
                yield part.number, part.recorded.digest
        if message.recorded.message == until:
            return


def _part_seen(session: Session, item: PartSeen, told: Told) -> list[Event]:
    """The part, and how its call has ended."""
    facts = part_seen(session, item, told.sizes, told.pictures)
    return [*facts, *tool_seen(session, item, told.uses, next(iter(facts), None))]


def _message_seen(session: Session, item: MessageSeen, told: Told) -> list[Event]:
    events: list[Event] = []
    known = session.talk.messages.get(item.message)
    recorded = _recorded(item, known)
    if known is None or known.recorded != recorded:
        events.append(recorded)
        session = evolve(session, recorded, _NOWHEN)
    for index, part in enumerate(item.parts):
        placed = part if part.part or part.position else msgspec.structs.replace(part, position=index)
        for event in _part_seen(session, placed, told):
            events.append(event)
            session = evolve(session, event, _NOWHEN)
    return events


def _recorded(item: MessageSeen, known: Message | None) -> MessageRecorded:
    """The message as it is now. What a later sighting does not say stays."""
    before = known.recorded if known else MessageRecorded(message=item.message, role=item.role)
    return MessageRecorded(
        message=item.message,
        role=item.role,
        sent=item.at or before.sent,
        agent=item.agent or before.agent,
        provider=item.provider or before.provider,
        model=item.model or before.model,
        synthetic=item.synthetic,
        listed=before.listed,
    )


def _step_seen(session: Session, item: StepSeen) -> list[Event]:
    if item.step in session.steps or is_helpers(session, item):
        return []
    events: list[Event] = []
    for decision in (
        lambda now: listed(now, item.after, item.messages, is_last=True),
        assignments,
        lambda now: _model(now, item),
        lambda now: [_opened(now, item)],
    ):
        for event in decision(session):
            events.append(event)
            session = evolve(session, event, _NOWHEN)
    return events


def _model(session: Session, item: StepSeen) -> list[Event]:
    """The model and its limits, where they changed. Limits that are not known now stay what they were."""
    before = session.model
    known = before if before and (before.provider, before.model) == (item.provider, item.model) else None
    now = ModelChanged(
        provider=item.provider,
        model=item.model,
        context_limit=item.context_limit or (known.context_limit if known else 0),
        output_limit=item.output_limit or (known.output_limit if known else 0),
    )
    return [now] if item.model and before != now else []


def _opened(session: Session, item: StepSeen) -> StepOpened:
    return StepOpened(
        step=item.step,
        previous=session.last_step,
        aligned=_is_aligned(session, item),
        kept=_kept(session, item),
        last=_last(session.talk),
        count=session.talk.count,
        served=item.served,
        agent=item.agent,
        mode=mode_of(session, item),
        provider=item.provider,
        model=item.model,
        context_limit=item.context_limit,
        output_limit=item.output_limit,
        capabilities=list(item.capabilities),
        system_digest=item.system_digest,
        toolset=item.toolset,
        denied=list(item.denied),
        variant=item.variant,
    )


def _is_aligned(session: Session, item: StepSeen) -> bool:
    """Whether both sides mean the same list: told whole, or as a difference to the step that is the last one here."""
    if item.count not in (0, session.talk.count):
        return False
    if not item.after:
        return True
    return item.previous in ("", session.last_step) and is_present(session.talk, item.after)


def _kept(session: Session, item: StepSeen) -> int:
    """The ordinal of the last message that was sent before: the teller knows of calls that nobody has heard of here.

    What has changed of the last step is known here, and not to a teller that has just started.
    """
    talk = session.talk
    if talk.unchanged < session.last_sent or not is_present(talk, item.sent):
        return talk.unchanged
    return max(talk.unchanged, talk.messages[item.sent].ordinal)


def _last(talk: Conversation) -> int:
    """Find the highest ordinal in use: near the last one given, since removals are rare."""
    return next((place for place in range(talk.last_ordinal, 0, -1) if place in talk.order), 0)
