"""The tagger's state of a session, folded from its own facts."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from datetime import UTC, datetime

import msgspec

from schemas.envelope import Envelope
from schemas.events import (
    AdapterConnected,
    CallFailed,
    Event,
    FileTouched,
    MessageRecorded,
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
    SignatureRefused,
    StepOpened,
    TagAssigned,
    TodoCaptured,
    ToolRan,
    ToolsetChanged,
    UsageSampled,
)
from services.domain import conversation, window
from services.domain.conversation import Conversation
from services.domain.fold import Map
from services.domain.tools.request import Request, request_of
from services.domain.window import Learned

replace = msgspec.structs.replace

IDLE, COMPACTED = "idle", "compacted"
"""Reports of a harness without an id of their own, apart from the refusals of a provider."""


class TaggedSession(msgspec.Struct, frozen=True):
    """One session's conversation and numbering."""

    opened: bool = False
    closed: bool = False
    title: str = ""
    directory: str = ""
    parent: str = ""
    mode: str = ""
    """The mode that it works in; empty: no step of its own was reported."""
    adapters: frozenset[AdapterConnected] = frozenset()
    conversation: Conversation = Conversation()
    numbers: Map[str, int] = Map()
    """Identity -> number, for ever."""
    inherited: Map[str, tuple[int, ...]] = Map()
    """Content -> numbers taken over from the session that this one was copied from."""
    last_inherited: int = 0
    places: tuple[int, ...] = ()
    """Ordinals that copied messages keep: the first and the last of each run."""
    calls: Map[str, tuple[str, ...]] = Map()
    """Call id -> messages that made such a call and have no result yet, oldest first."""
    owners: Map[str, tuple[str, ...]] = Map()
    """Call id -> all messages that ever made such a call, oldest first."""
    requests: Map[str, Request] = Map()
    """Calls whose results come in other parts, by call id and message: what they are about."""
    runs: Map[str, ToolRan] = Map()
    """Part -> how its call ended."""
    touched: Map[str, None] = Map()
    """Parts with the paths that they touched."""
    todos: TodoCaptured = TodoCaptured(contents=[], statuses=[], priorities=[])
    toolset: str = ""
    """Digest of the set of tools that holds."""
    waiting: Map[str, None] = Map()
    """Parts that may be numbered and are not yet."""
    usage: Map[str, UsageSampled] = Map()
    steps: Map[str, None] = Map()
    last_step: str = ""
    last_sent: int = 0
    """The ordinal of the last message of that step."""
    model: ModelChanged | None = None
    learned: Learned = Learned()
    """The limits of models that it has learned, and the model in work."""
    reported: frozenset[str] = frozenset()
    """The reports since the last step that have no id of their own: idle, compacted, the texts of refusals."""
    since: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    """The newest time at which something of this was forgotten."""
    all_reported: Map[str, None] = Map()
    """All that was ever reported so, by the second of its report."""

    @property
    def last_number(self) -> int:
        return max(self.conversation.last_number, self.last_inherited)

    def is_repeated(self, what: str, at: datetime) -> bool:
        """Whether a report without an id is repeated after a step.

        Its time alone is not enough: the clock of a harness may have run ahead and gone back since. It is a repetition
        only if it was reported with that time, or right before: a harness may report one thing twice.
        """
        second = int(at.timestamp())
        return at < self.since and any(report_key(what, one) in self.all_reported for one in (second - 1, second))


def evolve(session: TaggedSession, event: Event, envelope: Envelope) -> TaggedSession:
    before = session.conversation
    session = replace(
        session,
        conversation=conversation.evolve(before, event, envelope),
        learned=window.evolve(session.learned, event),
    )
    match event:
        case PartRecorded():
            return _with_part(session, event, is_new=event.part not in before.parts)
        case TagAssigned():
            return _tags_assigned(session, event)
        case StepOpened(step=step, last=last, mode=mode):
            return replace(
                session,
                mode=session.mode if mode == "hidden" else mode,
                steps=session.steps.insert(step, None),
                last_step=step,
                last_sent=last,
                reported=frozenset(),
                since=max(session.since, envelope.at),
            )
        case UsageSampled(message=message):
            return replace(session, usage=session.usage.insert(message, event))
        case PartRemoved(part=part):
            gone = before.parts.get(part)
            return _without_part(session, gone.recorded) if gone else session
        case MessageRecorded():
            return replace(session, reported=session.reported - {IDLE}, since=max(session.since, envelope.at))
        case SessionIdled():
            return _with_report(session, IDLE, envelope.at)
        case NativeCompacted():
            return _with_report(session, COMPACTED, envelope.at)
        case OverflowDetected(text=text) | SignatureRefused(text=text):
            return replace(session, reported=session.reported | {text})
        case CallFailed():
            return _with_report(session, refusal(event), envelope.at)
        case ToolRan(part=part):
            return replace(session, runs=session.runs.insert(part, event))
        case FileTouched(part=part, path=path):
            return replace(session, touched=session.touched.insert(touch_key(part, path), None))
        case TodoCaptured():
            return replace(session, todos=event)
        case ToolsetChanged(digest=digest):
            return replace(session, toolset=digest)
        case AdapterConnected():
            return replace(session, adapters=session.adapters | {event})
        case ModelChanged():
            return replace(session, model=event)
        case SessionOpened(title=title, directory=directory, parent=parent):
            return replace(session, opened=True, title=title, directory=directory, parent=parent)
        case SessionRenamed(title=title):
            return replace(session, title=title)
        case SessionClosed():
            return replace(session, closed=True)
        case SessionForked():
            return _forked(session, event)
        case _:
            return session


