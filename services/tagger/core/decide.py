"""Makes facts of a harness's reports. No clock, no I/O: content comes in masked, times with the content."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain

import msgspec

from schemas.envelope import Actor
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
from services.domain.conversation import Conversation, Message
from services.domain.draft import Draft
from services.domain.ranges import runs
from services.domain.senders import SUBAGENT, is_of_subagent, reported
from services.domain.tools.request import Request
from services.tagger.core.listing import from_message, is_present, listed, removed
from services.tagger.core.numbering import MAX_NAMES_PER_EVENT, assignments
from services.tagger.core.parts import part_seen, tool_seen
from services.tagger.core.signals import adapter_seen, error_seen, failed_call, todos_seen, tools_seen, usage_seen
from services.tagger.core.state import COMPACTED, IDLE, TaggedSession, refusal

MANAGED = frozenset({"primary", "reduce_off"})
"""The modes of sessions that a person leads."""


class InboundContext(msgspec.Struct, frozen=True):
    """One inbound message with all that deciding on it needs."""

    harness: str
    inbound: Inbound
    origin: TaggedSession | None = None
    """The state of the session that this one was copied from, where it reports that."""
    sizes: Mapping[str, int] = {}
    """Reference -> UTF-8 bytes, of the bodies that are in the bucket."""
    files: Mapping[str, int] = {}
    """Reference of a file that is in the bucket -> its estimated tokens."""
    requests: Mapping[str, Request] = {}
    """Reference of a call's arguments that are in the bucket -> what the call is about."""
    definitions: Mapping[str, str] = {}
    """Digest of a set of tools -> reference of its definitions, where these are in the bucket."""

    @property
    def id(self) -> str:
        return self.inbound.id

    @property
    def at(self) -> datetime:
        return self.inbound.at

    @property
    def actor(self) -> Actor:
        return reported(self.inbound.actor)


def decide(draft: Draft[TaggedSession], context: InboundContext) -> None:
    """Record the facts that are new in a message, in order. What is known already yields nothing."""
    for item in context.inbound.items:
        match item:
            case MessageSeen():
                _message_seen(draft, item, context)
            case StepSeen():
                _step_seen(draft, item)
            case _:
                draft.record(*_facts(draft.state, item, context))


def _facts(session: TaggedSession, item: Seen, context: InboundContext) -> Sequence[Event]:
    match item:
        case SessionIdle() | ErrorSeen() | CompactionSeen() if session.is_repeated(_named(item), context.at):
            return []  # it was judged before
        case AdapterSeen():
            return adapter_seen(session, item, context.harness)
        case SessionSeen():
            return _session_seen(session, item, context)
        case SessionIdle():
            return _idled(session)
        case SessionEnded(reason=reason):
            return _closed(session, reason)
        case SessionReverted(message=message):
            return removed(from_message(session.conversation, message), "reverted")
        case MessageGone(message=message):
            return removed([message] if is_present(session.conversation, message) else [], "deleted")
        case PartSeen():
            return _part_seen(session, item, context)
        case PartGone(part=part):
            return _part_gone(session.conversation, part)
        case UsageSeen():
            return usage_seen(session, item)
        case ErrorSeen():
            return error_seen(session, item)
        case CompactionSeen():
            return _compacted(session, item)
        case TodoSeen():
            return todos_seen(session, item)
        case ToolsSeen():
            return tools_seen(session, item, context.definitions)
        case DocumentSeen():
            return []  # it belongs to the project
        case ListSeen(after=after, messages=messages):
            return listed(session, after, messages, is_last=False)
        case _:
            raise TypeError(f"no rule for {item!r}")


def _named(item: SessionIdle | ErrorSeen | CompactionSeen) -> str:
    """The name under which a report without an id is the same one again."""
    match item:
        case ErrorSeen():
            return refusal(failed_call(item))
        case CompactionSeen():
            return COMPACTED
        case SessionIdle():
            return IDLE


def _idled(session: TaggedSession) -> list[SessionIdled]:
    return [] if IDLE in session.reported else [SessionIdled()]


def _closed(session: TaggedSession, reason: str) -> list[SessionClosed]:
    return [] if session.closed else [SessionClosed(reason=reason)]


def _compacted(session: TaggedSession, item: CompactionSeen) -> list[NativeCompacted]:
    compacted = NativeCompacted(last_tag=session.last_number, auto=item.auto, summary=item.summary)
    return [] if COMPACTED in session.reported else [compacted]


def _part_gone(conversation: Conversation, part: str) -> list[PartRemoved]:
    gone = conversation.parts.get(part)
    return [PartRemoved(message=gone.recorded.message, part=part)] if gone else []


def _session_seen(
    session: TaggedSession, item: SessionSeen, context: InboundContext
) -> list[SessionOpened | SessionForked | SessionRenamed]:
    if session.opened:
        return [SessionRenamed(title=item.title)] if item.title not in ("", session.title) else []
    opened = SessionOpened(
        harness=context.harness,
        mode=item.mode,
        title=item.title,
        parent=item.parent,
        directory=item.directory,
        agent=item.agent,
        version=item.version,
    )
    return [*_forks(item, context.origin), opened]  # opened last: only then is the copy complete


