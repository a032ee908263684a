"""Changes of memories that wait for a person: who proposes them, what is proposed, and what becomes of them."""

import pytest

from schemas.commands import (
    Command,
    MemoryArchive,
    MemoryDecide,
    MemoryImportance,
    MemoryMerge,
    MemoryPin,
    MemoryRestore,
    MemoryRevise,
    MemoryWrite,
    PolicySet,
)
from schemas.events import MemoryArchived, MemoryMerged, MemoryProposed, MemoryRevised
from services.memory.decide.holding import is_proposed
from services.memory.entry import Memory
from tests.helpers.memory_books import Desk, named
from tests.memory.decide.test_changing import OTHER, TEXT, refused

NEW = "Always answer in Italian."


def desk_with(policy: str = "held", trust: str = "dreamer") -> tuple[Desk, str, str]:
    desk = Desk()
    names = [named(desk.say(MemoryWrite(text=one, category="PROJECT_RULES"), "agent")) for one in (TEXT, OTHER)]
    desk.say(PolicySet(trust, policy))
    return desk, *names


def commands(first: str, second: str) -> list[Command]:
    return [
        MemoryMerge((first, second), NEW),
        MemoryRevise(first, NEW),
        MemoryArchive(first, "it is over"),
        MemoryImportance(first, "low"),
    ]


def proposal(desk: Desk) -> Memory:
    (found,) = [memory for memory in desk.book.memories.values() if memory.change]
    return found


KINDS = ("merge", "revise", "archive", "importance")


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_dreamer_changes_waits_for_a_person_and_changes_nothing_before(kind: str) -> None:
    desk, first, second = desk_with()
    before = {name: desk.of(name) for name in (first, second)}
    command = commands(first, second)[KINDS.index(kind)]
    decision = desk.say(command, "dreamer")
    assert decision.ok
    assert [MemoryProposed] == [type(event) for event in decision.events]
    waiting = proposal(desk)
    assert f"That waits for a person as {waiting.id}: until it is approved, nothing changes." == decision.text
    assert ("pending", "dreamer", kind) == (
        waiting.status,
        waiting.trust,
        waiting.change.kind if waiting.change else "",
    )
    assert before == {name: desk.of(name) for name in (first, second)}
    again = desk.say(command, "dreamer")
    assert (True, f"Nothing to do: {waiting.id} proposes that.", ()) == (again.ok, again.text, tuple(again.events))
    assert is_proposed(desk.book, command)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_person_approves_is_changed_and_can_be_taken_back(kind: str) -> None:
    desk, first, second = desk_with()
    desk.say(commands(first, second)[KINDS.index(kind)], "dreamer")
    waiting = proposal(desk)
    decision = desk.say(MemoryDecide(waiting.id, approve=True))
    assert decision.ok, decision.text
    made = [type(event) for event in decision.events]
    assert {
        "merge": [MemoryMerged, MemoryArchived],
        "revise": [MemoryRevised, MemoryArchived],
        "archive": [MemoryArchived, MemoryArchived],
        "importance": [MemoryRevised, MemoryArchived],
    }[kind] == made
    status = {"merge": "superseded"}.get(kind, "active")
    assert status == desk.of(second).status
    assert {
        "merge": (NEW, "active", "normal", "dreamer"),
        "revise": (NEW, "active", "normal", "dreamer"),
        "archive": (TEXT, "archived", "normal", "agent"),
        "importance": (TEXT, "active", "low", "agent"),
    }[kind] == (desk.of(first).text, desk.of(first).status, desk.of(first).importance, desk.of(first).trust)
    assert "archived" == desk.of(waiting.id).status
    assert f"{waiting.id} is a proposal to change {first}" in refused(desk, MemoryRestore(waiting.id))
    assert "was decided on before" in refused(desk, MemoryDecide(waiting.id, approve=False))
    if kind == "archive":
        assert desk.say(MemoryRestore(first)).ok
    if kind == "merge":
        assert desk.say(MemoryRestore(second)).ok


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_person_rejects_is_not_proposed_again(kind: str) -> None:
    desk, first, second = desk_with()
    command = commands(first, second)[KINDS.index(kind)]
    desk.say(command, "dreamer")
    waiting = proposal(desk)
    assert f"{waiting.id} is rejected." == desk.say(MemoryDecide(waiting.id, approve=False)).text
    assert ("active", TEXT) == (desk.of(first).status, desk.of(first).text)
    assert f"{waiting.id} proposed the same, and a person has decided on it" in refused(desk, command, "dreamer")
    assert is_proposed(desk.book, command)
    assert desk.say(MemoryWrite(text=NEW, category="PROJECT_RULES"), "agent").ok


