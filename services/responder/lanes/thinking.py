"""The lane that takes thinking out of old answers, where a model writes it into its text."""

from collections.abc import Iterator

from services.kit.conversation import Part
from services.responder.lanes.ages import tag_of
from services.responder.lanes.base import Change, View
from services.responder.lanes.wording import (
    Named,
    block_tag,
    is_stale,
    may_be_stale,
    may_reword,
    reword,
    unread,
    without_blocks,
)

NAME = "thinking"
TAG = block_tag("think", "thinking")
OPENING = "<think"


def without_thinking(text: str) -> str:
    """The text without its `<think>` and `<thinking>` blocks and the white space behind each."""
    return without_blocks(text, TAG, with_white=True)


def needs(view: View) -> tuple[str, ...]:
    return unread(_candidates(view))


def rebase(view: View) -> Change:
    return reword(view, NAME, _candidates(view), without_thinking)


def _candidates(view: View) -> Iterator[Named]:
    """Old answers that show thinking in the beginning that is in memory: a model thinks before it speaks."""
    tags = [tag_of(placed) for placed in view.survey]
    cut = max(tags, default=0) - view.limits.clear_reasoning_age
    for placed, number in zip(view.survey, tags, strict=True):
        if not 0 < number <= cut or placed.role != "assistant":
            continue
        for name, part in placed.parts:
            if (
                part.recorded.kind == "text"
                and _is_worth_a_look(view, name, part)
                and may_reword(view, name, part, NAME)
            ):
                yield name, part


def _is_worth_a_look(view: View, name: str, part: Part) -> bool:
    return OPENING in part.head or (may_be_stale(part) and is_stale(view.edit_of(name), part, NAME))
