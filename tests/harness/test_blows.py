"""The service falls, stands still or is away while the agent works: turns go on, the prefix holds, nothing is lost."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from services.kit.settings import Nats
from services.launcher.broker import Broker
from tests.conftest import HouseFactory
from tests.harness import scenarios
from tests.harness.connected import Connected, assert_whole, connected, plugin
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider, Script
from tests.harness.provider.script import Reply
from tests.harness.saying import Calls, Talk, bash, calls
from tests.harness.test_plain import breaks
from tests.house.support import connect, until

pytestmark = pytest.mark.harness


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with Provider(Script()) as running:
        yield running


@pytest.fixture
async def running(provider: Provider, tmp_path: Path, house: HouseFactory) -> AsyncIterator[Connected]:
    async with connected(tmp_path, house, provider) as all_of_it:
        yield all_of_it


def tags(provider: Provider, session: str) -> int:
    """Messages of the newest request that carry a tag."""
    return sum("§" in message.decode() for message in provider.of(session)[-1].messages)


def waiting(state: Path) -> int:
    """Messages that the adapter keeps on disk for the broker."""
    return sum(len(path.read_text().splitlines()) for path in (state / "spool").iterdir())


async def reading(talk: Talk, on: Calls, name: str) -> None:
    await talk.say(f"Read {name}.", calls(on.read(name)), Reply(text=f"Read {name}."))


async def test_a_room_killed_in_the_middle_of_a_turn(running: Connected) -> None:
    talk, on = await Talk.open(running.oc, running.provider, "Kill"), Calls(running.oc)
    await reading(talk, on, "README.md")
    for room in ("tagger", "responder"):
        mark = running.oc.events.mark()
        talk.script(
            calls(bash(f"while ! test -e {room}.fell; do sleep 0.05; done")),
            calls(on.read("docs/ideas.md")),
            Reply(text="Done."),
        )
        turn = asyncio.create_task(running.oc.prompt(talk.session, "Wait, then read."))
        await talk.running("bash", mark)
        os.kill(running.house.status[room].pid, signal.SIGKILL)
        running.oc.leave(f"{room}.fell")
        await turn
    await reading(talk, on, "docs/pricing.md")

    assert [] == breaks(running.provider.of(talk.session)), running.notes()
    assert [] == running.provider.faults
    await assert_whole(running, [talk.session])


async def test_a_responder_that_stands_still(running: Connected) -> None:
    talk, on = await Talk.open(running.oc, running.provider, "Stop"), Calls(running.oc)
    await reading(talk, on, "README.md")
    pid = running.house.status["responder"].pid
    before = tags(running.provider, talk.session)
    os.kill(pid, signal.SIGSTOP)
    try:
        for name in ("docs/ideas.md", "docs/pricing.md", "orchard/stock.py"):
            await reading(talk, on, name)
        assert before == tags(running.provider, talk.session)
    finally:
        os.kill(pid, signal.SIGCONT)
    await until(lambda: _grows(talk, before), "the plan is fetched again")

    assert [] == breaks(running.provider.of(talk.session)), running.notes()
    await assert_whole(running, [talk.session])


async def _grows(talk: Talk, before: int) -> bool:
    await talk.say("Go on.", Reply(text="On it."))
    return tags(talk.provider, talk.session) > before


async def test_a_broker_that_is_away_for_a_while(
    provider: Provider, broker: Broker, tmp_path: Path, house: HouseFactory
) -> None:
    nats = Nats(url=broker.url, password=SecretStr(broker.endpoint.password))
    state = tmp_path / "state"
    plugins = [plugin(tmp_path, state)]
    async with (
        house(tmp_path / "data", nats=nats) as there,
        OpenCode(tmp_path, provider.url, plugins=plugins, config=scenarios.CONFIG) as oc,
    ):
        bus = await connect(there)
        talk, on = await Talk.open(oc, provider, "Away"), Calls(oc)
        await reading(talk, on, "README.md")
        broker.stop()
        for name in ("docs/ideas.md", "docs/pricing.md"):
            await reading(talk, on, name)
        assert waiting(state) > 0
        await oc.kill()  # what waits is on disk
        await oc.start()
        await reading(talk, on, "orchard/stock.py")
        await broker.start()
        await until(lambda: _is_sent(state), "what waited has been sent")
        await reading(talk, on, "orchard/basket.py")

        assert [] == breaks(provider.of(talk.session))
        await assert_whole(Connected(there, bus, provider, oc, state), [talk.session])
        await bus.close()


async def _is_sent(state: Path) -> bool:
    return waiting(state) == 0


async def test_a_harness_that_starts_again_serves_the_same_bytes(running: Connected) -> None:
    talk, on = await Talk.open(running.oc, running.provider, "Again"), Calls(running.oc)
    await reading(talk, on, "README.md")
    await running.oc.restart()
    await reading(talk, on, "docs/ideas.md")
    await running.oc.kill()
    await running.oc.start()
    await reading(talk, on, "docs/pricing.md")

    assert [] == breaks(running.provider.of(talk.session)), running.notes()
    assert tags(running.provider, talk.session) >= 5
    await assert_whole(running, [talk.session])


async def test_a_harness_that_starts_again_without_the_service(
    provider: Provider, tmp_path: Path, house: HouseFactory
) -> None:
    """The plan is kept by the adapter: the prefix holds even when nobody answers any more."""
    async with house(tmp_path / "data") as there:
        bus = await connect(there)
        plugins = [plugin(there.data, tmp_path / "state")]
        oc = OpenCode(tmp_path, provider.url, plugins=plugins, config=scenarios.CONFIG)
        await oc.start()
        talk, on = await Talk.open(oc, provider, "Alone"), Calls(oc)
        await reading(talk, on, "README.md")
        await bus.close()
        await oc.stop()
    try:
        await oc.start()
        await reading(talk, on, "docs/ideas.md")
        assert [] == breaks(provider.of(talk.session))
        assert tags(provider, talk.session) == 2
    finally:
        await oc.stop()


async def test_a_session_that_is_older_than_annals(provider: Provider, tmp_path: Path, house: HouseFactory) -> None:
    async with OpenCode(tmp_path, provider.url, config=scenarios.CONFIG) as oc:
        talk, on = await Talk.open(oc, provider, "Old"), Calls(oc)
        await reading(talk, on, "README.md")
        await oc.summarize(talk.session)  # what stands before the summary is in no list of a model call any more
        await reading(talk, on, "docs/ideas.md")
        async with house(tmp_path / "data") as there:
            await oc.restart(plugins=[plugin(there.data, tmp_path / "state")])
            first = len(provider.of(talk.session))
            await reading(talk, on, "docs/pricing.md")
            bus = await connect(there)
            running = Connected(there, bus, provider, oc, tmp_path / "state")

            assert [] == breaks(provider.of(talk.session)[first:])
            assert [] == provider.faults
            await until(lambda: _is_whole(running, talk.session), "the old messages are in the log")
            await bus.close()


async def _is_whole(running: Connected, session: str) -> bool:
    try:
        await assert_whole(running, [session])
    except AssertionError:
        return False
    return True
