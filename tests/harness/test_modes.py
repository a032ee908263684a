"""The modes of sessions in the real harness: whose calls Annals has a part in, and whose it leaves alone."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.events import AdapterConnected, SessionOpened, StepOpened, UsageSampled
from services.responder.answers.client_manifest import MANIFEST
from tests.conftest import running_installation
from tests.harness import scenarios
from tests.harness.connected import Connected, plugin, rebases
from tests.harness.isolation import OPENAI, Json, Plugin, merged
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider, Reply, Request
from tests.harness.scripted import Calls, Conversation, calls, task
from tests.harness.test_plain import breaks
from tests.helpers.installation import Fact, connect

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]

TAGS = MANIFEST.system["primary"].splitlines()[2][:60]
"""How the guidance begins that speaks of tags."""
TITLE, SUMMARY, ANSWER = "Give this talk a name.", "You sum up what others wrote.", "You answer in one word."
AGENTS: Json = {
    "title": {"prompt": TITLE},
    "quiet": {"mode": "primary", "permission": {"ctx_*": "deny"}},
    "untouched": {"mode": "primary", "prompt": f"{ANSWER}\n<!-- annals: skip -->"},
    "historian": {"mode": "all", "hidden": True, "prompt": SUMMARY},
    "scout": {"mode": "subagent", "hidden": True, "description": "Looks around", "prompt": "You look around."},
}


@asynccontextmanager
async def living(root: Path, provider: Provider, *others: Plugin, **options: object) -> AsyncIterator[Connected]:
    """An installation, and an OpenCode with the adapter, these agents and other plugins."""
    state = root / "state"
    async with running_installation(root / "data") as installation:
        bus = await connect(installation)
        plugins = [*others, plugin(installation.data, state, **options)]
        config = merged(scenarios.CONFIG, {"agent": AGENTS})
        async with OpenCode(root, provider.url, family=OPENAI, plugins=plugins, config=config) as oc:
            try:
                yield Connected(installation, bus, provider, oc, state)
            finally:
                await bus.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Connected]:
    async with living(tmp_path_factory.mktemp("modes"), provider) as all_of_it:
        yield all_of_it


def modes(log: Sequence[Fact], session: str) -> list[str]:
    return [event.mode for envelope, event in log if envelope.session == session and isinstance(event, StepOpened)]


def samples(log: Sequence[Fact], session: str) -> list[UsageSampled]:
    return [event for envelope, event in log if envelope.session == session and isinstance(event, UsageSampled)]


def largest(log: Sequence[Fact], session: str) -> int:
    """The tokens of the largest prompt that was counted for a session."""
    return max(sample.input + sample.cache_read for sample in samples(log, session))


def tools(request: Request) -> set[str]:
    return {tool["function"]["name"] for tool in request.body.get("tools", [])}


def is_untouched(request: Request) -> bool:
    """Whether it is as the harness made it: no guidance, no tag."""
    return "(Annals)" not in request.system.decode() and not any(text.startswith("§") for text in request.texts)


async def test_an_agent_without_the_tool_has_no_tags_in_its_instructions(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Quiet")
    await conversation.send("Hello.", Reply(text="Hello."), agent="quiet")
    await conversation.send("Go on.", Reply(text="On it."), agent="quiet")

    requests = running.provider.of(conversation.session)
    assert {"reduce_off"} == {*modes(await running.log(), conversation.session)}
    assert not any("ctx_reduce" in tools(request) or TAGS in request.system.decode() for request in requests)
    assert not any(text.startswith("§") for request in requests for text in request.texts)
    assert all(MANIFEST.system["reduce_off"] in request.body["messages"][0]["content"] for request in requests)


async def test_a_message_that_switches_the_tool_off_decides_a_new_session(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Off")
    await conversation.send("Hello.", Reply(text="Hello."), tools={"ctx_reduce": False})
    await conversation.send("Go on.", Reply(text="On it."), tools={"ctx_reduce": True})

    assert ["reduce_off", "reduce_off"] == modes(await running.log(), conversation.session)


async def test_a_later_list_of_tools_leaves_a_session_as_it_is(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Later")
    await conversation.send("Hello.", Reply(text="Hello."))
    await conversation.send("Go on.", Reply(text="On it."), tools={"*": False, "read": True})
    await conversation.send("And on.", Reply(text="On and on."), agent="quiet")

    log = await running.log()
    assert ["primary"] * 3 == modes(log, conversation.session)
    steps = [
        event for envelope, event in log if envelope.session == conversation.session and isinstance(event, StepOpened)
    ]
    assert ["ctx_reduce" in step.denied for step in steps] == [False, True, True]
    assert all(TAGS in request.system.decode() for request in running.provider.of(conversation.session))


async def test_a_helper_of_another_plugin_is_left_alone(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Work")
    await conversation.send("Hello.", Reply(text="Hello."))
    helper = Conversation(running.oc, running.provider, await running.oc.session("Sum up", parent=conversation.session))
    await helper.send("Sum up.", Reply(text="They wrote hello."), agent="historian")
    await helper.send("Once more.", Reply(text="Hello."), agent="historian")

    requests = running.provider.of(helper.session)
    assert 2 == len(requests)
    assert all(is_untouched(request) and SUMMARY in request.system.decode() for request in requests)
    assert [] == modes(await running.log(), helper.session)


async def test_a_hidden_agent_that_was_given_a_task_is_a_subagent(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Delegate")
    conversation.script(Reply(text="A shop."), lane="child")
    await conversation.send("Have it looked at.", calls(task("Look", "What is this?", "scout")), Reply(text="A shop."))

    (child,) = await running.oc.children(conversation.session)
    log = await running.log()
    assert ["subagent"] == modes(log, child["id"])
    assert ["subagent"] == [
        event.mode for envelope, event in log if envelope.session == child["id"] and isinstance(event, SessionOpened)
    ]
    (request,) = running.provider.of(child["id"])
    assert MANIFEST.system["subagent"] in request.body["messages"][0]["content"]


async def test_a_title_under_a_prompt_of_its_own_touches_nothing(running: Connected) -> None:
    """Whatever the release or the person makes of the helper's prompt, it is not taken for the session's own."""
    conversation = Conversation(running.oc, running.provider, await running.oc.untitled())
    await conversation.send("Hello.", Reply(text="Hello."))
    title = await running.provider.received(
        lambda one: one.session == conversation.session and TITLE in one.system.decode()
    )
    await conversation.send("Go on.", Reply(text="On it."))
    await conversation.send("And on.", Reply(text="On and on."))

    assert "(Annals)" not in title.system.decode()
    own = [one for one in running.provider.of(conversation.session) if TITLE not in one.system.decode()]
    assert 3 == len(own)
    assert [] == breaks(own)
    log = await running.log()
    assert 3 == len(modes(log, conversation.session))
    assert [] == rebases(log, conversation.session)


async def test_an_agent_that_asks_to_be_left_alone_is_and_the_session_goes_on_without_a_flush(
    running: Connected,
) -> None:
    conversation, on = await Conversation.open(running.oc, running.provider, "Switch"), Calls(running.oc)
    await conversation.send("Read the readme.", calls(on.read("README.md")), Reply(text="Read."))
    before = len(running.provider.of(conversation.session))
    await conversation.send("One word?", Reply(text="Quince.", usage=(150_000, 0)), agent="untouched")
    await conversation.send("Go on.", Reply(text="On it."))

    requests = running.provider.of(conversation.session)
    aside = requests[before]
    assert ANSWER in aside.system.decode()
    assert "(Annals)" not in aside.system.decode()
    assert "One word?" == aside.texts[-1]
    assert [] == breaks([one for one in requests if one is not aside])
    log = await running.log_without(lambda log: not samples(log, conversation.session))
    assert ["primary"] * 3 == modes(log, conversation.session)
    assert [] == rebases(log, conversation.session)
    assert largest(log, conversation.session) < 100_000


async def test_a_compaction_s_count_is_no_count_of_the_session(running: Connected) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Sum up")
    await conversation.send("Hello.", Reply(text="Hello."))
    running.provider.script.add(Reply(text="## Goal\nNone.", usage=(150_000, 0)), lane="compaction")
    await running.oc.summarize(conversation.session)
    await conversation.send("Go on.", Reply(text="On it."))

    log = await running.log_without(lambda log: len(samples(log, conversation.session)) < 2)
    assert 2 == len(samples(log, conversation.session))
    assert largest(log, conversation.session) < 100_000
    assert ["primary", "primary"] == modes(log, conversation.session)


@pytest.mark.soak
async def test_with_another_plugin_of_its_kind_it_only_adds(
    provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("rival")
    rival = root / "opencode-dcp.mjs"
    rival.write_text('export default { id: "rival", server: async () => ({}) };\n')
    async with living(root, provider, rival.as_uri()) as running:
        conversation, on = await Conversation.open(running.oc, running.provider, "Two of a kind"), Calls(running.oc)
        await conversation.send("Read the readme.", calls(on.read("README.md")), Reply(text="Read."))
        await conversation.send("Go on.", Reply(text="On it."))

        log = await running.log()
        assert ["additive"] * 3 == modes(log, conversation.session)
        requests = running.provider.of(conversation.session)
        assert [] == breaks(requests)
        assert not any(text.startswith("§") for request in requests for text in request.texts)
        shown = [event for event in running.oc.events.seen if event["type"] == "tui.toast.show"]
        assert 1 == len([event for event in shown if "opencode-dcp" in event["properties"]["message"]])
        assert "another plugin changes the same prompts" in running.notes()
        assert {"opencode-dcp"} == {event.rival for _, event in log if isinstance(event, AdapterConnected)}
