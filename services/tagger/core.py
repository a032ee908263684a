"""What the facts are in what a harness saw. No clock, no I/O: content comes in masked, times with the content."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from schemas.envelope import Actor, Envelope
from schemas.events import (
    Event,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    ModelChanged,
    NativeCompacted,
    OverflowDetected,
    PartRecorded,
    PartRemoved,
    SessionClosed,
    SessionForked,
    SessionIdled,
    SessionOpened,
    SessionRenamed,
    StepOpened,
    TagAssigned,
    UsageSampled,
)
from schemas.inbox import (
    CompactionSeen,
    ErrorSeen,
    Inbound,
    Listed,
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
    UsageSeen,
)
from schemas.inbox import (
    SessionClosed as SessionEnded,
)
from services.kit.conversation import Conversation, Message
from services.kit.tokens import tokens
from services.tagger.overflow import is_overflow
from services.tagger.state import Session, evolve, identity

MAX_NAMES_PER_EVENT = 2000
MAX_ERROR_CHARACTERS = 240

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
        case SessionSeen():
            return _session_seen(session, item, told)
        case SessionIdle():
            return [] if "idle" in session.said else [SessionIdled()]
        case SessionEnded(reason=reason):
            return [] if session.closed else [SessionClosed(reason=reason)]
        case SessionReverted(message=message):
            return _removed(_from(session.talk, message), "reverted")
        case MessageSeen():
            return _message_seen(session, item, told.sizes)
        case MessageGone(message=message):
            return _removed([message] if _is_present(session.talk, message) else [], "deleted")
        case PartSeen():
            return _part_seen(session, item, told.sizes)
        case PartGone(part=part):
            gone = session.talk.parts.get(part)
            return [PartRemoved(message=gone.recorded.message, part=part)] if gone else []
        case UsageSeen():
            return _usage_seen(session, item)
        case ErrorSeen():
            return _error_seen(session, item)
        case CompactionSeen():
            return [] if "compacted" in session.said else [NativeCompacted(last_tag=session.last_number)]
        case ListSeen(after=after, messages=messages):
            return _listed(session, after, messages, is_last=False)
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
    return [opened, *_forks(item, told.origin)]


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


def _message_seen(session: Session, item: MessageSeen, sizes: Mapping[str, int]) -> list[Event]:
    events: list[Event] = []
    known = session.talk.messages.get(item.message)
    recorded = _recorded(item, known)
    if known is None or known.recorded != recorded:
        events.append(recorded)
        session = evolve(session, recorded, _NOWHEN)
    for index, part in enumerate(item.parts):
        placed = part if part.part or part.position else msgspec.structs.replace(part, position=index)
        for event in _part_seen(session, placed, sizes):
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


def _part_seen(session: Session, item: PartSeen, sizes: Mapping[str, int]) -> list[Event]:
    if item.ephemeral:
        return []
    name = part_name(item)
    digest = content_digest(item)
    known = session.talk.parts.get(name)
    if known is not None and known.recorded.digest == digest and known.recorded.message == item.message:
        return []
    is_answer = item.type in ("tool", "tool_result")
    content, reference = (item.output, item.output_ref) if is_answer else (item.text, item.text_ref)
    size = sizes.get(reference, len(content.encode()))
    input_size = sizes.get(item.input_ref, len(item.input.encode()))
    return [
        PartRecorded(
            message=item.message,
            part=name,
            kind=item.type,
            position=item.position,
            tool=item.tool,
            call=item.call,
            owner=_owner(session, item, name),
            status=item.status or ("completed" if item.type == "tool_result" else ""),
            mime=item.mime,
            signed=item.signed,
            ignored=item.ignored,
            synthetic=item.synthetic,
            bytes=size,
            input_bytes=input_size,
            tokens=0 if item.ignored else tokens(size + input_size),
            digest=digest,
            text=item.text,
            input=item.input,
            output=item.output,
            text_ref=item.text_ref,
            input_ref=item.input_ref,
            output_ref=item.output_ref,
        )
    ]


def part_name(item: PartSeen) -> str:
    """The harness's id of a part, or one made of its message and its index in the full list of parts."""
    if item.part:
        return item.part
    return f"{item.message}:{'file' if item.type == 'file' else 'p'}{item.position}"


