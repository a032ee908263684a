"""The lane that shortens what tools once failed with: the beginning says what went wrong."""

from collections.abc import Iterator
from itertools import islice

from schemas.plan import AnyEdit, ReplaceOutput, Restore
from services.kit.conversation import Part
from services.kit.tokens import tokens
from services.responder.lanes.ages import ages, is_free, tag_of
from services.responder.lanes.base import Change, View
from services.responder.lanes.face import prefix_of
from services.responder.lanes.wording import MAX_TEXTS, Named, is_stale

NAME = "errors"
KEPT = 100
"""Characters that stay."""
ENDING = "... [truncated]"


def shortened(text: str) -> str:
    return text if len(text) <= KEPT else text[:KEPT] + ENDING


def needs(view: View) -> tuple[str, ...]:
    return tuple(islice((name for name, part in _candidates(view) if _has_failed(part)), MAX_TEXTS))


def rebase(view: View) -> Change:
    edits: list[AnyEdit] = []
    reclaimed = 0
    for name, part in _candidates(view):
        text = view.texts.get(name, "") if _has_failed(part) else ""
        served = prefix_of(view, name) + shortened(text)
        if len(text) > KEPT and served != text:
            edits.append(ReplaceOutput(part=name, text=served, by=(part.seq,), lane=NAME))
            reclaimed += tokens(part.recorded.bytes) - tokens(len(served.encode()))
        elif is_stale(view.edit_of(name), part, NAME) and (text or not _has_failed(part)):
            edits.append(Restore(part=name, by=(part.seq,)))
    return Change(tuple(edits), reclaimed=max(0, reclaimed))


def _candidates(view: View) -> Iterator[Named]:
    """Failures that stand before the protected tags, and parts whose failure was shortened and is another thing now.

    A failure has no tag of its own: it is as old as the newest tag that was given up to its message.
    """
    known = ages(view)
    reached = 0
    for placed in view.survey:
        reached = max(reached, tag_of(placed))
        is_old = known.is_old(reached)
        for name, part in placed.parts:
            if part.recorded.kind not in ("tool", "tool_result"):
                continue
            is_first = is_old and _has_failed(part) and view.is_whole(name) and is_free(view, part)
            if is_first or is_stale(view.edit_of(name), part, NAME):
                yield name, part


def _has_failed(part: Part) -> bool:
    return part.recorded.status == "error" and part.recorded.bytes > KEPT
