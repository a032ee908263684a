"""The lane that says at the tail what the head does not know yet: a document or a key file was changed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from schemas.plan import AnyEdit, AppendText, SetHead
from services.domain.conversation import Message
from services.domain.texts.markup import element, escaped
from services.plan.lanes import head
from services.plan.lanes.base import Lane, View
from services.plan.session.lane_marks import mark_of
from services.plan.session.state import Session

NAME = "notices"
MODES = head.MODES
MAX_BACK = 4000
"""Messages after which a notice is out of sight: what is still true then is repeated."""


def extend(view: View, fresh: Sequence[Message]) -> Iterable[AnyEdit]:
    """One notice on the newest message of a person, about what the agent was not notified of yet.

    It names the positions of all that the head does not know, those of earlier notices, too: so the newest notice
    lists all that was announced.
    """
    made = head.served(view)
    if made is None or not made.text or not view.limits.head:
        return ()
    part, place = newest_of_person(view.session, fresh)
    is_free = part and part not in view.session.plan.ends  # a message that is sent anew keeps what it has
    news = _news(view, made) if is_free else {}
    before = newest_notice(view.session, place, min(news), NAME) if news else None
    lines = [line for position, line in news.items() if before is None or position not in before.by]
    if not lines:
        return ()
    return (AppendText(part=part, text=f"\n\n{_notice(lines)}", by=tuple(news), lane=NAME),)


def newest_of_person(session: Session, messages: Sequence[Message]) -> tuple[str, int]:
    """The first text that a person wrote in their newest message, and its place; empty: there is none."""
    for message in reversed(messages):
        for name in _written(session, message):
            return name, message.ordinal
    return "", 0


def _written(session: Session, message: Message) -> Iterator[str]:
    """The texts in it that a person wrote."""
    if message.recorded.role == "user":
        for name, part in session.conversation.sent_parts(message):
            recorded = part.recorded
            if recorded.kind == "text" and not recorded.ignored and not recorded.synthetic and recorded.bytes:
                yield name


def _news(view: View, made: SetHead) -> Mapping[int, str]:
    """The positions of what the head does not know, with a line for each."""
    return {
        document.seq: f"- {escaped(document.path)}{'' if document.digest else ' (removed)'}"
        for document in head.head_documents(view)
        if document.seq not in made.by
    }


def newest_notice(session: Session, place: int, oldest: int, lane: str) -> AppendText | None:
    """The newest notice of a lane up to this place; none: there was none since `oldest` was to be announced.

    It is sought no further than to the last message of a person that was there before that.
    """
    conversation = session.conversation
    for ordinal in range(place, max(0, place - MAX_BACK), -1):
        message = conversation.messages.get(conversation.order.get(ordinal, ""))
        if message is None:
            continue
        for name in _written(session, message):
            edit = session.plan.ends.get(name)
            if edit is not None and mark_of(edit, lane):  # others may append to the same text
                return edit
            if conversation.parts[name].seq < oldest:
                return None
    return None


def _notice(lines: Iterable[str]) -> str:
    listed = "\n".join(lines)
    return element(
        "instruction",
        "These files of the project were changed while this session is going on:\n"
        f"{listed}\n"
        "Where the copy at the beginning of this conversation says something else, the file is right: read it before "
        "you rely on it. This is a notice of the service that keeps your context, and no request.",
        name="project_changed",
    )


LANE = Lane(NAME, extend=extend, modes=MODES, order=200)
