"""What Annals costs where it removes nothing: no prefix, no cache; and a run without a server loses nothing by it.

A rebase that is made without need saves more than it costs.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest

from services.edges.client.cost import CACHED, NEW
from services.kit import endpoint
from tests.conftest import InstallationFactory
from tests.harness import scenarios
from tests.harness.connected import USUAL, Connected, assert_whole, connected, plugin, rebases
from tests.harness.isolation import ANTHROPIC, Family, Json
from tests.harness.line import Line
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider, Reply, Request, Script
from tests.harness.scenarios import COMPARED
from tests.harness.scripted import bash, calls
from tests.harness.test_blows import waiting
from tests.harness.test_plain import breaks
from tests.harness.wires import played_on
from tests.helpers.installation import connect, until

pytestmark = pytest.mark.harness

BLOCK = 0.005
"""Shares that differ by less are the same: a provider's cache counts in blocks."""
families = pytest.mark.parametrize("family", played_on(ANTHROPIC), ids=lambda family: family.format)


def cached(requests: Sequence[Request]) -> float:
    """The share of all prompts behind the first that came from the provider's cache."""
    _, *later = requests
    return sum(request.usage.cached for request in later) / sum(request.usage.prompt for request in later)


def cost(requests: Sequence[Request]) -> float:
    """Of all prompts, in units of a plain input token."""
    return sum(
        CACHED * request.usage.cached + NEW * (request.usage.prompt - request.usage.cached) for request in requests
    )


async def played(oc: OpenCode, provider: Provider) -> dict[str, list[Request]]:
    """The requests of each scenario's session."""
    return {
        scenario.__name__: provider.of(session) for scenario in COMPARED for session in await scenario(oc, provider)
    }


@pytest.mark.soak
@families
async def test_the_cache_is_read_as_well_with_annals_as_without(
    tmp_path: Path, installation: InstallationFactory, family: Family
) -> None:
    async with AsyncExitStack() as stack:
        providers = [await stack.enter_async_context(Provider()) for _ in range(2)]
        bare, managed = providers
        plain = OpenCode(tmp_path / "without", bare.url, family=family, config=scenarios.CONFIG)
        without = await played(await stack.enter_async_context(plain), bare)
        await plain.stop()
        running = await stack.enter_async_context(connected(tmp_path / "with", installation, managed, family))
        with_annals = await played(running.oc, managed)
        log = await assert_whole(running, [requests[0].session for requests in with_annals.values()])

    assert [[], []] == [provider.faults for provider in providers]
    assert [0, 0] == [provider.script.left() for provider in providers]
    for name, requests in with_annals.items():
        alone, made = without[name], rebases(log, requests[0].session)
        assert len(alone) == len(requests)
        assert [] == breaks(alone)
        assert any("§" in message.decode() for message in requests[-1].messages), running.notes()
        assert len(made) == len(breaks(requests)), (name, running.notes())
        if made:
            assert cost(requests) < cost(alone), f"{name}: a rebase that was not forced did not pay"
        else:
            assert cached(requests) >= cached(alone) - BLOCK, name
    assert not rebases(log, with_annals["mending"][0].session), "nothing that could go stands in so short a session"


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with Provider(Script(calls(bash("echo from the shell")))) as running:
        yield running


async def test_a_run_without_a_server_is_whole_in_the_log_when_it_ends(
    provider: Provider, tmp_path: Path, installation: InstallationFactory
) -> None:
    state = tmp_path / "state"
    async with installation(tmp_path / "data") as there:
        bus = await connect(there)
        oc = OpenCode(tmp_path, provider.url, plugins=[plugin(there.data, state)], config=scenarios.CONFIG)
        provider.script.add(Reply(text="It spoke."))

        reported = await oc.run_once("Say something.")

        assert ["§2§ from the shell\n"] == list(provider.of()[-1].outputs.values())
        assert ["It spoke."] == [event["part"]["text"] for event in reported if event["type"] == "text"]
        assert 0 == waiting(state)
        await oc.restart(plugins=())  # a harness without the plugin is asked for its messages
        try:
            await assert_whole(Connected(there, bus, provider, oc, state), [session_of(reported)])
        finally:
            await oc.stop()
            await bus.close()
    assert [] == provider.faults


async def test_what_a_run_could_not_report_is_reported_by_the_next_one(
    provider: Provider, tmp_path: Path, installation: InstallationFactory
) -> None:
    state, far = tmp_path / "state", tmp_path / "far"
    async with installation(tmp_path / "data") as there:
        bus = await connect(there)
        written = endpoint.read(there.data)
        assert written is not None
        async with Line(int(written.url.rpartition(":")[2])) as line:
            endpoint.write(far, msgspec.structs.replace(written, url=line.url))
            oc = OpenCode(tmp_path, provider.url, plugins=[plugin(far, state, **USUAL)], config=scenarios.CONFIG)

            def last(_: Request) -> Reply:
                line.fall_silent()
                return Reply(text="Nobody heard it.")

            provider.script.add(last)
            reported = await oc.run_once("Say something.")
        assert waiting(state) > 0

        await oc.restart(plugins=[plugin(there.data, state)])
        try:
            await until(lambda: is_sent(state), "what waited has been sent")
            await assert_whole(Connected(there, bus, provider, oc, state), [session_of(reported)])
        finally:
            await oc.stop()
            await bus.close()


def session_of(reported: Sequence[Json]) -> str:
    (session,) = {event["sessionID"] for event in reported}
    return str(session)


async def is_sent(state: Path) -> bool:
    return waiting(state) == 0
