"""The marker before what a person says after a pause: `<!-- +2h 15m -->`."""

import re
from itertools import pairwise

from schemas.plan import PrefixText, ReplaceOutput, ReplaceText
from services.domain.conversation import Message
from services.domain.edits import TAGS
from services.domain.texts.placeholders import TAG
from services.plan.lanes.base import View
from services.plan.lanes.turns import backwards

SHORTEST = 300
"""Seconds: a shorter pause is not marked."""
_UNITS = ((604_800, "w"), (86_400, "d"), (3_600, "h"), (60, "m"))
_MARKER = re.compile(r"<!-- \+[^>\n]* -->\n")


def marker(gap: float) -> str:
    """The prefix of a text that came so many seconds after what was before it; empty: none."""
    return f"<!-- +{_length(int(gap))} -->\n" if gap >= SHORTEST else ""


def _length(gap: int) -> str:
    """The two largest units, the smaller one only if there is something of it."""
    for (size, unit), (part, smaller) in pairwise(_UNITS):
        if gap >= size:
            rest = gap % size // part
            return f"{gap // size}{unit} {rest}{smaller}" if rest else f"{gap // size}{unit}"
    size, unit = _UNITS[-1]
    return f"{gap // size}{unit}"


def marker_for(view: View, message: Message) -> str:
    """The marker of a user's message, to be decided when the message is first served; empty: none.

    A pause is counted from when the message before it was begun: when that was finished is not recorded.
    """
    sent = message.recorded.sent
    if not view.limits.temporal or message.recorded.role != "user" or sent is None:
        return ""
    before = next(backwards(view.session.conversation, message.ordinal), None)
    if before is None or before.recorded.sent is None:
        return ""
    bearer = view.session.conversation.parts.get(text_with_marker(view, message))
    if bearer is None or _MARKER.match(TAGS.sub("", bearer.head)):
        return ""
    return marker((sent - before.recorded.sent).total_seconds())


def text_with_marker(view: View, message: Message) -> str:
    """The text that bears a message's marker: the first that a model sees. Empty: there is none."""
    for name, part in view.session.conversation.sent_parts(message):
        if part.recorded.kind == "text" and part.recorded.bytes and not part.recorded.ignored:
            return name
    return ""


SHOWS_TAGS = frozenset({"primary"})
"""The modes whose agent has the tool to drop by tag; tags that an agent cannot use only confuse it."""
_PREFIX = re.compile(r"^(?:§\d+§ )?(?:<!-- \+[^>\n]* -->\n)?")


def tag(number: int) -> str:
    return f"{TAG.text(number=number)} "


def prefix_of(view: View, name: str) -> str:
    """The prefix with which a text or an output is served, now or if it is served for the first time."""
    match view.edit_of(name):
        case PrefixText(text=text):
            return text
        case ReplaceText(text=text) | ReplaceOutput(text=text):
            found = _PREFIX.match(text)
            return found[0] if found else ""
        case _:
            part = view.session.conversation.parts[name]
            message = view.session.conversation.messages[part.recorded.message]
            label = tag(part.number) if part.number and view.mode in SHOWS_TAGS else ""
            return label + (marker_for(view, message) if text_with_marker(view, message) == name else "")
