"""A project that the dreamer works on, without a broker: its log, and a clock that the test sets."""

from datetime import datetime, timedelta, tzinfo

from msgspec.structs import replace

from schemas.codec import wrap
from schemas.envelope import Actor
from schemas.events import CommitsAdvanced, DreamFinished, DreamRequested, DreamStarted, Event, TaskFinished
from schemas.subjects import Address
from services.dreamer.core.schedule import Timetable, due, next_due
from services.dreamer.core.state import SENDER, Dreams, evolve

PROJECT = Address("harbour")
ROOM = Actor("room", SENDER)
PERSON = Actor("person", "ada")


def timetable(zone: tzinfo, *, idle: timedelta = timedelta(0), **slots: str) -> Timetable:
    return Timetable(slots, zone, idle, timedelta(hours=12))


class Project:
    """What the log says of a project, and the runs that were requested."""

    def __init__(self, table: Timetable) -> None:
        self.state = Dreams()
        self.table = table
        self.seq = 0
        self.runs: list[tuple[datetime, DreamRequested]] = []

    def append(self, event: Event, at: datetime, actor: Actor = PERSON, cause: str = "c") -> None:
        self.seq += 1
        envelope = wrap(event, PROJECT, id=f"e{self.seq}", at=at, actor=actor, cause=cause)
        self.state = evolve(self.state, event, replace(envelope, seq=self.seq))

    def changes(self, at: datetime) -> None:
        """Something happens that tasks look at."""
        self.append(CommitsAdvanced(source="/w", head=f"{self.seq}", count=1), at)

    def due(self, now: datetime, worked: datetime | None) -> DreamRequested | None:
        return due(self.state, self.table, now, worked)

    def next_due(self, worked: datetime) -> datetime | None:
        return next_due(self.state, self.table, worked)

    def requested(self, now: datetime, worked: datetime | None) -> bool:
        """Look at it as a dreamer does; whether a run was requested, which is left open."""
        request = self.due(now, worked)
        if request is None:
            return False
        self.append(request, now, ROOM)
        self.runs.append((now, request))
        return True

    def finishes(self, at: datetime, outcome: str = "completed", code: str = "") -> None:
        """The open run is done."""
        request = self.state.request
        assert request is not None
        self.append(DreamStarted(run=request.run), at, ROOM)
        for task in request.tasks:
            self.append(TaskFinished(run=request.run, task=task, outcome=outcome, code=code), at, ROOM)
        self.append(DreamFinished(run=request.run), at, ROOM)

    def looks(self, now: datetime, worked: datetime | None) -> bool:
        """The same, with a run that ends at once."""
        if is_requested := self.requested(now, worked):
            self.finishes(now)
        return is_requested
