"""The facts of a former book, as they are repeated in one that knows some of it already."""

import pytest

from schemas.commands import MemoryWrite, NoteWrite, PolicySet
from schemas.events import (
    Event,
    MemoryArchived,
    MemoryExpired,
    MemoryJudged,
    MemoryMerged,
    MemoryMoved,
    MemoryPaused,
    MemoryPinned,
    MemoryQuarantined,
    MemoryReinforced,
    MemoryRevised,
    MemoryWritten,
    NoteDismissed,
    NoteParked,
    NoteReadied,
    PolicyChanged,
    ProjectIdentified,
)
from services.memory.book import Book
from services.memory.decide.adopting import adopted_fact
from tests.helpers.memory_books import NOON, Desk, named

NEW = "m000000000f"


def knowing() -> tuple[Book, str]:
    """A book that knows one memory, a note and a policy, and the memory's id."""
    desk = Desk()
    name = named(desk.say(MemoryWrite(text="Always run the tests first.")))
    desk.say(NoteWrite(text="Ask Ada."))
    desk.say(PolicySet("agent", "held"))
    return desk.book, name


BOOK, KNOWN = knowing()
NOTE, CANDIDATE = next(iter(BOOK.notes)), next(iter(BOOK.candidates))


def written(name: str, *supersedes: str) -> MemoryWritten:
    return MemoryWritten(memory=name, category="NAMING", text="x", origin="s", supersedes=list(supersedes))


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (written(KNOWN), MemoryReinforced(memory=KNOWN, origin="s", effect="blocked")),
        (written(NEW, KNOWN, "m2"), written(NEW, "m2")),
        (MemoryArchived(memory=KNOWN), None),
        (MemoryPinned(memory=NEW), MemoryPinned(memory=NEW)),
        (MemoryRevised(memory=KNOWN, category="NAMING", text="y"), None),
        (
            MemoryMerged(memory=NEW, sources=[KNOWN, "m2"], category="NAMING", text="y"),
            MemoryMerged(memory=NEW, sources=["m2"], category="NAMING", text="y"),
        ),
        (MemoryMerged(memory=KNOWN, sources=[NEW], category="NAMING", text="y"), None),
        (MemoryExpired(memories=[KNOWN], at=NOON), None),
        (MemoryExpired(memories=[KNOWN, NEW], at=NOON), MemoryExpired(memories=[NEW], at=NOON)),
        (
            MemoryQuarantined(kind="session", value="s", memories=[KNOWN, NEW], restored=[KNOWN]),
            MemoryQuarantined(kind="session", value="s", memories=[NEW]),
        ),
        (MemoryPaused(since=NOON, until=NOON), MemoryPaused(since=NOON, until=NOON)),
        (MemoryJudged(candidate=CANDIDATE, verdict="rejected"), None),
        (MemoryJudged(candidate="c", verdict="rejected"), MemoryJudged(candidate="c", verdict="rejected")),
        (NoteDismissed(note=NOTE), None),
        (NoteReadied(note=NOTE), None),
        (NoteParked(note=NOTE, code="off"), None),
        (NoteReadied(note="n"), NoteReadied(note="n")),
        (NoteDismissed(note="n"), NoteDismissed(note="n")),
        (PolicyChanged(trust="agent", action="applied"), None),
        (PolicyChanged(trust="summary", action="applied"), PolicyChanged(trust="summary", action="applied")),
        (MemoryMoved(name="p"), None),
        (ProjectIdentified(directory="/", harness="pi"), None),
    ],
)
def test_what_is_known_stays_and_the_rest_is_repeated_as_it_was(event: Event, expected: Event | None) -> None:
    assert expected == adopted_fact(event, BOOK)
