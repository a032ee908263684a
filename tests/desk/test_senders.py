"""Who a command comes from, to the real desk on a real broker: a harness claims in vain to be somebody else."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from schemas.codec import encode
from schemas.commands import (
    Answer,
    Command,
    CommandMessage,
    MemoryDecide,
    MemoryExpire,
    MemoryPin,
    MemoryQuarantine,
    MemoryWrite,
    PolicySet,
)
from schemas.envelope import Actor
from schemas.events import MemoryWritten, PolicyChanged
from schemas.subjects import Address
from services.desk.worker import Desk
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from tests.helpers.broker_world import HARBOUR, NOON, PERSON, connected, facts, opened, quick_settings, raw, subject_of
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.broker

PROJECT = Address(HARBOUR.project)
CLAIMS = (PERSON, Actor("room", "historian"), Actor("room", "desk"), Actor("agent", "build"), Actor("harness", "pi"))
OF_PEOPLE = (
    MemoryDecide("m1", approve=True),
    MemoryQuarantine("session", "s1"),
    PolicySet("tool_output", "applied"),
    PolicySet("agent", "applied"),
    MemoryPin("m1"),
    MemoryExpire(NOON),
)


@pytest.fixture
async def desk(bus: Bus, tmp_path: Path) -> AsyncIterator[None]:
    async with opened(Desk(), bus, quick_settings(tmp_path)):
        yield


async def sent(bus: Bus, address: Address, command: Command, actor: Actor, name: str = "c") -> Answer:
    data = encode(CommandMessage(name, NOON, actor, raw(command)))
    return msgspec.json.decode(await bus.request(subject_of(address, command, actor), data, PATIENCE), type=Answer)


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("command", OF_PEOPLE, ids=lambda command: command.TYPE)
async def test_a_harness_decides_nothing_in_place_of_a_person(broker: Broker, bus: Bus, command: Command) -> None:
    harness = await connected(broker, "harness")
    for place, claim in enumerate(CLAIMS):
        answer = await sent(harness, HARBOUR, command, claim, f"c{place}")
        assert (False, 0) == (answer.ok, answer.seq)
        assert answer.text.startswith("Nothing was written: ")
    await harness.close()
    assert [] == await facts(bus)


@pytest.mark.usefixtures("desk")
async def test_what_a_harness_has_written_is_an_agent_s_whoever_it_claims_to_be(broker: Broker, bus: Bus) -> None:
    harness = await connected(broker, "harness")
    command = MemoryWrite("Always number the berths from the sea.", "NAMING")
    assert (await sent(harness, HARBOUR, command, PERSON)).ok
    await harness.close()
    (written,) = [event for event in await facts(bus) if isinstance(event, MemoryWritten)]
    assert "agent" == written.trust


@pytest.mark.usefixtures("desk")
async def test_a_person_sets_the_policy_on_the_project_s_subject(broker: Broker, bus: Bus) -> None:
    person = await connected(broker, "person")
    assert (await sent(person, PROJECT, PolicySet("agent", "held"), PERSON)).ok
    await person.close()
    assert [PolicyChanged("agent", "held")] == await facts(bus)
