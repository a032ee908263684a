"""The memory of a project in the harness: what an agent writes by its tool, and what a person decides about."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.events import Event, MemoryPinned, MemoryWritten, NoteWritten
from schemas.offered import ACTIONS
from schemas.tools import MEMORY
from services.edges.arguments import parser
from services.edges.memory.command import memory
from services.settings import Settings
from tests.conftest import running_installation
from tests.harness.connected import Connected, connected
from tests.harness.isolation import ANTHROPIC, Family
from tests.harness.provider import Call, Provider, Reply
from tests.harness.scripted import Conversation, calls, task, tool_parts
from tests.harness.wires import played_on
from tests.helpers.installation import Fact

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]

RULE = "Always number the berths from the sea, because pilots read the charts that way."


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=played_on(ANTHROPIC), ids=lambda family: family.format
)
async def running(
    request: pytest.FixtureRequest, provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Connected]:
    family: Family = request.param
    async with connected(tmp_path_factory.mktemp(family.provider), running_installation, provider, family) as all_of_it:
        yield all_of_it


def keeping(**given: str) -> Reply:
    """An answer that calls the tool."""
    return calls(Call(MEMORY, given))


def of(log: list[Fact], kind: type[Event], origin: str) -> list[Fact]:
    return [fact for fact in log if isinstance(fact[1], kind) and getattr(fact[1], "origin", "") == origin]


async def test_what_an_agent_writes_is_answered_and_remembered_as_its_own(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Keep")
    await conversation.send(
        "Remember that.", keeping(action="write", text=RULE, category="NAMING"), Reply(text="I have stored it.")
    )

    (answer,) = await conversation.outputs(MEMORY)
    ((envelope, written),) = of(await running.log(), MemoryWritten, conversation.session)
    assert isinstance(written, MemoryWritten)
    assert (RULE, "NAMING", "agent") == (written.text, written.category, written.trust)
    assert written.memory in answer
    assert ("agent", "build") == (envelope.actor.kind, envelope.actor.id)
    (called,) = [part for part in tool_parts(await conversation.messages()) if part["tool"] == MEMORY]
    assert called["messageID"] == written.message
    assert envelope.cause == f"{conversation.session}/{called['callID']}"
    assert [] == running.provider.faults


async def test_what_a_person_types_is_remembered_as_theirs_by_the_harness(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Type")
    await conversation.send("Remember: the ferries moor at the coal quay.", Reply(text="So they do."))

    log = await running.log_without(lambda facts: not of([*facts], MemoryWritten, conversation.session))
    ((_, written),) = of(log, MemoryWritten, conversation.session)
    assert isinstance(written, MemoryWritten)
    assert ("person_by_harness", "person, by harness") == (written.trust, written.source)
    assert "the ferries moor at the coal quay." == written.text


async def test_what_a_person_gives_to_run_is_remembered_as_they_typed_it(running: Connected) -> None:
    order = 'Remember: the cranes are called "big" and "small", in this order.'
    running.provider.script.add(Reply(text="So it is."))
    (session,) = {str(one["sessionID"]) for one in await running.oc.run_once(order, "--title", "Run")}

    log = await running.log_without(lambda facts: not of([*facts], MemoryWritten, session))
    ((_, written),) = of(log, MemoryWritten, session)
    assert isinstance(written, MemoryWritten)
    assert "person_by_harness" == written.trust
    assert 'the cranes are called "big" and "small", in this order.' == written.text


async def test_an_action_that_there_is_not_is_answered_with_those_that_there_are(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Guess")
    await conversation.send("Forget it.", keeping(action="forget"), Reply(text="I cannot."))

    (answer,) = await conversation.outputs(MEMORY)
    assert [] == [action for action in ACTIONS if action not in answer]


async def test_a_sub_agent_writes_notes_and_no_memories(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Delegate")
    conversation.script(keeping(action="write", text=f"{RULE} Lights, too."), lane="child")
    conversation.script(keeping(action="note", text="Look at the lights again."), lane="child")
    conversation.script(Reply(text="Looked."), lane="child")
    await conversation.send("Have it looked at.", calls(task("Look", "What is this?")), Reply(text="So it is."))

    (child,) = await running.oc.children(conversation.session)
    refused, written = await Conversation(running.oc, running.provider, child["id"]).outputs(MEMORY)
    assert "give one of note, read." in refused
    log = await running.log()
    assert [] == of(log, MemoryWritten, child["id"])
    ((_, note),) = of(log, NoteWritten, conversation.session)
    assert isinstance(note, NoteWritten)
    assert ("Look at the lights again.", True) == (note.text, note.note in written)


async def test_a_person_decides_about_it_from_the_folder_of_the_project(
    running: Connected, capsys: pytest.CaptureFixture[str]
) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Decide")
    text = "Never dredge the basin in winter, because the ice moves the buoys."
    await conversation.send("Remember that.", keeping(action="write", text=text), Reply(text="I have stored it."))
    ((_, written),) = of(await running.log(), MemoryWritten, conversation.session)
    assert isinstance(written, MemoryWritten)

    options = parser().parse_args(["memory", "pin", written.memory])
    settings = Settings(data=running.installation.data)
    assert 0 == await memory(options, settings, Path(running.oc.path("docs"))), capsys.readouterr().err
    pinned = [
        (envelope.actor.kind, event.memory)
        for envelope, event in await running.log()
        if isinstance(event, MemoryPinned)
    ]
    assert [("person", written.memory)] == pinned
