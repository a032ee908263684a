"""The service falls, stands still or is away while the agent works: turns go on, the prefix holds, nothing is lost."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import SecretStr

from services.edges.launcher.broker import Broker
from services.settings import Nats
from tests.conftest import InstallationFactory, running_installation
from tests.harness import scenarios
from tests.harness.connected import USUAL, Connected, assert_whole, connected, plugin
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider
from tests.harness.provider.script import Reply
from tests.harness.scripted import Calls, Conversation, bash, calls
from tests.harness.test_plain import breaks
from tests.helpers.installation import connect, until

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]

LATE_MS = 3_000
"""So long is waited for a room that stands still, or that fell with the question: a plan comes sooner, if one comes."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Connected]:
    """The installation serves the next test after a blow, too: each ends when its reports are in the log."""
    root = tmp_path_factory.mktemp("blows")
    async with connected(root, running_installation, provider, deadline_ms=LATE_MS) as all_of_it:
        yield all_of_it


def tags(provider: Provider, session: str) -> int:
    """Messages of the newest request that carry a tag."""
    return sum("§" in message.decode() for message in provider.of(session)[-1].messages)


def waiting(state: Path) -> int:
    """Messages that the adapter keeps on disk for the broker."""
    found = 0
    for path in (state / "spool").iterdir():
        with suppress(FileNotFoundError):  # it has been sent meanwhile
            found += len(path.read_text().splitlines())
    return found


async def reading(conversation: Conversation, on: Calls, name: str) -> None:
    await conversation.send(f"Read {name}.", calls(on.read(name)), Reply(text=f"Read {name}."))


async def test_a_room_killed_in_the_middle_of_a_turn(running: Connected) -> None:
    conversation, on = await Conversation.open(running.oc, running.provider, "Kill"), Calls(running.oc)
    await reading(conversation, on, "README.md")
    for room in ("tagger", "responder"):
        mark = running.oc.events.mark()
        conversation.script(
            calls(bash(f"while ! test -e {room}.fell; do sleep 0.05; done")),
            calls(on.read("docs/ideas.md")),
            Reply(text="Done."),
        )
        turn = asyncio.create_task(running.oc.prompt(conversation.session, "Wait, then read."))
        await conversation.running("bash", mark)
        os.kill(running.installation.status[room].pid, signal.SIGKILL)
        running.oc.leave(f"{room}.fell")
        await turn
    await reading(conversation, on, "docs/pricing.md")

    assert [] == breaks(running.provider.of(conversation.session)), running.notes()
    assert [] == running.provider.faults
    await assert_whole(running, [conversation.session])


async def test_a_responder_that_stands_still(running: Connected) -> None:
    conversation, on = await Conversation.open(running.oc, running.provider, "Stop"), Calls(running.oc)
    await reading(conversation, on, "README.md")
    pid = running.installation.status["responder"].pid
    before = tags(running.provider, conversation.session)
    os.kill(pid, signal.SIGSTOP)
    try:
        for name in ("docs/ideas.md", "docs/pricing.md", "orchard/stock.py"):
            await reading(conversation, on, name)
        assert before == tags(running.provider, conversation.session)
    finally:
        os.kill(pid, signal.SIGCONT)
    await until(lambda: _grows(conversation, before), "the plan is fetched again")

    assert [] == breaks(running.provider.of(conversation.session)), running.notes()
    await assert_whole(running, [conversation.session])


async def _grows(conversation: Conversation, before: int) -> bool:
    await conversation.send("Go on.", Reply(text="On it."))
    return tags(conversation.provider, conversation.session) > before


