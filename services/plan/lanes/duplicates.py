"""The lane for questions that were asked twice: of equal read-only calls only the newest keeps its answer."""

from collections import defaultdict
from collections.abc import Iterator

from services.domain.conversation import Part
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.dropping import drop
from services.plan.lanes.tool_pairs import IdleCall

NAME = "duplicates"


def rebase(view: View) -> Change:
    return drop(view, NAME, sorted(_older(view), key=lambda one: one.part.number))


def _older(view: View) -> Iterator[IdleCall]:
    """The same question anywhere in the session; what has happened in between makes the older answer only staler."""
    uses, protected = view.session.uses, view.protected
    first: dict[str, Part] = {}
    again: defaultdict[str, list[Part]] = defaultdict(list)
    calls = view.index.calls
    for part, question in zip(calls, uses.questions([part.recorded for part in calls]), strict=True):
        if question is not None and first.setdefault(question.digest, part) is not part:
            again[question.digest].append(part)
    for digest, later in again.items():
        same = [part for part in (first[digest], *later) if view.is_served(part.recorded.part)]
        older = [part for part in same[:-1] if part.number not in protected]
        yield from (IdleCall(part, same[-1].seq) for part in older)


LANE = Lane(NAME, spares_firm=spares_firm, rebase=rebase, order=70, empties=True)
