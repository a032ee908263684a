"""The lane that shows an agent its tags: `§7§ ` before the text or the output that has the number 7."""

from collections.abc import Iterable, Iterator, Sequence

from schemas.plan import AnyEdit, PrefixText
from services.kit.conversation import Message
from services.responder.lanes.base import Change
from services.responder.limits import Limits
from services.responder.state import Session

SHOWN_IN = frozenset({"primary"})
"""The modes whose agent has the tool to drop by tag; tags that an agent cannot use only confuse it."""


def extend(session: Session, messages: Sequence[Message]) -> Sequence[AnyEdit]:
    return tuple(_prefixes(session, messages))


def rebase(session: Session, _: Limits) -> Change:
    """Show the tags that came too late for their message: those were served without."""
    return Change(edits=tuple(_prefixes(session, session.talk.after(0))))


def _prefixes(session: Session, messages: Iterable[Message]) -> Iterator[PrefixText]:
    if session.step is None or session.step.mode not in SHOWN_IN:
        return
    for message in messages:
        for name, part in session.talk.sent_parts(message):
            if part.number and part.recorded.kind != "file" and f"part:{name}" not in session.edits:
                yield PrefixText(part=name, text=prefix(part.number), by=(part.seq, part.tag_seq))


def prefix(number: int) -> str:
    return f"§{number}§ "