def content_digest(item: PartSeen) -> str:
    """Digest of what the harness holds in a part: two parts with the same are the same to a model."""
    fields = (
        item.type, item.text, item.tool, item.input, item.output, item.status, item.mime,
        item.text_ref, item.input_ref, item.output_ref, str(item.signed), str(item.ignored),
    )  # fmt: skip
    return hashlib.blake2b("\0".join(fields).encode(), digest_size=8).hexdigest()


def _owner(session: Session, item: PartSeen, name: str) -> str:
    """The message that made a tool call. A part that holds call and result belongs to its own message."""
    if item.type in ("tool", "tool_call"):
        return item.message
    if item.type != "tool_result":
        return ""
    known = session.talk.parts.get(name)
    if known is not None:
        return known.recorded.owner
    unanswered = (owner for owner in session.calls.get(item.call, ()) if not _is_gone(session.talk, owner))
    return next(unanswered, "") or _nearest_owner(session, item)


def _nearest_owner(session: Session, item: PartSeen) -> str:
    """For a result whose call is not seen any more: the last earlier message that made it.

    Of two that were sent at once it is the one with the smaller id.
    """
    here = _sent(session.talk, item.message)
    times = {owner: _sent(session.talk, owner) for owner in session.owners.get(item.call, ())}
    earlier = [(made, owner) for owner, made in times.items() if made is not None and here is not None and made < here]
    newest = max((made for made, _ in earlier), default=None)
    return min((owner for made, owner in earlier if made == newest), default=item.message)


def _sent(talk: Conversation, message: str) -> datetime | None:
    known = talk.messages.get(message)
    return known.recorded.sent if known else None


def _usage_seen(session: Session, item: UsageSeen) -> list[Event]:
    sample = UsageSampled(
        message=item.message,
        input=item.input,
        output=item.output,
        reasoning=item.reasoning,
        cache_read=item.cache_read,
        cache_write=item.cache_write,
    )
    counted = sample.input + sample.cache_read + sample.cache_write
    return [sample] if counted > 0 and session.usage.get(item.message) != sample else []


def _error_seen(session: Session, item: ErrorSeen) -> list[Event]:
    """Note an overflow. A harness may tell one refusal twice: as the session's error and as the answer's."""
    event = OverflowDetected(message=item.message, text=item.text[:MAX_ERROR_CHARACTERS])
    return [event] if is_overflow(item.text) and event.text not in session.said else []


def _removed(messages: Sequence[str], reason: str) -> list[Event]:
    return [MessageRemoved(messages=list(messages), reason=reason)] if messages else []


def _from(talk: Conversation, message: str) -> list[str]:
    """List this message and all behind it."""
    known = talk.messages.get(message)
    if known is None or not known.present:
        return []
    return [behind.recorded.message for behind in talk.after(known.ordinal - 1)]


def _listed(session: Session, after: str, messages: Sequence[Listed], *, is_last: bool) -> list[Event]:
    """Make the conversation behind `after` this list: those left out are removed, new ones get their places.

    What stands behind a piece that is not the last one stays as it was: the pieces to come tell of it.
    """
    talk = session.talk
    if after and not _is_present(talk, after):
        return []
    start = talk.messages[after].ordinal if after else 0
    places = _places(talk, start, messages)
    end = talk.last_ordinal if is_last else max(places.values(), default=0)
    left_out = [
        message.recorded.message
        for message in talk.after(start)
        if message.ordinal <= end and message.recorded.message not in places
    ]
    return [*_removed(left_out, "unlisted"), *_placed(talk, places), *_parts_listed(talk, messages)]


def _places(talk: Conversation, place: int, messages: Sequence[Listed]) -> dict[str, int]:
    """Where each message of a list stands: where it stood, if that is behind the one before it, else at the end."""
    last = talk.last_ordinal
    places: dict[str, int] = {}
    for listed in messages:
        known = talk.messages.get(listed.message)
        if known is not None and known.ordinal > place:
            place = known.ordinal
        else:
            place = last = last + 1
        places[listed.message] = place
    return places


def _placed(talk: Conversation, places: Mapping[str, int]) -> Iterator[Event]:
    """Places for messages that have none, lost theirs, or stand elsewhere now."""
    names = [name for name, place in places.items() if talk.order.get(place) != name]
    for start in range(0, len(names), MAX_NAMES_PER_EVENT):
        piece = names[start : start + MAX_NAMES_PER_EVENT]
        yield MessageListed(messages=piece, ordinals=[places[name] for name in piece])


