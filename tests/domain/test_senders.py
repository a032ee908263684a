"""Who has sent what came from a harness."""

import pytest

from schemas.envelope import Actor
from services.domain.senders import reported


@pytest.mark.parametrize(
    ("claimed", "sender"),
    [
        (Actor("harness", "pi"), Actor("harness", "pi")),
        (Actor("agent", "build"), Actor("agent", "build")),
        (Actor("person", "ada"), Actor("harness", "ada", claimed="person")),
        (Actor("room", "desk"), Actor("harness", "desk", claimed="room")),
    ],
)
def test_a_harness_reports_for_itself_and_its_agent_and_only_speaks_of_others(claimed: Actor, sender: Actor) -> None:
    assert sender == reported(claimed)
