"""History in the real harness: compressed in the background, served at a rebase, and opened again by the agent."""

import os
import signal
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from schemas.events import CompartmentSealed, HistoryAdvanced, HistoryFailed, HistoryRequested
from services.settings import History, Limits
from tests.conftest import running_installation
from tests.harness.connected import Connected, assert_whole, connected, rebases
from tests.harness.isolation import OPENAI, Family
from tests.harness.provider import Call, Provider, Reply
from tests.harness.scripted import Calls, Conversation, bash, calls
from tests.harness.test_plain import breaks
from tests.harness.test_tools import command
from tests.harness.wires import played_on
from tests.harness.workspace import LONG
from tests.helpers.installation import facts, until

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]

TELLING = "boxed-early-quince"
"""What only the long file holds."""


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=played_on(OPENAI), ids=lambda family: family.format)
async def running(
    request: pytest.FixtureRequest, provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Connected]:
    family: Family = request.param
    settings = {"plan": Limits(protected_tags=1), "history": History(tail_tokens=1000)}
    root = tmp_path_factory.mktemp(family.provider)
    async with connected(root, running_installation, provider, family, settings=settings) as all_of_it:
        yield all_of_it


async def reading(running: Connected) -> Conversation:
    """A session in which a command has printed a long file, and which then has read short ones."""
    conversation, on = await Conversation.open(running.oc, running.provider, "Catalogue"), Calls(running.oc)
    await conversation.send(
        "Sort the catalogue. Never write prices by hand.",
        calls(bash(f"sort {LONG}")),
        Reply(text="Prices come from the csv."),
    )
    for name in ("README.md", "docs/ideas.md", "docs/pricing.md"):
        await conversation.send(f"Read {name}.", calls(on.read(name)), Reply(text=f"I have read {name}."))
    return conversation


async def compressed(running: Connected, session: str) -> bool:
    return any(
        isinstance(event, HistoryAdvanced | HistoryFailed)
        for envelope, event in await facts(running.bus)
        if envelope.session == session
    )


async def wrapped_up(running: Connected, conversation: Conversation) -> None:
    report = await command(running, conversation.session, "ctx-wrapup")
    assert "compressed" in report
    await until(lambda: compressed(running, conversation.session), "the history of the session")


async def test_history_takes_the_place_of_its_messages_and_can_be_opened_again(running: Connected) -> None:
    conversation, on = await reading(running), Calls(running.oc)
    await wrapped_up(running, conversation)
    called = len(running.provider.of(conversation.session))
    await conversation.send("Wait.", Reply(text="I wait."))
    assert TELLING in str(running.provider.of(conversation.session)[-1].messages)

    await command(running, conversation.session, "ctx-flush")
    await conversation.send("Go on.", Reply(text="On it."))
    first = running.provider.of(conversation.session)[-1]
    assert "Never write prices by hand" in str(first.messages[0])
    assert TELLING not in str(first.messages)
    await conversation.send(
        "What did the file say?",
        Reply(calls=(Call("ctx_expand", {"start": 1, "end": 2, "verbose": True}),)),
        Reply(text="I see."),
    )
    await conversation.send("And now?", calls(on.read("README.md")), Reply(text="Done."))

    (expanded,) = await conversation.outputs("ctx_expand")
    assert expanded.startswith("Messages 1-2")
    assert TELLING in expanded
    requests = running.provider.of(conversation.session)
    assert [] == breaks(requests[: called + 1])
    assert 1 == len(breaks(requests)), breaks(requests)
    assert [] == running.provider.faults
    log = await assert_whole(running, [conversation.session])
    assert [["flush"]] == [rebase.causes for rebase in rebases(log, conversation.session)]


@pytest.mark.parametrize("running", [OPENAI], ids=["openai"], indirect=True)
async def test_a_historian_that_is_killed_does_its_work_once(running: Connected) -> None:
    os.kill(running.installation.status["historian"].pid, signal.SIGSTOP)
    conversation = await reading(running)
    await command(running, conversation.session, "ctx-wrapup")
    await conversation.send("Go on.", Reply(text="On it."))
    os.kill(running.installation.status["historian"].pid, signal.SIGKILL)
    await conversation.send("And on.", Reply(text="On and on."))
    await until(lambda: compressed(running, conversation.session), "the history of the session")

    log = [event for envelope, event in await running.log() if envelope.session == conversation.session]
    assert 1 == [event.reason for event in log if isinstance(event, HistoryRequested)].count("wrapup")
    sealed = [event.first for event in log if isinstance(event, CompartmentSealed)]
    assert sorted(set(sealed)) == sealed
    assert [] == breaks(running.provider.of(conversation.session))