def _parts_listed(talk: Conversation, messages: Sequence[Listed]) -> Iterator[Event]:
    """Where a harness sends other parts of a message than those that are known, or in another order."""
    for listed in messages:
        known = talk.messages.get(listed.message)
        if known is None:
            continue
        parts = [part for part in listed.parts if part in talk.parts]
        exceptions = [] if tuple(parts) == known.parts or not listed.parts else parts
        if exceptions != known.recorded.listed:
            yield msgspec.structs.replace(known.recorded, listed=exceptions)


def _step_seen(session: Session, item: StepSeen) -> list[Event]:
    if item.step in session.steps:
        return []
    events: list[Event] = []
    for decision in (
        lambda now: _listed(now, item.after, item.messages, is_last=True),
        _assignments,
        lambda now: _model(now, item),
        lambda now: [_opened(now, item)],
    ):
        for event in decision(session):
            events.append(event)
            session = evolve(session, event, _NOWHEN)
    return events


def _assignments(session: Session) -> Iterator[Event]:
    """Numbers for the parts that are sent for the first time, in the order they stand."""
    numbers = _numbers(session)
    run: list[str] = []
    first = 0
    for name, number in numbers:
        if run and (number != first + len(run) or len(run) == MAX_NAMES_PER_EVENT):
            yield _assigned(session, first, run)
            run = []
        if not run:
            first = number
        run.append(name)
    if run:
        yield _assigned(session, first, run)


def _assigned(session: Session, first: int, names: list[str]) -> TagAssigned:
    parts = [session.talk.parts[name].recorded for name in names]
    return TagAssigned(
        first=first,
        parts=list(names),
        messages=[part.owner or part.message for part in parts],
        kinds=[{"text": "message", "file": "file"}.get(part.kind, "tool") for part in parts],
    )


def _numbers(session: Session) -> list[tuple[str, int]]:
    """Each part that waits for its number, with it: the one it had, the one it inherits, or the next."""
    taken: dict[str, int] = {}
    spent: dict[str, int] = {}
    last = session.last_number
    numbered = []
    for name in _sent_in_order(session):
        part = session.talk.parts[name].recorded
        key = identity(part)
        number = session.numbers.get(key) or taken.get(key)
        if number is None:
            heirs = session.inherited.get(part.digest, ())[spent.get(part.digest, 0) :]
            spent[part.digest] = spent.get(part.digest, 0) + 1
            last = last if heirs else last + 1
            number = heirs[0] if heirs else last
        taken[key] = number
        numbered.append((name, number))
    return numbered


def _sent_in_order(session: Session) -> list[str]:
    """The waiting parts that are sent now: by message, then by place in it."""
    places = []
    for name in session.waiting:
        message = session.talk.messages.get(session.talk.parts[name].recorded.message)
        if message is not None and message.present and name in message.sent:
            places.append((message.ordinal, message.sent.index(name), name))
    return [name for _, _, name in sorted(places)]


def _model(session: Session, item: StepSeen) -> list[Event]:
    now = ModelChanged(
        provider=item.provider,
        model=item.model,
        context_limit=item.context_limit,
        output_limit=item.output_limit,
    )
    return [now] if item.model and session.model != now else []


def _opened(session: Session, item: StepSeen) -> StepOpened:
    return StepOpened(
        step=item.step,
        previous=session.last_step,
        aligned=_is_aligned(session, item),
        kept=session.talk.unchanged,
        last=_last(session.talk),
        count=session.talk.count,
        served=item.served,
        agent=item.agent,
        mode=item.mode,
        provider=item.provider,
        model=item.model,
        context_limit=item.context_limit,
        output_limit=item.output_limit,
        capabilities=list(item.capabilities),
        system_digest=item.system_digest,
    )


def _is_aligned(session: Session, item: StepSeen) -> bool:
    """Whether both sides mean the same list: told whole, or as a difference to the step that is the last one here."""
    if item.count not in (0, session.talk.count):
        return False
    if not item.after:
        return True
    return item.previous in ("", session.last_step) and _is_present(session.talk, item.after)


def _is_present(talk: Conversation, message: str) -> bool:
    known = talk.messages.get(message)
    return known is not None and known.present


def _is_gone(talk: Conversation, message: str) -> bool:
    """Whether it was part of the conversation and is not any more."""
    known = talk.messages.get(message)
    return known is not None and known.ordinal > 0 and not known.present


def _last(talk: Conversation) -> int:
    """Find the highest ordinal in use: near the last one given, since removals are rare."""
    return next((place for place in range(talk.last_ordinal, 0, -1) if place in talk.order), 0)
