"""The lane for questions that were asked twice: of equal read-only calls only the newest keeps its answer."""

from collections import defaultdict
from collections.abc import Iterator

from services.kit.conversation import Part
from services.responder.lanes.base import Change, View
from services.responder.lanes.dropping import Wanted, calls, drop, guarded

NAME = "duplicates"


def rebase(view: View) -> Change:
    return drop(view, NAME, sorted(_older(view), key=lambda one: one.part.number))


def _older(view: View) -> Iterator[Wanted]:
    """The same question anywhere in the session; what has happened in between makes the older answer only staler."""
    uses, protected = view.session.uses, guarded(view)
    asked: defaultdict[str, list[tuple[str, Part]]] = defaultdict(list)
    for name, part in calls(view, lambda _, part: uses.question(part.recorded)):
        question = uses.question(part.recorded)
        if question is not None:
            asked[question.digest].append((name, part))
    for same in asked.values():
        newest = same[-1][1]
        yield from (Wanted(name, part, newest.seq) for name, part in same[:-1] if part.number not in protected)
