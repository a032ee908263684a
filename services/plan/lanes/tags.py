"""The lane that writes before a text: `§7§ ` where an agent has the tag 7 for it, and how long a person was away."""

from collections.abc import Iterable, Iterator, Sequence

from schemas.plan import AnyEdit, PrefixText
from services.domain.conversation import Message, Part
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.index import Finder, MayBeMeant
from services.plan.lanes.temporal import SHOWS_TAGS, marker_for, tag, text_with_marker
from services.plan.session.state import Session

NAME = "tags"


def extend(view: View, messages: Sequence[Message]) -> Iterable[AnyEdit]:
    return tuple(edit for message in messages for edit in _prefixes(view, message))


def rebase(view: View) -> Change:
    """Show what came too late for its message: that was served without."""
    unchanged = view.session.step.unchanged if view.session.step else 0
    late = (placed.message for placed in view.index.messages(NAME) if placed.ordinal <= unchanged)
    return Change(edits=tuple(edit for message in late for edit in _prefixes(view, message)))


def _prefixes(view: View, message: Message) -> Iterator[PrefixText]:
    bearer = text_with_marker(view, message) if message.recorded.role == "user" else ""
    for name, part in view.session.conversation.sent_parts(message):
        if part.number and name in view.session.plan.untagged and part.recorded.kind != "file":
            text = _tag(view, part) + (marker_for(view, message) if name == bearer else "")
            if text:
                yield PrefixText(part=name, text=text, by=(part.seq, part.tag_seq))


def _tag(view: View, part: Part) -> str:
    return tag(part.number) if view.mode in SHOWS_TAGS else ""


def _finds(session: Session) -> MayBeMeant:
    """Parts with a tag that is not shown."""
    untagged = session.plan.untagged
    return (lambda part: part.recorded.part in untagged) if untagged else None


LANE = Lane(NAME, spares_firm=spares_firm, extend=extend, rebase=rebase, order=30, finder=Finder(_finds))