def _with_report(session: TaggedSession, what: str, at: datetime) -> TaggedSession:
    all_reported = session.all_reported.insert(report_key(what, int(at.timestamp())), None)
    return replace(session, reported=session.reported | {what}, all_reported=all_reported)


def _forked(session: TaggedSession, event: SessionForked) -> TaggedSession:
    inherited = session.inherited
    for number, digest in zip(event.tags, event.digests, strict=True):
        heirs = inherited.get(digest, ())
        if number not in heirs:
            inherited = inherited.insert(digest, (*heirs, number))
    return replace(
        session,
        inherited=inherited,
        last_inherited=max(session.last_inherited, event.last_tag),
        places=(*session.places, *event.places),
    )


def _with_part(session: TaggedSession, event: PartRecorded, *, is_new: bool) -> TaggedSession:
    """Enter a part among those that wait for a number and, if it is new, in the books of calls."""
    if not session.conversation.parts[event.part].number:
        waiting = session.waiting.discard(event.part)
        session = replace(session, waiting=waiting.insert(event.part, None) if _taggable(event) else waiting)
    if event.kind == "tool_call":
        about = request_of(event.tool, event.input)
        session = replace(session, requests=session.requests.insert(call_key(event.call, event.owner), about))
    if not is_new or not event.call:
        return session
    made = session.owners.get(event.call, ())
    unanswered = session.calls.get(event.call, ())
    match event.kind:
        case "tool" | "tool_call" if event.owner not in made:
            session = replace(session, owners=session.owners.insert(event.call, (*made, event.owner)))
            if event.kind == "tool":
                return session
            return replace(session, calls=session.calls.insert(event.call, (*unanswered, event.owner)))
        case "tool_result" if event.owner in unanswered:
            return replace(session, calls=session.calls.insert(event.call, _without(unanswered, event.owner)))
        case _:
            return session


def _without_part(session: TaggedSession, gone: PartRecorded) -> TaggedSession:
    """Take a part out of the books: a call without an answer was never made, one whose answer is gone has none."""
    session = replace(session, waiting=session.waiting.discard(gone.part))
    made = session.owners.get(gone.call, ())
    unanswered = session.calls.get(gone.call, ())
    match gone.kind:
        case "tool_call" if gone.owner in unanswered:
            return replace(
                session,
                owners=session.owners.insert(gone.call, _without(made, gone.owner)),
                calls=session.calls.insert(gone.call, _without(unanswered, gone.owner)),
            )
        case "tool_result" if gone.owner in made:
            return replace(session, calls=session.calls.insert(gone.call, (gone.owner, *unanswered)))
        case _:
            return session


def _without(owners: tuple[str, ...], owner: str) -> tuple[str, ...]:
    return tuple(other for other in owners if other != owner)


def _taggable(event: PartRecorded) -> bool:
    if event.ignored:
        return False
    match event.kind:
        case "text":
            return event.bytes > 0 and not event.text.isspace()
        case "file":
            return True
        case "tool" | "tool_result":
            return event.status == "completed"
        case _:
            return False


def _tags_assigned(session: TaggedSession, event: TagAssigned) -> TaggedSession:
    numbers, waiting, inherited = session.numbers, session.waiting, session.inherited
    for number, name in enumerate(event.parts, event.first):
        part = session.conversation.parts.get(name)
        if part is None:
            continue
        waiting = waiting.discard(name)
        key = identity(part.recorded)
        known = numbers.get(key, number)
        if known != number and are_sent_together(session.conversation, session.conversation.numbered.get(known), name):
            key = f"part:{name}"
        numbers = numbers.insert(key, number)
        left = inherited.get(part.recorded.digest, ())
        if number in left:
            inherited = inherited.insert(part.recorded.digest, tuple(other for other in left if other != number))
    return replace(session, numbers=numbers, waiting=waiting, inherited=inherited)


def identity(part: PartRecorded) -> str:
    """The key by which a part is recognised: of a tool use its call and who made it, else its id."""
    if part.call and part.kind in ("tool", "tool_result"):
        return f"call:{part.call}\0{part.owner}"
    return f"part:{part.part}"


def are_sent_together(conversation: Conversation, one: str | None, other: str) -> bool:
    """Whether two parts are sent in one message: then they are two, even if their calls have the same id."""
    if one is None or one == other:
        return False
    first, second = conversation.parts.get(one), conversation.parts.get(other)
    if first is None or second is None or first.recorded.message != second.recorded.message:
        return False
    message = conversation.messages.get(first.recorded.message)
    return message is not None and one in message.sent and other in message.sent


def call_key(call: str, owner: str) -> str:
    return f"{call}\0{owner}"


def touch_key(part: str, path: str) -> str:
    return f"{part}\0{path}"


def report_key(what: str, second: int) -> str:
    return f"{second}\0{what}"


def refusal(failed: CallFailed) -> str:
    """The key by which a refusal is recognised: its kind and its words."""
    return f"{failed.name}\0{failed.text}"
