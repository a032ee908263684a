"""The lane that shows an agent its tags: `§7§ ` before the text or the output that has the number 7."""

from collections.abc import Iterable, Iterator, Sequence

from schemas.plan import AnyEdit, PrefixText
from services.kit.conversation import Message, Part
from services.responder.lanes.base import Change, View
from services.responder.lanes.face import SHOWS_TAGS, tag


def extend(view: View, messages: Sequence[Message]) -> Iterable[AnyEdit]:
    parts = (found for message in messages for found in view.session.talk.sent_parts(message))
    return tuple(_prefixes(view, parts))


def rebase(view: View) -> Change:
    """Show the tags that came too late for their message: those were served without."""
    parts = view.session.talk.parts
    bare = ((name, parts[name]) for name in view.session.bare if view.session.talk.place(name))
    return Change(edits=tuple(_prefixes(view, bare)))


def _prefixes(view: View, parts: Iterable[tuple[str, Part]]) -> Iterator[PrefixText]:
    if view.mode not in SHOWS_TAGS:
        return
    for name, part in parts:
        if name in view.session.bare and part.recorded.kind != "file":
            yield PrefixText(part=name, text=tag(part.number), by=(part.seq, part.tag_seq))