def _forks(item: SessionSeen, origin: TaggedSession | None) -> Iterator[SessionForked]:
    """The facts that a copy takes over: numbers by content, since a harness may give copies new ids, and places."""
    if not item.forked_from or origin is None:
        return
    copied = list(_copied(origin.conversation, item.forked_at))
    numbered = [
        (part.number, part.recorded.digest)
        for message in copied
        for _, part in origin.conversation.sent_parts(message)
        if part.number
    ]
    for start in range(0, max(1, len(numbered)), MAX_NAMES_PER_EVENT):
        piece = numbered[start : start + MAX_NAMES_PER_EVENT]
        yield SessionForked(
            origin=item.forked_from,
            until=item.forked_at,
            last_tag=origin.last_number,
            tags=[number for number, _ in piece],
            digests=[digest for _, digest in piece],
            places=[] if start else [*chain(*runs(message.ordinal for message in copied))],
        )


def _copied(conversation: Conversation, until: str) -> Iterator[Message]:
    """The messages that were sent of the origin, up to the last one that was copied."""
    for message in conversation.after(0):
        yield message
        if message.recorded.message == until:
            return


def _part_seen(session: TaggedSession, item: PartSeen, context: InboundContext) -> list[Event]:
    """The part, and how its call has ended."""
    facts = part_seen(session, item, context.sizes, context.files)
    return [*facts, *tool_seen(session, item, context.requests, next(iter(facts), None))]


def _message_seen(draft: Draft[TaggedSession], item: MessageSeen, context: InboundContext) -> None:
    known = draft.state.conversation.messages.get(item.message)
    recorded = _recorded(item, known)
    if known is None or known.recorded != recorded:
        draft.record(recorded)
    for index, part in enumerate(item.parts):
        placed = part if part.part or part.position else msgspec.structs.replace(part, position=index)
        draft.record(*_part_seen(draft.state, placed, context))


def _recorded(item: MessageSeen, known: Message | None) -> MessageRecorded:
    """The message as it is now. What a later report leaves out stays."""
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


def _step_seen(draft: Draft[TaggedSession], item: StepSeen) -> None:
    if item.step in draft.state.steps or _is_of_helper(draft.state, item):
        return
    draft.record(*listed(draft.state, item.after, item.messages, is_last=True))
    draft.record(*assignments(draft.state))
    draft.record(*_model(draft.state, item))
    draft.record(_opened(draft.state, item))


def _model(session: TaggedSession, item: StepSeen) -> list[ModelChanged]:
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


def _opened(session: TaggedSession, item: StepSeen) -> StepOpened:
    return StepOpened(
        step=item.step,
        previous=session.last_step,
        aligned=_is_aligned(session, item),
        unchanged=_unchanged(session, item),
        last=_last(session.conversation),
        count=session.conversation.count,
        served=item.served,
        agent=item.agent,
        mode=_mode_of(session, item),
        provider=item.provider,
        model=item.model,
        context_limit=item.context_limit,
        output_limit=item.output_limit,
        capabilities=list(item.capabilities),
        system_digest=item.system_digest,
        toolset=item.toolset,
        denied=list(item.denied),
        variant=item.variant,
        compacts=item.compacts,
    )


def _is_aligned(session: TaggedSession, item: StepSeen) -> bool:
    """Whether both sides mean the same list: reported whole, or as a difference to the last step that is known here."""
    if item.count not in (0, session.conversation.count):
        return False
    if not item.after:
        return True
    return item.previous in ("", session.last_step) and is_present(session.conversation, item.after)


def _unchanged(session: TaggedSession, item: StepSeen) -> int:
    """The ordinal of the last message that was sent before: the harness knows of calls that were never reported here.

    What has changed of the last step is known here, and not to an adapter that has just started.
    """
    conversation = session.conversation
    if conversation.unchanged < session.last_sent or not is_present(conversation, item.sent):
        return conversation.unchanged
    return max(conversation.unchanged, conversation.messages[item.sent].ordinal)


def _last(conversation: Conversation) -> int:
    """Find the highest ordinal in use: near the last one given, since removals are rare."""
    return next((place for place in range(conversation.last_ordinal, 0, -1) if place in conversation.order), 0)


def _mode_of(session: TaggedSession, item: StepSeen) -> str:
    """The mode of this step: a session keeps its first one, since what a model sees depends on it.

    That an agent has started the session may be reported later, and changes it once.
    """
    mode = session.mode or item.mode
    if mode in MANAGED and is_of_subagent(session.parent, item.mode):
        return SUBAGENT
    return mode


def _is_of_helper(session: TaggedSession, item: StepSeen) -> bool:
    """Whether it is a helper's call in a session that works: none of that session's own steps."""
    return item.mode == "hidden" and session.mode != ""