@pytest.mark.soak
@pytest.mark.own_broker
async def test_a_broker_that_is_away_for_a_while(
    provider: Provider, broker: Broker, tmp_path: Path, installation: InstallationFactory
) -> None:
    nats = Nats(url=broker.url, password=SecretStr(broker.endpoint.password))
    state = tmp_path / "state"
    plugins = [plugin(tmp_path, state)]
    async with (
        installation(tmp_path / "data", nats=nats) as there,
        OpenCode(tmp_path, provider.url, plugins=plugins, config=scenarios.CONFIG) as oc,
    ):
        bus = await connect(there)
        conversation, on = await Conversation.open(oc, provider, "Away"), Calls(oc)
        await reading(conversation, on, "README.md")
        broker.stop()
        for name in ("docs/ideas.md", "docs/pricing.md"):
            await reading(conversation, on, name)
        assert waiting(state) > 0
        await oc.kill()  # what waits is on disk
        await oc.start()
        await reading(conversation, on, "orchard/stock.py")
        await broker.start()
        await until(lambda: _is_sent(state), "what waited has been sent")
        await reading(conversation, on, "orchard/basket.py")

        assert [] == breaks(provider.of(conversation.session))
        await assert_whole(Connected(there, bus, provider, oc, state), [conversation.session])
        await bus.close()


async def _is_sent(state: Path) -> bool:
    return waiting(state) == 0


async def test_a_harness_that_starts_again_serves_the_same_bytes(running: Connected) -> None:
    """It takes over ten seconds of a processor: OpenCode is started three times."""
    conversation, on = await Conversation.open(running.oc, running.provider, "Again"), Calls(running.oc)
    await reading(conversation, on, "README.md")
    await running.oc.restart(plugins=[plugin(running.installation.data, running.state)])
    await reading(conversation, on, "docs/ideas.md")
    await running.oc.kill()
    await running.oc.start()
    await reading(conversation, on, "docs/pricing.md")

    assert [] == breaks(running.provider.of(conversation.session)), running.notes()
    assert tags(running.provider, conversation.session) >= 5
    await assert_whole(running, [conversation.session])


@pytest.mark.soak
async def test_a_harness_that_starts_again_without_the_service(
    provider: Provider, tmp_path: Path, installation: InstallationFactory
) -> None:
    """The plan is stored by the adapter: the prefix holds even when nobody answers any more."""
    async with installation(tmp_path / "data") as there:
        bus = await connect(there)
        plugins = [plugin(there.data, tmp_path / "state", **USUAL)]
        oc = OpenCode(tmp_path, provider.url, plugins=plugins, config=scenarios.CONFIG)
        await oc.start()
        conversation, on = await Conversation.open(oc, provider, "Alone"), Calls(oc)
        await reading(conversation, on, "README.md")
        await bus.close()
        await oc.stop()
    try:
        await oc.start()
        await reading(conversation, on, "docs/ideas.md")
        assert [] == breaks(provider.of(conversation.session))
        assert tags(provider, conversation.session) == 2
    finally:
        await oc.stop()


async def test_a_session_that_is_older_than_annals(
    provider: Provider, tmp_path: Path, installation: InstallationFactory
) -> None:
    """It takes over ten seconds of a processor: OpenCode is started without Annals, too."""
    async with OpenCode(tmp_path, provider.url, config=scenarios.CONFIG) as oc:
        conversation, on = await Conversation.open(oc, provider, "Old"), Calls(oc)
        await reading(conversation, on, "README.md")
        await oc.summarize(
            conversation.session
        )  # what stands before the summary is in no list of a model call any more
        await reading(conversation, on, "docs/ideas.md")
        async with installation(tmp_path / "data") as there:
            await oc.restart(plugins=[plugin(there.data, tmp_path / "state")])
            first = len(provider.of(conversation.session))
            await reading(conversation, on, "docs/pricing.md")
            bus = await connect(there)
            running = Connected(there, bus, provider, oc, tmp_path / "state")

            assert [] == breaks(provider.of(conversation.session)[first:])
            assert [] == provider.faults
            await until(lambda: _is_whole(running, conversation.session), "the old messages are in the log")
            await bus.close()


async def _is_whole(running: Connected, session: str) -> bool:
    try:
        await assert_whole(running, [session])
    except AssertionError:
        return False
    return True
