"""History in the real harness: compressed beside the session, served at a rebase, and opened again by the agent."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from schemas.events import CompartmentSealed, HistoryAdvanced, HistoryFailed, HistoryRequested
from services.kit.settings import History, Plan
from tests.conftest import HouseFactory
from tests.harness.connected import Connected, assert_whole, connected, rebases
from tests.harness.isolation import ANTHROPIC, OPENAI, Family
from tests.harness.provider import Call, Provider, Reply
from tests.harness.saying import Calls, Talk, calls
from tests.harness.test_plain import breaks
from tests.harness.test_tools import command
from tests.harness.workspace import LONG
from tests.house.support import facts, until

pytestmark = pytest.mark.harness

TELLING = "boxed-early-quince"
"""What only the long file holds."""


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with Provider() as running:
        yield running


@pytest.fixture(params=[OPENAI, ANTHROPIC], ids=lambda family: family.format)
async def running(
    request: pytest.FixtureRequest, provider: Provider, tmp_path: Path, house: HouseFactory
) -> AsyncIterator[Connected]:
    family: Family = request.param
    settings = {"plan": Plan(protected_tags=1), "history": History(tail_tokens=1000)}
    async with connected(tmp_path, house, provider, family, settings=settings) as all_of_it:
        yield all_of_it


async def reading(running: Connected) -> Talk:
    """A session that has read a long file, and then short ones."""
    talk, on = await Talk.open(running.oc, running.provider, "Catalogue"), Calls(running.oc)
    await talk.say(
        "Read the catalogue. Never write prices by hand.", calls(on.read(LONG)), Reply(text="Prices come from the csv.")
    )
    for name in ("README.md", "docs/ideas.md", "docs/pricing.md"):
        await talk.say(f"Read {name}.", calls(on.read(name)), Reply(text=f"I have read {name}."))
    return talk


async def compressed(running: Connected, runs: int = 1) -> bool:
    ends = [event for _, event in await facts(running.bus) if isinstance(event, HistoryAdvanced | HistoryFailed)]
    return runs <= len(ends)


async def wrapped_up(running: Connected, talk: Talk) -> None:
    report = await command(running, talk.session, "ctx-wrapup")
    assert "compressed" in report
    await until(lambda: compressed(running), "the history of the session")


async def test_history_takes_the_place_of_its_messages_and_can_be_opened_again(running: Connected) -> None:
    talk, on = await reading(running), Calls(running.oc)
    await wrapped_up(running, talk)
    called = len(running.provider.of(talk.session))
    await talk.say("Wait.", Reply(text="I wait."))
    assert TELLING in str(running.provider.of(talk.session)[-1].messages)

    await command(running, talk.session, "ctx-flush")
    await talk.say("Go on.", Reply(text="On it."))
    first = running.provider.of(talk.session)[-1]
    assert "Never write prices by hand" in str(first.messages[0])
    assert TELLING not in str(first.messages)
    await talk.say(
        "What did the file say?",
        Reply(calls=(Call("ctx_expand", {"start": 1, "end": 2, "verbose": True}),)),
        Reply(text="I see."),
    )
    await talk.say("And now?", calls(on.read("README.md")), Reply(text="Done."))

    (expanded,) = await talk.outputs("ctx_expand")
    assert expanded.startswith("Messages 1-2")
    assert TELLING in expanded
    requests = running.provider.of(talk.session)
    assert [] == breaks(requests[: called + 1])
    assert 1 == len(breaks(requests)), breaks(requests)
    assert [] == running.provider.faults
    log = await assert_whole(running, [talk.session])
    assert [["flush"]] == [rebase.causes for rebase in rebases(log, talk.session)]


@pytest.mark.parametrize("running", [OPENAI], ids=["openai"], indirect=True)
async def test_a_historian_that_is_killed_does_its_work_once(running: Connected) -> None:
    talk = await reading(running)
    os.kill(running.house.status["historian"].pid, signal.SIGSTOP)
    await command(running, talk.session, "ctx-wrapup")
    await talk.say("Go on.", Reply(text="On it."))
    os.kill(running.house.status["historian"].pid, signal.SIGKILL)
    await talk.say("And on.", Reply(text="On and on."))
    await until(lambda: compressed(running), "the history of the session")

    log = [event for _, event in await running.log()]
    assert 1 == sum(isinstance(event, HistoryRequested) for event in log)
    sealed = [event.first for event in log if isinstance(event, CompartmentSealed)]
    assert sorted(set(sealed)) == sealed
    assert [] == breaks(running.provider.of(talk.session))
