"""Who sends a command follows from its subject, and how far they are trusted from that; what a body says is claimed."""

from typing import get_args

import pytest

from schemas.envelope import Actor, ActorKind
from schemas.events.memory import TRUSTS
from schemas.subjects import PERSON, Address, BadSubject, parse_command
from services.desk.core.commands import COMMANDS
from services.desk.core.trust import trust_of
from services.domain.senders import kind_of, name_of, reported, sender_of
from tests.helpers.cells import cells

PROJECT = Address("harbour")
SESSION = Address("harbour", "s1")
NAMES = ("", "ada", "build", "historian", "dreamer", "desk", "person")
EVERYBODY = [Actor(kind, name) for kind in get_args(ActorKind) for name in NAMES]


@cells("claimed", EVERYBODY)
@cells("address", [PROJECT, SESSION])
def test_on_a_person_s_subject_a_person_has_sent_it_whoever_it_claims_to_be(address: Address, claimed: Actor) -> None:
    sender = sender_of(address, PERSON, claimed)
    assert (Actor("person", claimed.id), "person") == (sender, trust_of(sender))


@pytest.mark.parametrize(
    ("claimed", "sender", "trust"),
    [
        (Actor("person", "ada"), Actor("harness", "ada", claimed="person"), "agent"),
        (Actor("person"), Actor("harness", claimed="person"), "agent"),
        (Actor("agent", "build"), Actor("agent", "build"), "agent"),
        (Actor("agent", "person"), Actor("agent", "person"), "agent"),
        (Actor("harness", "opencode"), Actor("harness", "opencode"), "agent"),
        (Actor("harness", "x", claimed="person"), Actor("harness", "x"), "agent"),
        (Actor("room", "historian"), Actor("harness", "historian", claimed="room"), ""),
        (Actor("room", "desk"), Actor("harness", "desk", claimed="room"), ""),
    ],
)
def test_on_a_session_s_subject_a_harness_has_sent_it(claimed: Actor, sender: Actor, trust: str) -> None:
    assert sender == sender_of(SESSION, "", claimed) == reported(claimed)
    assert trust == trust_of(sender)


@pytest.mark.parametrize(
    ("claimed", "trust"),
    [(Actor("room", one), one) for one in ("historian", "dreamer", "searcher", "desk")]
    + [(Actor("room", "person"), ""), (Actor("room"), "")],
)
def test_on_a_project_s_subject_a_room_has_sent_it(claimed: Actor, trust: str) -> None:
    assert (claimed, trust) == (sender_of(PROJECT, "", claimed), trust_of(claimed))


@cells("claimed", [one for one in EVERYBODY if one.kind != "room"])
def test_a_room_speaks_for_nobody(claimed: Actor) -> None:
    with pytest.raises(BadSubject, match=r"on their own subject: one that ends in \.person"):
        sender_of(PROJECT, "", claimed)


def test_from_a_harness_nobody_is_trusted_further_than_its_agent() -> None:
    assert {"agent", ""} == {trust_of(sender_of(SESSION, "", claimed)) for claimed in EVERYBODY}
    assert {trust_of(Actor("room", name)) for name in NAMES} <= {*TRUSTS, "desk", ""}


def test_a_sender_that_a_harness_names_is_recorded_as_its_claim() -> None:
    assert ("person, by harness", "ada, by harness") == (
        kind_of(reported(Actor("person", "ada"))),
        name_of(reported(Actor("person", "ada"))),
    )
    assert "person, by harness" == name_of(reported(Actor("person")))
    assert ("agent", "build") == (kind_of(Actor("agent", "build")), name_of(Actor("agent", "build")))
    assert ("person", "ada") == (kind_of(Actor("person", "ada")), name_of(Actor("person", "ada")))


@cells("command", COMMANDS)
@cells("user", ["room", "harness", "PERSON", "Person", "_", "*", ">", "", "person.person", "=70erson"])
def test_no_other_last_token_makes_a_person(command: type, user: str) -> None:
    with pytest.raises(BadSubject):
        parse_command(f"do.harbour.s1.{command.TYPE}.{user}")
