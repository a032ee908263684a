"""What was said last: the conversation from its end, and where in it a person speaks."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from services.kit.conversation import Conversation, Message
from services.responder.state import Session

_REDUCE = "ctxreduce"


def backwards(talk: Conversation, ordinal: int) -> Iterator[Message]:
    """The messages before this ordinal, the newest first."""
    for place in range(ordinal - 1, 0, -1):
        name = talk.order.get(place)
        if name is not None:
            yield talk.messages[name]


def written(session: Session, message: Message) -> str:
    """The first text of a message that a person wrote; empty: there is none."""
    if message.recorded.role != "user":
        return ""
    for name, part in session.talk.sent_parts(message):
        recorded = part.recorded
        if recorded.kind == "text" and recorded.bytes and not recorded.ignored and not recorded.synthetic:
            return name
    return ""


def newest_written(session: Session, fresh: Sequence[Message]) -> tuple[Message, str] | None:
    """The newest message of a person among these, and its text."""
    return next(((message, part) for message in reversed(fresh) if (part := written(session, message))), None)


def has_reduced(session: Session, message: Message) -> bool:
    """Whether the agent named in it what may be dropped."""
    return any(is_reduce(part.recorded.tool) for _, part in session.talk.sent_parts(message))


@lru_cache(maxsize=1024)
def is_reduce(tool: str) -> bool:
    """Harnesses put the name of a server before that of the tool, and write both in their own way."""
    return tool.lower().replace("_", "").replace("-", "").endswith(_REDUCE)
