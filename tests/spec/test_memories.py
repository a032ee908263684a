"""Proposals for a project's memory: what is new, what was seen again, and what is none."""

import pytest

from schemas.commands import MemoryPropose
from schemas.envelope import Actor
from schemas.events import Event, MemoryProposed, MemoryReinforced
from schemas.events.fact import CATEGORIES
from services.desk.core import decide
from services.desk.memories import identity
from services.desk.state import Book, evolve
from services.desk.verdict import Terms, Verdict
from tests.given import Given, given

TERMS = Terms(actor=Actor("room", "historian"))
TEXT = "Run `make check` before every commit."
NAME = identity("PROJECT_RULES", TEXT)


def proposal(text: str = TEXT, session: str = "s1", *evidence: int, category: str = "PROJECT_RULES") -> MemoryPropose:
    return MemoryPropose(category=category, text=text, session=session, evidence=evidence)


def proposed(session: str = "s1", *evidence: int) -> MemoryProposed:
    return MemoryProposed(
        memory=NAME, category="PROJECT_RULES", text=TEXT, origin=session, evidence=list(evidence), source="historian"
    )


def book(*events: Event) -> Given[Book]:
    return given(evolve, Book(), *events)


def said(before: Given[Book], wish: MemoryPropose) -> Verdict:
    return decide(before.state, wish, TERMS)


def test_what_is_new_is_proposed() -> None:
    text = "Proposed. It is not part of the project's memory before it is taken up."
    assert Verdict(ok=True, text=text, events=(proposed("s1", 3, 4),)) == said(book(), proposal(TEXT, "s1", 3, 4))


@pytest.mark.parametrize("text", [TEXT.upper(), f"  {TEXT.replace(' ', '   ')}\n", TEXT])
def test_the_same_in_other_case_and_spacing_is_the_same_seen_again(text: str) -> None:
    verdict = said(book(proposed("s1", 3)), proposal(text, "s2", 8))
    assert (True, (MemoryReinforced(memory=NAME, origin="s2", evidence=[8]),)) == (verdict.ok, verdict.events)


def test_the_same_from_the_same_place_is_noted_once() -> None:
    nothing = Verdict(ok=True, text="Nothing to do: the same was proposed from there before.")
    once = book(proposed("s1", 3))
    twice = once.and_given(*said(once, proposal(TEXT, "s2", 8)).events)
    assert nothing == said(once, proposal(TEXT, "s1", 3))
    assert nothing == said(twice, proposal(TEXT, "s2", 8))
    assert said(twice, proposal(TEXT, "s2", 9)).events


def test_the_same_words_in_another_category_are_another_memory() -> None:
    (event,) = said(book(proposed()), proposal(category="NAMING")).events
    assert isinstance(event, MemoryProposed)
    assert NAME != event.memory


def test_a_person_can_propose() -> None:
    (event,) = decide(Book(), proposal(), Terms(actor=Actor("person"))).events
    assert isinstance(event, MemoryProposed)
    assert "person" == event.source


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        (proposal(category="PREFERENCES"), f"'PREFERENCES' is no category; use one of {', '.join(CATEGORIES)}"),
        (proposal(" \n"), "the text is empty; say in 1 to 400 characters what holds"),
        (proposal("x" * 401), "the text has 401 characters; say it in at most 400"),
        (proposal(TEXT, "s1", 0), "evidence is the ordinals of at most 100 messages, from 1 on"),
        (proposal(TEXT, "s1", *range(1, 102)), "evidence is the ordinals of at most 100 messages, from 1 on"),
    ],
)
def test_what_is_no_proposal_is_refused_with_the_reason(wish: MemoryPropose, reason: str) -> None:
    assert Verdict(ok=False, text=f"Nothing was proposed: {reason}.") == said(book(), wish)


def test_the_longest_text_is_one() -> None:
    assert said(book(), proposal("x" * 400)).ok
