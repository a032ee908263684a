"""The prefix of a text as it is served: the tag by which an agent names it, and the marker of a pause."""

import re

from schemas.plan import PrefixText, ReplaceOutput, ReplaceText
from services.domain.texts.placeholders import TAG
from services.plan.lanes.base import View
from services.plan.lanes.temporal import marker_for, text_with_marker

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