def test_words_that_only_wait_as_a_change_are_nobodys_twin() -> None:
    desk, first, second = desk_with()
    desk.say(MemoryRevise(first, NEW), "dreamer")
    waiting = proposal(desk)
    own = named(desk.say(MemoryWrite(text=NEW, category="PROJECT_RULES")))
    assert own not in (waiting.id, first)
    assert f"{own} says the same; merge the two" in refused(desk, MemoryDecide(waiting.id, approve=True))
    assert "pending" == desk.of(waiting.id).status
    assert second in desk.book.memories


def test_a_proposal_for_words_that_have_changed_is_not_applied() -> None:
    desk, first, second = desk_with()
    desk.say(MemoryMerge((first, second), NEW), "dreamer")
    desk.say(MemoryRevise(second, "Never answer in Latin."))
    text = refused(desk, MemoryDecide(proposal(desk).id, approve=True))
    assert f"{second} has other words now than when this was proposed" in text
    assert desk.say(MemoryDecide(proposal(desk).id, approve=False)).ok


def test_a_proposal_of_what_holds_no_longer_is_not_applied() -> None:
    desk, first, second = desk_with()
    desk.say(MemoryMerge((first, second), NEW), "dreamer")
    desk.say(MemoryArchive(second))
    assert f"{second} does not hold" in refused(desk, MemoryDecide(proposal(desk).id, approve=True))


@pytest.mark.parametrize("kind", KINDS)
def test_where_the_policy_applies_what_a_dreamer_sends_it_is_done_at_once(kind: str) -> None:
    desk, first, second = desk_with("applied")
    decision = desk.say(commands(first, second)[KINDS.index(kind)], "dreamer")
    assert decision.ok, decision.text
    assert MemoryProposed not in {type(event) for event in decision.events}


@pytest.mark.parametrize("kind", KINDS)
def test_where_the_policy_refuses_it_nothing_is_written(kind: str) -> None:
    desk, first, second = desk_with("refused")
    assert "what you change is refused here" in refused(desk, commands(first, second)[KINDS.index(kind)], "dreamer")


@pytest.mark.parametrize("command", [MemoryMerge(("1", "2"), NEW, review=True), MemoryRevise("1", NEW, review=True)])
def test_what_a_person_is_to_look_at_waits_whatever_the_policy_applies(command: MemoryMerge | MemoryRevise) -> None:
    desk, first, second = desk_with("applied")
    sent: Command = (
        MemoryMerge((first, second), NEW, review=True)
        if isinstance(command, MemoryMerge)
        else MemoryRevise(first, NEW, review=True)
    )
    assert [MemoryProposed] == [type(event) for event in desk.say(sent, "dreamer").events]


def test_what_an_agent_changes_waits_where_its_words_do() -> None:
    desk, first, _ = desk_with("held", "agent")
    for command in (MemoryRevise(first, NEW), MemoryArchive(first)):
        assert [MemoryProposed] == [type(event) for event in desk.say(command, "agent", "s1").events]


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_proposes_to_change_what_a_person_has_pinned(kind: str) -> None:
    desk, first, second = desk_with()
    desk.say(MemoryPin(first))
    assert f"{first} is pinned" in refused(desk, commands(first, second)[KINDS.index(kind)], "dreamer")


def test_a_merge_that_a_person_approves_has_the_trust_of_whose_words_it_has() -> None:
    desk, first, second = desk_with()
    desk.say(MemoryMerge((first, second), OTHER), "dreamer")
    assert desk.say(MemoryDecide(proposal(desk).id, approve=True)).ok
    assert (OTHER, "agent") == (desk.of(first).text, desk.of(first).trust)
