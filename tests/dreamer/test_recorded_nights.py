"""The dreamer after each of the recorded sessions, by rules alone: what is junk goes, and nothing that is used later.

What the gate lets through today is too good for rules to find much in it. So they are measured on what an earlier
release may have taken in, too: every candidate of the recordings, of which two thirds are labelled as junk.
"""

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import msgspec
import pytest

from schemas.commands import MemoryArchive, PolicySet
from schemas.inbox import MessageSeen, PartSeen, SessionSeen
from services.dreamer.core.found import TASKS
from services.dreamer.core.task import Scene
from services.edges.client.transcript import Transcript
from services.memory.entry import Memory
from services.memory.keys import canonical
from services.memory.sameness import sentence_key
from tests.helpers.memory_books import Desk
from tests.helpers.recordings import SHIPPED
from tests.helpers.remembered_sessions import START, Outcome, by_project, outcomes, take_in, typed_in
from tests.helpers.session_candidates import name_of, of_message, pieces_of

SAME_NIGHT, MUCH_LATER = timedelta(hours=8), timedelta(days=60)
"""How long after a session the dreamer runs. Nothing of the recordings is as old as the later one: it is the harder."""
SESSIONS = 16
Intake = Callable[[Desk, str, Transcript], None]
"""What a book takes in of a session of a project."""


class RecordedNights(msgspec.Struct, frozen=True):
    """A project after all of its sessions, with a run of the dreamer behind each."""

    outcome: Outcome
    sessions: tuple[Transcript, ...]
    archived: dict[str, int] = {}
    """The text of each memory that was archived, and the number of the session behind which."""
    merged: int = 0
    """Memories that have become one with another one."""

    @property
    def missed(self) -> list[str]:
        """What was archived, and is quoted in a later session or remembered anew from it."""
        known = {sentence_key(text) for text in self.outcome.active}
        return [
            text
            for text, number in self.archived.items()
            if sentence_key(text) in known or any(_quotes(one, text) for one in self.sessions[number + 1 :])
        ]

    @property
    def ids(self) -> dict[str, bool]:
        """By the label's id of each memory, whether it is active."""
        memories = self.outcome.desk.book.memories.values()
        return {name_of(self.outcome.project, one.text): one.is_active for one in memories}


def by_gate(desk: Desk, _: str, session: Transcript) -> None:
    take_in(desk, session)


def without_gate(desk: Desk, project: str, session: Transcript) -> None:
    for message in session.messages:
        at = message.at or _ended(session)
        for found in of_message(message):
            name, place = name_of(project, found.text), found.place
            memory = Memory(name, place.category, found.text, place.memory_class, "active", "agent", at, at)
            if name not in desk.book.memories:
                desk.book = desk.book.with_memory(memory)


@cache
def nights(folder: Path, intake: Intake, after: timedelta) -> tuple[RecordedNights, ...]:
    found = by_project(sorted(folder.glob("transcripts/neutral/*.jsonl.gz")))
    assert SESSIONS == sum(map(len, found.values()))
    return tuple(_played(project, tuple(sessions), intake, after) for project, sessions in found.items())


def _played(project: str, sessions: tuple[Transcript, ...], intake: Intake, after: timedelta) -> RecordedNights:
    desk, archived, typed, merged = Desk(), dict[str, int](), dict[str, str](), 0
    desk.say(PolicySet("dreamer", "applied"))
    for number, session in enumerate(sessions):
        typed.update({name_of(project, text): text for text in typed_in(session)})
        intake(desk, project, session)
        before = {one.id: one.text for one in desk.book.memories.values() if one.is_active}
        gone = [*_night(desk, _ended(session) + after)]
        archived.update({before[name]: number for name in gone})
        merged += sum(not desk.of(name).is_active for name in before) - len(gone)
    return RecordedNights(Outcome(project, desk, typed), sessions, archived, merged)


def _night(desk: Desk, now: datetime) -> Iterator[str]:
    """Run all tasks by their rules; the ids of the memories that were archived."""
    for task in TASKS.values():
        for change in task.changes(Scene(desk.book, now)):
            answer = desk.say(change.command, "dreamer", at=now)
            assert answer.ok, answer.text
            if isinstance(change.command, MemoryArchive):
                yield change.command.id


def _ended(session: Transcript) -> datetime:
    return max((message.at for message in session.messages if message.at is not None), default=START)


def _quotes(session: Transcript, text: str) -> bool:
    """Whether a person, an agent or a tool says this in a session, in these words."""
    wanted = canonical(text)
    return any(
        wanted in canonical(piece_text)
        for message in session.messages
        for piece in pieces_of(message)
        for piece_text in (piece.text, piece.input, piece.output)
    )


@pytest.mark.soak
@pytest.mark.parametrize("after", [SAME_NIGHT, MUCH_LATER])
def test_of_what_the_gate_lets_through_not_more_is_junk_and_all_that_people_laid_down_is_there(
    foreign: Path, after: timedelta
) -> None:
    without = [*outcomes(sorted(foreign.glob("transcripts/neutral/*.jsonl.gz")))]
    with_nights = [one.outcome for one in nights(foreign, by_gate, after)]
    active, junk = (
        [sum(len(of(one)) for one in found) for found in (without, with_nights)] for of in (_active_of, _junk_of)
    )
    assert junk[1] * active[0] <= junk[0] * active[1]
    assert [one.recalled() for one in without] == [one.recalled() for one in with_nights]
    assert [] == [text for one in nights(foreign, by_gate, after) for text in one.missed]


def _active_of(outcome: Outcome) -> list[str]:
    return outcome.active


def _junk_of(outcome: Outcome) -> list[str]:
    return outcome.junk()


@pytest.mark.soak
def test_of_what_an_earlier_release_took_in_only_junk_is_archived_and_nothing_that_is_used_later(foreign: Path) -> None:
    labels = json.loads((SHIPPED / "memory_candidates.json").read_text())["foreign"]
    found = nights(foreign, without_gate, MUCH_LATER)
    ids = {name: is_active for one in found for name, is_active in one.ids.items()}
    assert {*labels["good"], *labels["junk"]} == ids.keys()
    archived = {name_of(one.outcome.project, text): text for one in found for text in one.archived}
    assert archived
    assert {*archived} <= {*labels["junk"]}
    assert [] == [text for one in found for text in one.missed]


def _session(words: str) -> Transcript:
    part = PartSeen("m1", "text", "m1.0", text=words)
    return Transcript("test", "s", SessionSeen(), (MessageSeen("m1", "user", START, parts=(part,)),))


def test_what_is_archived_and_quoted_later_is_found_to_be_missed() -> None:
    text = "The parser of tides begins at services/tide.py:120."
    desk = Desk()
    first, later, other = (_session(words) for words in ("x", f"Look: `{text.upper()}`", "The parser is gone."))
    outcome = Outcome("harbour", desk, {})
    assert [text] == RecordedNights(outcome, (first, later), {text: 0}).missed
    assert [] == RecordedNights(outcome, (later, first, other), {text: 0}).missed
