"""A session's first call comes before the installation is up: it has the memory by one rebase soon after."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.harness.connected import USUAL, WIDE, plugin, rebases
from tests.harness.opencode import OpenCode
from tests.harness.provider import Call, Provider, Reply, Request
from tests.harness.scripted import Conversation
from tests.harness.test_absent import config, is_new_tagged
from tests.harness.test_plain import breaks
from tests.helpers.installation import Fact, connect_to, facts, settle, until
from tests.helpers.installation_process import Apart

pytestmark = pytest.mark.harness

RULE = "Always number the berths from the sea, because pilots read the charts that way."
PART_OF_IT = "berths from the sea"


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with Provider() as running:
        yield running


def knows(requests: Sequence[Request]) -> list[bool]:
    return [PART_OF_IT in request.raw.decode() for request in requests]


async def log_of(installation: Apart) -> list[Fact]:
    bus = await connect_to(installation.settings)
    await settle(bus)
    log = await facts(bus)
    await bus.close()
    return log


def harness(root: Path, provider: Provider, options: Mapping[str, object] = USUAL) -> OpenCode:
    plugins = [plugin(root / "data", root / "state", **options)]
    return OpenCode(root, provider.url, plugins=plugins, config=config())


async def remember(oc: OpenCode, provider: Provider) -> None:
    """A session that is served, and has something remembered."""
    conversation = await Conversation.open(oc, provider, "Warm")
    await until(lambda: is_new_tagged(conversation), "the installation serves the session")
    write = Call("ctx_memory", {"action": "write", "text": RULE, "category": "NAMING"})
    await conversation.send("Remember that.", Reply(calls=(write,)), Reply(text="Stored."))
    (output,) = await conversation.outputs("ctx_memory")
    assert "cannot be reached" not in output


async def test_it_has_the_memory_by_one_rebase_and_a_session_that_was_served_has_none(
    provider: Provider, tmp_path: Path
) -> None:
    """It takes over ten seconds of a processor: two installations are started, and OpenCode twice."""
    async with Apart(tmp_path / "data") as installation:
        async with harness(tmp_path, provider) as oc:
            await (await Conversation.open(oc, provider, "First start")).send("Hello.", Reply(text="Hello."))
        async with harness(tmp_path, provider) as oc:
            await remember(oc, provider)
            warm = await Conversation.open(oc, provider, "Goes on")
            await warm.send("Words.", Reply(text="Yes."))
            await installation.kill()
            await warm.send("Words alone.", Reply(text="Yes."))
            cold = await Conversation.open(oc, provider, "Cold")
            for number in range(3):
                await cold.send(f"Words {number}.", Reply(text="Yes."))
            await installation.start()
            await until(lambda: is_new_tagged(cold), "the installation serves the session")
            answered = len(provider.of(cold.session))
            for number in range(3):
                await cold.send(f"More words {number}.", Reply(text="Yes."))
            await until(lambda: is_new_tagged(warm), "the installation serves the session again")
            log = await log_of(installation)
    requests = provider.of(cold.session)
    assert [["late"]] == [one.causes for one in rebases(log, cold.session)]
    assert [True] * 4 == knows(requests)[answered - 1 :]
    assert 1 == len(breaks(requests)), breaks(requests)
    assert [] == [one.causes for one in rebases(log, warm.session)]
    assert all(knows(provider.of(warm.session)))
    assert [] == breaks(provider.of(warm.session))
    assert [] == provider.faults


@pytest.mark.soak
async def test_a_process_for_one_prompt_always_comes_first(provider: Provider, tmp_path: Path) -> None:
    """`opencode run` ends before anybody answers; the next one goes on with the session."""
    at_once, patient = (harness(tmp_path, provider, options) for options in (USUAL, WIDE))
    write = Call("ctx_memory", {"action": "write", "text": RULE, "category": "NAMING"})
    async with Apart(tmp_path / "data") as installation:
        await patient.run_once("First start.", "--title", "First start")
        provider.script.add(Reply(calls=(write,)), Reply(text="Stored."))
        await patient.run_once("Remember that.", "--title", "Warm")
        await installation.kill()
        (session,) = {line["sessionID"] for line in await at_once.run_once("First words.", "--title", "Cold")}
        await installation.start()
        for number in range(3):
            await patient.run_once(f"Words {number}.", "--session", session)
        log = await log_of(installation)
    requests = provider.of(session)
    assert [["late"]] == [one.causes for one in rebases(log, session)]
    assert [False, True, True, True] == knows(requests)
    assert 1 == len(breaks(requests)), breaks(requests)
    assert [] == provider.faults
