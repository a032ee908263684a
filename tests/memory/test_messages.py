"""What a typed message of a person makes of the memory, on both ways: what it asks for, and what it lays down."""

import json
from pathlib import Path

from schemas.commands import MemoryWrite
from services.memory.candidates import from_person
from services.memory.decide.admission import admit
from services.memory.decide.asking import Origin, candidate_of, candidates_in_message
from tests.helpers.cells import cells
from tests.helpers.memory_books import Desk

MESSAGES: dict[str, list[str]] = json.loads(Path(__file__).with_name("messages.json").read_text())
CATEGORIES = ("PROJECT_RULES", "ARCHITECTURE", "CONFIG_VALUES")


def active(desk: Desk) -> list[str]:
    return [text for text, status in desk.statuses().items() if status == "active"]


def taken_in(message: str) -> Desk:
    desk = Desk()
    origin = Origin("s1", "m1", "person_by_harness", "person, by harness")
    for candidate in (
        *candidates_in_message(message, origin),
        *(candidate_of(one, origin) for one in from_person(message)),
    ):
        context = desk.context("desk", "s1", cause=candidate.id)
        desk.write(admit(desk.book, candidate, context).events, context)
    return desk


def written_by_an_agent(text: str) -> list[str]:
    """What holds of a text that an agent writes, under any of the categories."""
    found: list[str] = []
    for category in CATEGORIES:
        desk = Desk()
        desk.say(MemoryWrite(text=text, category=category), "agent", "s1")
        found += active(desk)
    return found


@cells("message", MESSAGES["pasted"])
def test_nothing_of_what_somebody_else_wrote_holds_at_once(message: str) -> None:
    assert [] == active(taken_in(message))


@cells("message", MESSAGES["typed"])
def test_what_a_person_asks_for_or_lays_down_holds_at_once(message: str) -> None:
    assert active(taken_in(message))


@cells("message", MESSAGES["only_mentioned"])
def test_what_is_only_mentioned_does_not_last_whoever_brings_it(message: str) -> None:
    assert [] == active(taken_in(message))
    assert [] == written_by_an_agent(message)


@cells("text", MESSAGES["lasting"])
def test_what_lasts_is_taken_from_an_agent(text: str) -> None:
    assert written_by_an_agent(text)
