"""Who waits for a fact is woken when it is published, and reads again until the log has it."""

import asyncio
from collections.abc import Callable

import pytest

from schemas.events import QuestionWithdrawn
from schemas.subjects import Address
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus, LogReader, Unreachable
from services.kit.fact_watch import PAUSES, FactWaiter, FactWatch
from tests.helpers.broker_world import HARBOUR, connected, wrapped
from tests.helpers.waiting import PATIENCE

PROJECT = Address(HARBOUR.project)
FACTS = "log.*.*._.question.*"


async def test_who_was_rung_for_reads_at_once_and_then_again_a_few_times() -> None:
    waiter, loop = FactWaiter(), asyncio.get_running_loop()
    waiter.wake()
    await asyncio.wait_for(waiter.wait(loop.time() + PATIENCE), PATIENCE)
    for _ in PAUSES[:6]:
        await asyncio.wait_for(waiter.wait(loop.time() + PATIENCE), PATIENCE)


async def test_who_is_not_rung_for_waits_until_the_end() -> None:
    waiter, loop = FactWaiter(), asyncio.get_running_loop()
    waiting = asyncio.create_task(waiter.wait(loop.time() + PATIENCE))
    await asyncio.sleep(0)
    assert not waiting.done()
    waiter.wake()
    await waiting
    await FactWaiter().wait(loop.time())


@pytest.mark.broker
async def test_a_fact_that_is_heard_of_is_found_however_late_it_is_stored(bus: Bus) -> None:
    """The broker passes each on before it has stored it: nobody who waits misses one of many."""
    reader, heard = LogReader(bus), []
    watch = FactWatch(bus, FACTS, lambda address, kind: heard.append((address, kind)))
    await watch.open()
    await watch.open()
    subject = PROJECT.log(QuestionWithdrawn.TYPE)
    for number in range(40):
        with watch.waiter(PROJECT.project) as waiter, watch.waiter("island") as other:
            assert len(watch) == 2
            expected = {subject: await reader.next_after(0, [subject]) and await reader.head()}
            event = QuestionWithdrawn(f"q{number}")
            appended = asyncio.create_task(Appender(bus).append(wrapped([event], expected, PROJECT), expected))
            while await reader.head() <= number:
                await waiter.wait(asyncio.get_running_loop().time() + PATIENCE)
            await appended
            del other
    assert [(PROJECT, QuestionWithdrawn.TYPE)] * 40 == heard
    assert 0 == len(watch)


class StumblingBus(Bus):
    """A connection that breaks as it is first asked to follow a subject."""

    has_stumbled = False

    async def follow(self, subject: str, heard: Callable[[str], None]) -> None:
        if not self.has_stumbled:
            self.has_stumbled = True
            raise Unreachable("the connection broke")
        await super().follow(subject, heard)


@pytest.mark.broker
async def test_one_that_could_not_be_opened_is_opened_by_the_next_who_needs_it(broker: Broker) -> None:
    bus = await connected(broker, kind=StumblingBus)
    heard = asyncio.Event()
    watch = FactWatch(bus, FACTS, lambda *_: heard.set())
    with pytest.raises(Unreachable, match="the connection broke"):
        await watch.open()
    await watch.open()
    await Appender(bus).append(wrapped([QuestionWithdrawn("q")], {}, PROJECT), {})
    await asyncio.wait_for(heard.wait(), PATIENCE)
    await bus.close()
