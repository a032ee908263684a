"""The lane for work on files that later work has overtaken: changes that were changed again, readings made anew."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from services.domain.conversation import Part
from services.domain.tools.uses import Lookup, covers
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.dropping import drop
from services.plan.lanes.tool_pairs import IdleCall

NAME = "superseded"
MAX_READINGS = 32
"""Later readings of a file that an older one is compared with."""
CHANGES = frozenset({"edited", "written"})


class FileWork(msgspec.Struct, frozen=True, gc=False):
    """The work of one call on one file."""

    name: str
    part: Part
    action: str
    asked: Lookup | None = None


def rebase(view: View) -> Change:
    return drop(view, NAME, sorted(_overtaken(view), key=lambda one: one.part.number))


def _overtaken(view: View) -> Iterator[IdleCall]:
    """A call that has touched several files goes when later work has overtaken all that it did."""
    uses, protected = view.session.uses, view.protected
    by_file: defaultdict[str, list[FileWork]] = defaultdict(list)
    parts: dict[str, Part] = {}
    for part in view.index.calls if uses.touched else ():
        name = part.recorded.part
        files = uses.files(name)
        if files and view.is_served(name):
            parts[name] = part
            asked = uses.question(part.recorded)
            for file in files:
                by_file[file.path].append(FileWork(name, part, file.action, asked))
    reasons: defaultdict[str, list[int]] = defaultdict(list)
    for works in by_file.values():
        for work, why in _idle(works):
            reasons[work.name].append(why)
    for name, found in reasons.items():
        part = parts[name]
        if len(found) == len(uses.files(name)) and part.number not in protected:
            yield IdleCall(part, max(found))


def _idle(works: Sequence[FileWork]) -> Iterator[tuple[FileWork, int]]:
    """Work on one file that was overtaken, each with the position of what has overtaken it.

    A file that was written whole is only overtaken by being written again: a later change shows a small part of it.
    """
    changed = written = 0
    readings: list[FileWork] = []
    for work in reversed(works):
        match work.action:
            case "edited" if changed:
                yield work, changed
            case "written" if written:
                yield work, written
            case "read":
                why = written or next((later.part.seq for later in readings if _covers(later, work)), 0)
                if why:
                    yield work, why
                elif len(readings) < MAX_READINGS:
                    readings.append(work)
        changed = changed or (work.part.seq if work.action in CHANGES else 0)
        written = written or (work.part.seq if work.action == "written" else 0)


def _covers(later: FileWork, earlier: FileWork) -> bool:
    """Whether the later reading shows all the lines of the earlier one."""
    return (
        later.asked is not None
        and earlier.asked is not None
        and covers(later.asked, earlier.asked, later.part.recorded.bytes)
    )


LANE = Lane(
    NAME, spares_firm=spares_firm, rebase=rebase, order=60, empties=True, switch=lambda limits: limits.smart_drops
)
