"""The lane that takes thinking out of old answers, where a model writes it into its text."""

from collections.abc import Iterator

from services.domain.conversation import Part
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.index import MARKED, RECORDED_AGAIN, Finder
from services.plan.lanes.rewrite import (
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


def _candidates(view: View) -> Iterator[Part]:
    """Old answers that show thinking in the beginning that is in memory: a model thinks before it speaks."""
    cut = view.index.newest - view.limits.clear_reasoning_age
    for seen in view.index.parts(NAME):
        is_old = 0 < seen.placed.tag <= cut
        if is_old and _is_worth_a_look(view, seen.part) and may_reword(view, seen.part, NAME):
            yield seen.part


def may_think(part: Part) -> bool:
    """Whether there is thinking in the beginning of an answer's text, or may have been in what it was before."""
    return OPENING in part.head or may_be_stale(part)


def _is_worth_a_look(view: View, part: Part) -> bool:
    return OPENING in part.head or (may_be_stale(part) and is_stale(view.change_of(part.recorded.part), part, NAME))


LANE = Lane(
    NAME,
    spares_firm=spares_firm,
    rebase=rebase,
    needs=needs,
    order=100,
    finder=Finder(lambda _: may_think, kinds=frozenset({"text"}), role="assistant", signs=MARKED | RECORDED_AGAIN),
)
