"""The lane that takes old images out of prompts that were answered: what they showed was said then."""

from collections.abc import Iterator

from schemas.plan import ReplaceText
from services.kit.conversation import Part
from services.kit.tokens import tokens
from services.responder.lanes.ages import ages, is_free
from services.responder.lanes.base import Change, View
from services.responder.lanes.drops import placeholder

NAME = "images"
MIN_URL_BYTES = 200
"""A data url that is not longer holds an icon, or nothing."""


def rebase(view: View) -> Change:
    edits: list[ReplaceText] = []
    reclaimed = 0
    for part in _seen(view):
        text = placeholder(part.number)
        edits.append(ReplaceText(part=part.recorded.part, text=text, by=(part.seq, part.tag_seq), lane=NAME))
        reclaimed += part.recorded.tokens - tokens(len(text.encode()))
    numbers = tuple(view.session.talk.parts[edit.part].number for edit in edits)
    return Change(tuple(edits), numbers, reclaimed)


def _seen(view: View) -> Iterator[Part]:
    """Images of prompts that stand before an answer, older than the protected tags."""
    known = ages(view)
    answered = view.survey.answers[-1].ordinal if view.survey.answers else 0
    for placed in view.survey.prompts:
        if placed.ordinal > answered:
            return
        for part in placed.parts:
            is_old = part.recorded.kind == "file" and known.is_old(part.number)
            if is_old and _is_image(part) and view.is_whole(part.recorded.part) and is_free(view, part):
                yield part


def _is_image(part: Part) -> bool:
    recorded = part.recorded
    if not recorded.mime.lower().startswith("image/") or recorded.bytes <= MIN_URL_BYTES:
        return False
    return part.head.startswith("data:") or recorded.text_ref != ""
