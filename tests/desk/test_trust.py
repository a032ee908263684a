from typing import get_args

import pytest

from schemas.envelope import Actor, ActorKind
from schemas.events.memory import TRUSTS
from schemas.subjects import Address
from services.desk.core.trust import trust_of

PROJECT = Address("harbour")
SESSION = Address("harbour", "s1")
NAMES = ("", "ada", "build", "historian", "dreamer", "desk", "person")


@pytest.mark.parametrize(
    ("actor", "on_project", "on_session"),
    [
        (Actor("person", "ada"), "person", "agent"),
        (Actor("person"), "person", "agent"),
        (Actor("agent", "build"), "agent", "agent"),
        (Actor("agent", "person"), "agent", "agent"),
        (Actor("harness", "opencode"), "agent", "agent"),
        (Actor("room", "historian"), "historian", ""),
        (Actor("room", "dreamer"), "dreamer", ""),
        (Actor("room", "desk"), "desk", ""),
        (Actor("room", "person"), "", ""),
        (Actor("room"), "", ""),
    ],
)
def test_a_command_is_trusted_by_its_subject_first(actor: Actor, on_project: str, on_session: str) -> None:
    assert (on_project, on_session) == (trust_of(PROJECT, actor), trust_of(SESSION, actor))


def test_on_a_session_s_subject_nobody_is_trusted_further_than_its_agent() -> None:
    actors = [Actor(kind, name) for kind in get_args(ActorKind) for name in NAMES]
    assert {"agent", ""} == {trust_of(SESSION, actor) for actor in actors}
    assert {trust_of(PROJECT, actor) for actor in actors} <= {*TRUSTS, "desk", ""}
