"""A patient connection, as a person's command has: it waits for a room or a broker that is started again."""

import asyncio

import pytest

from services.edges.launcher.broker import Broker
from services.kit.bus import Bus, NoResponder
from services.kit.bus.connection import BrokenConnection
from tests.helpers.broker_world import connected
from tests.helpers.waiting import PATIENCE, until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]
SUBJECT = "do.x"


class CountingBus(Bus):
    """A connection that counts what it sends."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type] # whatever a connection is made of
        self.sent = 0

    async def _requested(self, subject: str, data: bytes, timeout: float) -> bytes:  # noqa: ASYNC109 - as there
        self.sent += 1
        return await super()._requested(subject, data, timeout)


@pytest.fixture
async def patient(broker: Broker) -> CountingBus:
    bus = await connected(broker, kind=CountingBus)
    assert isinstance(bus, CountingBus)
    bus.patience = PATIENCE
    return bus


async def echo(_subject: str, data: bytes) -> bytes:
    return data


async def test_a_room_that_is_not_there_yet_is_waited_for(bus: Bus, patient: CountingBus) -> None:
    asking = asyncio.create_task(patient.request(SUBJECT, b"a command", PATIENCE))
    await until(lambda: patient.sent > 1)
    await bus.serve(SUBJECT, "desk", echo)
    assert b"a command" == await asking
    await patient.close()


async def test_what_was_on_its_way_when_the_broker_fell_is_sent_again(
    broker: Broker, bus: Bus, patient: CountingBus
) -> None:
    came: list[bytes] = []

    async def answer(_subject: str, data: bytes) -> bytes:
        came.append(data)
        if len(came) == 1:
            await asyncio.Event().wait()
        return data

    await bus.serve(SUBJECT, "desk", answer)
    asking = asyncio.create_task(patient.request(SUBJECT, b"a command", PATIENCE))
    await until(lambda: came)
    broker.stop()
    await broker.start()
    assert b"a command" == await asking
    assert [b"a command"] * 2 == came
    await patient.close()


async def test_patience_has_an_end_and_others_have_none(bus: Bus, patient: CountingBus) -> None:
    patient.patience = 0.05
    for one in (patient, bus):
        with pytest.raises(NoResponder, match="nobody serves do"):
            await one.request(SUBJECT, b"", PATIENCE)
    assert patient.sent > 1
    await patient.close()


class FallingBus(CountingBus):
    """A connection that breaks while the first request is under way."""

    async def _requested(self, subject: str, data: bytes, timeout: float) -> bytes:  # noqa: ASYNC109 - as there
        if self.sent == 0:
            self.sent += 1
            raise BrokenConnection("the connection broke")
        return await super()._requested(subject, data, timeout)


async def test_what_may_have_been_heard_before_it_broke_is_never_reported_as_unheard(broker: Broker) -> None:
    falling = await connected(broker, kind=FallingBus)
    assert isinstance(falling, FallingBus)
    falling.patience = 0.3
    with pytest.raises(BrokenConnection, match="the connection broke"):
        await falling.request(SUBJECT, b"a command", PATIENCE)
    await falling.close()
