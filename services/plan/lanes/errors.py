"""The lane that shortens what tools once failed with: the beginning says what went wrong."""

from collections.abc import Iterator
from itertools import islice

from schemas.plan import AnyEdit, ReplaceOutput, Restore
from services.domain.conversation import Part
from services.domain.tokens import tokens
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.index import EDITED, FAILED, Finder, IsMeant
from services.plan.lanes.rewrite import MAX_TEXTS, is_stale
from services.plan.lanes.temporal import prefix_of
from services.plan.lanes.turns import ages, is_free
from services.plan.session.costs import served_output
from services.plan.session.lane_marks import is_of
from services.plan.session.reclaim import OUTPUTS, SHORTENED
from services.plan.session.state import Session

NAME = "errors"
MOST_CHARACTERS = 100
"""Characters that stay."""
ENDING = "... [truncated]"


def shorten_failure(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + ENDING


def needs(view: View) -> tuple[str, ...]:
    return tuple(islice((part.recorded.part for part in _candidates(view) if has_failed(part)), MAX_TEXTS))


def rebase(view: View) -> Change:
    edits: list[AnyEdit] = []
    reclaimed = 0
    for part in _candidates(view):
        name = part.recorded.part
        text = view.texts.get(name, "") if has_failed(part) else ""
        served = prefix_of(view, name) + shorten_failure(text)
        if len(text) > MOST_CHARACTERS and served != text:
            edits.append(ReplaceOutput(part=name, text=served, by=(part.seq,), lane=NAME))
            reclaimed += served_output(view.session.plan, part.recorded) - tokens(len(served.encode()))
        elif is_stale(view.change_of(name), part, NAME) and (text or not has_failed(part)):
            edits.append(Restore(part=name, by=(part.seq,)))
    return Change(tuple(edits), reclaimed=max(0, reclaimed))


def _candidates(view: View) -> Iterator[Part]:
    """Failures that stand before the protected tags, and parts whose failure was shortened and is another thing now.

    A failure has no tag of its own: it is as old as the newest tag that was given up to its message.
    """
    known = ages(view)
    for seen in view.index.parts(NAME):
        part, name = seen.part, seen.part.recorded.part
        is_old = known.is_old(seen.placed.reached) and has_failed(part)
        edit = view.change_of(name)
        is_shown = view.is_whole(name) or is_of(edit, (SHORTENED,))
        if (is_old and is_shown and is_free(view, part)) or is_stale(edit, part, NAME):
            yield part


def has_failed(part: Part) -> bool:
    """Whether there is more of a failure than stays of it."""
    return part.recorded.status == "error" and part.recorded.bytes > MOST_CHARACTERS


def _finds(session: Session) -> IsMeant:
    """Outputs of tools that have failed, and those that are served under an edit of an earlier content."""
    altered = session.plan.altered

    def is_meant(part: Part) -> bool:
        if part.recorded.status != "completed" and has_failed(part):
            return True
        edit = altered.get(part.recorded.part)
        return edit is not None and part.seq not in edit.by

    return is_meant


LANE = Lane(
    NAME,
    spares_firm=spares_firm,
    rebase=rebase,
    needs=needs,
    order=90,
    empties=True,
    finder=Finder(_finds, kinds=OUTPUTS, signs=EDITED | FAILED),
)
