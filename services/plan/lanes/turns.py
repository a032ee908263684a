"""Turns: the conversation from its end, and where in it a person speaks."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from schemas.plan import AppendText
from services.domain.conversation import Conversation, Message
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
