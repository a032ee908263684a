"""Turns: the conversation from its end, and where in it a person speaks."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

import msgspec

from schemas.plan import AppendText
from services.domain.conversation import Conversation, Message, Part
from services.plan.lanes.base import View
from services.plan.session.state import Session

_REDUCE = "ctxreduce"


def backwards(conversation: Conversation, ordinal: int) -> Iterator[Message]:
    """The messages before this ordinal, the newest first."""
    for place in range(ordinal - 1, 0, -1):
        name = conversation.order.get(place)
        if name is not None:
            yield conversation.messages[name]


def text_of_person(session: Session, message: Message) -> str:
    """The first text of a message that a person wrote; empty: there is none."""
    if message.recorded.role != "user":
        return ""
    for name, part in session.conversation.sent_parts(message):
        recorded = part.recorded
        if recorded.kind == "text" and recorded.bytes and not recorded.ignored and not recorded.synthetic:
            return name
    return ""


def newest_written(session: Session, fresh: Sequence[Message]) -> tuple[Message, str] | None:
    """The newest message of a person among these, and its text."""
    return next(((message, part) for message in reversed(fresh) if (part := text_of_person(session, message))), None)


def has_reduced(session: Session, message: Message) -> bool:
    """Whether the agent named in it what may be dropped."""
    return any(is_reduce(part.recorded.tool) for _, part in session.conversation.sent_parts(message))


@lru_cache(maxsize=1024)
def is_reduce(tool: str) -> bool:
    """Harnesses put the name of a server before that of the tool, and write both in their own way."""
    return tool.lower().replace("_", "").replace("-", "").endswith(_REDUCE)


def unsent(session: Session, fresh: Sequence[Message]) -> tuple[Message, str] | None:
    """The newest message, if a person wrote it and no call has sent it before, and its text."""
    if not fresh or was_sent(session, fresh[-1]):
        return None
    part = text_of_person(session, fresh[-1])
    return (fresh[-1], part) if part else None


def was_sent(session: Session, message: Message) -> bool:
    """Whether an earlier call has sent it, even if it is sent anew: parts get their tags when they are first sent."""
    tagged = [part.tag_seq for _, part in session.conversation.sent_parts(message) if part.number]
    return not tagged or min(tagged) <= session.calls.before_seq


def appended(session: Session, part: str, text: str, mark: str) -> tuple[AppendText, ...]:
    """The edit that appends a text, if there is a text to append and none was appended there before."""
    if not text or part in session.plan.ends:
        return ()
    return (AppendText(part=part, text=text, by=(session.conversation.parts[part].seq,), lane=mark),)


NOTHING_OLD = 0


class Ages(msgspec.Struct, frozen=True):
    """The age limits of one rebase: what is old enough to be touched."""

    first_protected: int
    """The lowest of the newest tags, which no lane touches of its own accord; 0: all tags are among them."""
    going: AbstractSet[int] = frozenset()
    """Tags whose drop was asked for, and is served by this very rebase."""

    def is_old(self, number: int) -> bool:
        return 0 < number < self.first_protected

    def is_going(self, number: int) -> bool:
        """Whether the drop of this tag is served by this very rebase."""
        return number in self.going


def ages(view: View) -> Ages:
    session, guarded = view.session, view.protected
    is_full = len(guarded) >= view.limits.protected_tags
    first = min(guarded, default=session.conversation.last_number + 1) if is_full else NOTHING_OLD
    queued = session.drops.queued
    return Ages(first, frozenset([number for change in view.made for number in change.dropped if number in queued]))


def is_free(view: View, part: Part) -> bool:
    """Whether it is neither dropped nor queued to be dropped."""
    return part.number not in view.session.drops.dropped and part.number not in view.session.drops.queued
