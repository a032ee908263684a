"""The model calls of a session: the newest two, and what the harness has changed between them."""

from datetime import datetime

import msgspec

from schemas.envelope import Envelope
from schemas.events import (
    Event,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    NativeCompacted,
    PartRecorded,
    PartRemoved,
    StepOpened,
)
from services.domain.conversation import Conversation

replace = msgspec.structs.replace

CHANGED = "changed"
"""The reason where no fact names a better one."""


class Calls(msgspec.Struct, frozen=True):
    """The model calls of a session."""

    step: StepOpened | None = None
    """The newest one."""
    at: datetime | None = None
    seq: int = 0
    """Its position."""
    before: StepOpened | None = None
    """The one before it."""
    before_seq: int = 0
    """The position of that; 0: there is none."""
    first_seq: int = 0
    """The position of the very first one."""
    count: int = 0
    """The number of calls."""
    begun_without: bool = False
    """Whether the very first one went out without a plan: nobody answered yet."""
    system: str = ""
    """Digest of the newest system prompt that is known, of the agent and the model in work; empty: not known."""
    system_changed: bool = False
    """Whether the newest call has another system prompt than the one before, as far as is known."""
    reasons: frozenset[str] = frozenset()
    """The reasons why the conversation before the newest call is not what it was at the one before; `coming` collects
    them."""
    coming: frozenset[str] = frozenset()


def call_opened(calls: Calls, event: StepOpened, envelope: Envelope) -> Calls:
    """A model is called."""
    shortened = calls.step is not None and event.unchanged < calls.step.last
    system, system_changed = _system(calls, event)
    return Calls(
        step=event,
        at=envelope.at,
        seq=envelope.seq,
        before=calls.step,
        before_seq=calls.seq,
        first_seq=calls.first_seq or envelope.seq,
        count=calls.count + 1,
        begun_without=calls.begun_without or (calls.count == 1 and event.served == 0),
        system=system,
        system_changed=system_changed,
        reasons=(calls.coming or frozenset({CHANGED})) if shortened else frozenset(),
        coming=frozenset(),
    )


def with_reason(calls: Calls, conversation: Conversation, event: Event) -> Calls:
    """With the reason why what was sent is not what it was, where this event is one."""
    coming = calls.coming | _reasons(calls, conversation, event)
    return calls if coming == calls.coming else replace(calls, coming=coming)


def _reasons(calls: Calls, conversation: Conversation, event: Event) -> frozenset[str]:
    reason = CHANGED
    match event:
        case NativeCompacted():
            return frozenset({"compacted"})
        case MessageRemoved(messages=names, reason=given):
            reason = given
        case MessageListed(messages=names, ordinals=ordinals):
            if calls.step and min(ordinals, default=calls.step.last + 1) <= calls.step.last:
                return frozenset({reason})
        case MessageRecorded(message=name, listed=listed):
            known = conversation.messages.get(name)
            names = [name] if known is not None and known.recorded.listed != listed else []
        case PartRecorded(message=name):
            names = [name]
        case PartRemoved(message=name, part=part):
            names = [name] if part in conversation.parts else []
        case _:
            return frozenset()
    sent = calls.step.last if calls.step else 0
    known_now = [conversation.messages[name] for name in names if name in conversation.messages]
    is_sent = any(message.present and message.ordinal <= sent for message in known_now)
    return frozenset({reason}) if is_sent else frozenset()


def _system(calls: Calls, event: StepOpened) -> tuple[str, bool]:
    """The system prompt now, and whether it is another one.

    A harness may not know it before its agent and model have made a call. Then another agent means another prompt;
    that it becomes known afterwards changes nothing.
    """
    before = calls.step
    other_agent = before is not None and event.agent != before.agent
    other_model = before is not None and (event.provider, event.model) != (before.provider, before.model)
    if not event.system_digest:
        return "" if other_agent or other_model else calls.system, other_agent
    if not calls.system:
        return event.system_digest, other_agent
    return event.system_digest, event.system_digest != calls.system
