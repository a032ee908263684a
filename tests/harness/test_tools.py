"""What the adapter brings into the harness: tools, commands, guidance, a date that stays, a brief for compactions."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.events import DropRequested, FlushRequested, NativeCompacted
from services.domain.senders import kind_of
from services.responder.answers.client_manifest import MANIFEST
from services.settings import Limits
from tests.conftest import running_installation
from tests.harness import scenarios
from tests.harness.api import Refused
from tests.harness.connected import Connected, connected, plugin, rebases
from tests.harness.isolation import OPENAI, Family
from tests.harness.opencode import OpenCode
from tests.harness.provider import Call, Provider, Reply, Request
from tests.harness.scripted import Calls, Conversation, calls, task
from tests.harness.test_plain import breaks
from tests.harness.test_questions import TITLE as AGENT
from tests.harness.wires import played_on
from tests.harness.workspace import LONG

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=played_on(OPENAI), ids=lambda family: family.format)
async def running(
    request: pytest.FixtureRequest, provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Connected]:
    family: Family = request.param
    settings = {"plan": Limits(protected_tags=1)}
    root = tmp_path_factory.mktemp(family.provider)
    async with connected(root, running_installation, provider, family, settings=settings) as all_of_it:
        yield all_of_it


def tag_of(request: Request, text: str) -> int:
    """The number of the newest output that holds this text."""
    found = [
        int(tag[1]) for output in request.outputs.values() if text in output and (tag := re.match(r"§(\d+)§", output))
    ]
    assert found, f"no tagged output of {request} holds {text!r}"
    return found[-1]


def dropping(text: str) -> object:
    """An answer that drops the output with this text."""
    return lambda request: Reply(calls=(Call("ctx_reduce", {"drop": str(tag_of(request, text))}),))


async def command(running: Connected, session: str, name: str) -> str:
    """Run a slash command; the text that the person is shown."""
    with pytest.raises(Refused):  # OpenCode reports any end of a command without a model call so
        await running.oc.command(session, name)
    shown = [
        part["text"]
        for message in await running.oc.messages(session)
        for part in message["parts"]
        if part.get("ignored")
    ]
    return str(shown[-1])


async def test_a_dropped_output_is_gone_at_the_next_rebase_exactly_once(running: Connected) -> None:
    conversation, on = await Conversation.open(running.oc, running.provider, "Drop"), Calls(running.oc)
    name_of_it = "boxed-early-quince"
    await conversation.send("Read the catalogue.", calls(on.read(LONG), reasoning="It is long."), Reply(text="Read."))
    await conversation.send("Drop it.", dropping(name_of_it), Reply(text="Dropped."))
    await conversation.send("Read the readme.", calls(on.read("README.md")), Reply(text="Read that, too."))
    assert any(name_of_it in message.decode() for message in running.provider.of(conversation.session)[-1].messages)
    called = len(running.provider.of(conversation.session))

    report = await command(running, conversation.session, "ctx-flush")
    await conversation.send("Go on.", Reply(text="On it."))
    await conversation.send("And on.", calls(on.read("docs/ideas.md")), Reply(text="On and on."))

    requests = running.provider.of(conversation.session)
    assert "applied at the next model call" in report
    remaining = [
        message.decode()[:200]
        for request in requests[called:]
        for message in request.messages
        if name_of_it in message.decode()
    ]
    assert [] == remaining
    assert 1 == len(breaks(requests)), breaks(requests)
    assert [] == breaks(requests[:called])
    assert [] == running.provider.faults
    log = await running.log()
    assert [["flush"]] == [rebase.causes for rebase in rebases(log, conversation.session)]
    requested = [
        kind_of(envelope.actor)
        for envelope, event in log
        if envelope.session == conversation.session and isinstance(event, DropRequested | FlushRequested)
    ]
    assert ["agent", "person, by harness"] == requested


async def test_without_the_option_nobody_answers_questions_of_the_rooms(running: Connected) -> None:
    assert AGENT not in {one["name"] for one in await running.oc.call("GET", "/agent")}


async def test_a_command_is_answered_without_a_model(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Status")
    await conversation.send("Hello.", Reply(text="Hello."))
    called = len(running.provider.requests)

    report = await command(running, conversation.session, "ctx-status")

    assert called == len(running.provider.requests)
    assert running.oc.family.main.name in report
    await conversation.send("Go on.", Reply(text="On it."))
    sent = running.provider.of(conversation.session)[-1]
    assert not any("**Model**" in message.decode() for message in sent.messages)
    assert [] == breaks(running.provider.of(conversation.session))


async def test_a_model_that_writes_tags_does_not_have_them_stored(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Parrot")
    await conversation.send("Hello.", Reply(text='§12§ §7">§7§ Hello, see §3 of the contract.\n§5§ And §6§.'))
    await conversation.send("Go on.", Reply(text="On it."))

    assert ["Hello, see §3 of the contract.\n5 And 6.", "On it."] == await conversation.texts()
    assert [] == breaks(running.provider.of(conversation.session))


async def test_guidance_is_static_and_helpers_are_left_alone(running: Connected) -> None:
    conversation = Conversation(running.oc, running.provider, await running.oc.untitled())
    mark = running.oc.events.mark()
    await conversation.send("Hello.", Reply(text="Hello."))
    await conversation.titled(mark)
    await conversation.send("Go on.", Reply(text="On it."))

    main = running.provider.of(conversation.session)
    titles = running.provider.of(kind="title")
    guidance = MANIFEST.system["primary"].splitlines()[0]
    assert {1} == {request.system.decode().count(guidance) for request in main}
    assert titles
    assert not any(guidance in request.system.decode() for request in titles)


async def test_a_compaction_gets_what_the_service_knows(running: Connected) -> None:
    conversation, on = await Conversation.open(running.oc, running.provider, "Sum up"), Calls(running.oc)
    todos = Call("todowrite", {"todos": [{"content": "weigh the quinces", "status": "pending", "priority": "high"}]})
    await conversation.send("Read.", calls(on.read("README.md"), todos), Reply(text="Read."))

    await running.oc.summarize(conversation.session)

    (asked,) = running.provider.of(conversation.session, kind="compaction")
    prompt = b"".join(asked.messages).decode()
    assert "weigh the quinces" in prompt
    assert "README.md" in prompt
    (summary,) = [
        message["info"] for message in await conversation.messages() if message["info"].get("summary") is True
    ]
    compacted = [
        event
        for envelope, event in await running.log()
        if envelope.session == conversation.session and isinstance(event, NativeCompacted)
    ]
    assert [summary["id"]] == [event.summary for event in compacted]


OTHER = """export default {{ id: "{name}", server: async () => ({{
  "experimental.session.compacting": async (_, output) => {{ output.context.push("The {name} plugin weighs fruit."); }},
}}) }};
"""


@pytest.mark.soak
async def test_a_prompt_in_the_place_of_the_harness_s_own_carries_what_that_one_would_have(
    provider: Provider, tmp_path: Path
) -> None:
    others = [tmp_path / f"{name}.mjs" for name in ("first", "last")]
    for other in others:
        other.write_text(OTHER.format(name=other.stem))
    async with running_installation(tmp_path / "data") as installation:
        ours = plugin(installation.data, tmp_path / "state", compaction="replace")
        plugins = [others[0].as_uri(), ours, others[1].as_uri()]
        async with OpenCode(tmp_path, provider.url, family=OPENAI, plugins=plugins, config=scenarios.CONFIG) as oc:
            conversation, on = await Conversation.open(oc, provider, "Replace"), Calls(oc)
            todos = Call("todowrite", {"todos": [{"content": "weigh plums", "status": "pending", "priority": "high"}]})
            await conversation.send("Read.", calls(on.read("README.md"), todos), Reply(text="Read."))
            provider.script.add(Reply(text="## Goal\nThe very first summary."), lane="compaction")
            await oc.summarize(conversation.session)
            await conversation.send("Go on.", Reply(text="On it."))
            await oc.summarize(conversation.session)

    prompts = [b"".join(one.messages).decode() for one in provider.of(conversation.session, kind="compaction")]
    assert 2 == len(prompts)
    for prompt in prompts:
        assert "Write a summary of the conversation below" in prompt
        assert "weigh plums" in prompt
        assert "The first plugin weighs fruit." in prompt
        assert "The last plugin weighs fruit." in prompt
    assert ["The very first summary." in prompt for prompt in prompts] == [False, True]
    assert "Go on." in prompts[1]


async def test_a_sub_agent_is_not_offered_what_its_mode_forbids_nor_obeyed(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Delegate")
    conversation.script(Reply(calls=(Call("ctx_reduce", {"drop": "1"}),)), Reply(text="Looked."), lane="child")
    await conversation.send("Have it looked at.", calls(task("Look", "Look around.")), Reply(text="Done."))

    forbidden = {tool.name for tool in MANIFEST.tools if "subagent" not in tool.modes}
    children = [one for one in running.provider.requests if one.parent == conversation.session]
    assert 2 == len(children)
    assert {"ctx_reduce", "ctx_expand"} <= forbidden
    assert not [name for one in children for name in forbidden if f'"{name}"' in one.tools.decode()]
    assert all(f'"{name}"' in running.provider.of(conversation.session)[0].tools.decode() for name in forbidden)
    log = await running.log()
    dropped = [one for one, event in log if one.session == children[0].session and isinstance(event, DropRequested)]
    assert [] == dropped
