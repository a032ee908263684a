"""What the adapter brings into the harness: tools, commands, guidance, a date that stays, a brief for compactions."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from schemas.events import DropRequested, FlushRequested
from services.kit.settings import Plan
from services.responder.guide import GUIDE
from tests.conftest import running_house
from tests.harness.api import Refused
from tests.harness.connected import Connected, connected, rebases
from tests.harness.isolation import ANTHROPIC, OPENAI, Family
from tests.harness.provider import Call, Provider, Reply, Request
from tests.harness.saying import Calls, Talk, calls
from tests.harness.test_plain import breaks
from tests.harness.workspace import LONG

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=[OPENAI, ANTHROPIC], ids=lambda family: family.format
)
async def running(
    request: pytest.FixtureRequest, provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Connected]:
    family: Family = request.param
    settings = {"plan": Plan(protected_tags=1)}
    root = tmp_path_factory.mktemp(family.provider)
    async with connected(root, running_house, provider, family, settings=settings) as all_of_it:
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
    talk, on = await Talk.open(running.oc, running.provider, "Drop"), Calls(running.oc)
    telling = "boxed-early-quince"
    await talk.say("Read the catalogue.", calls(on.read(LONG), reasoning="It is long."), Reply(text="Read."))
    await talk.say("Drop it.", dropping(telling), Reply(text="Dropped."))
    await talk.say("Read the readme.", calls(on.read("README.md")), Reply(text="Read that, too."))
    assert any(telling in message.decode() for message in running.provider.of(talk.session)[-1].messages)
    called = len(running.provider.of(talk.session))

    report = await command(running, talk.session, "ctx-flush")
    await talk.say("Go on.", Reply(text="On it."))
    await talk.say("And on.", calls(on.read("docs/ideas.md")), Reply(text="On and on."))

    requests = running.provider.of(talk.session)
    assert "applied at the next model call" in report
    kept = [
        message.decode()[:200]
        for request in requests[called:]
        for message in request.messages
        if telling in message.decode()
    ]
    assert [] == kept
    assert 1 == len(breaks(requests)), breaks(requests)
    assert [] == breaks(requests[:called])
    assert [] == running.provider.faults
    log = await running.log()
    assert [["flush"]] == [rebase.causes for rebase in rebases(log, talk.session)]
    wished = [
        envelope.actor.kind
        for envelope, event in log
        if envelope.session == talk.session and isinstance(event, DropRequested | FlushRequested)
    ]
    assert ["agent", "person"] == wished


async def test_a_command_is_answered_without_a_model(running: Connected) -> None:
    talk = await Talk.open(running.oc, running.provider, "Status")
    await talk.say("Hello.", Reply(text="Hello."))
    called = len(running.provider.requests)

    report = await command(running, talk.session, "ctx-status")

    assert called == len(running.provider.requests)
    assert running.oc.family.main.name in report
    await talk.say("Go on.", Reply(text="On it."))
    sent = running.provider.of(talk.session)[-1]
    assert not any("**Model**" in message.decode() for message in sent.messages)
    assert [] == breaks(running.provider.of(talk.session))


async def test_a_model_that_writes_tags_does_not_have_them_stored(running: Connected) -> None:
    talk = await Talk.open(running.oc, running.provider, "Parrot")
    await talk.say("Hello.", Reply(text='§12§ §7">§7§ Hello, see §3 of the contract.'))
    await talk.say("Go on.", Reply(text="On it."))

    assert ["Hello, see §3 of the contract.", "On it."] == await talk.texts()
    assert [] == breaks(running.provider.of(talk.session))


async def test_guidance_is_static_and_helpers_are_left_alone(running: Connected) -> None:
    talk = Talk(running.oc, running.provider, await running.oc.untitled())
    mark = running.oc.events.mark()
    await talk.say("Hello.", Reply(text="Hello."))
    await talk.titled(mark)
    await talk.say("Go on.", Reply(text="On it."))

    main = running.provider.of(talk.session)
    titles = running.provider.of(kind="title")
    guidance = GUIDE.system["primary"].splitlines()[0]
    assert {1} == {request.system.decode().count(guidance) for request in main}
    assert titles
    assert not any(guidance in request.system.decode() for request in titles)


async def test_a_compaction_is_told_what_the_service_knows(running: Connected) -> None:
    talk, on = await Talk.open(running.oc, running.provider, "Sum up"), Calls(running.oc)
    todos = Call("todowrite", {"todos": [{"content": "weigh the quinces", "status": "pending", "priority": "high"}]})
    await talk.say("Read.", calls(on.read("README.md"), todos), Reply(text="Read."))

    await running.oc.summarize(talk.session)

    (asked,) = running.provider.of(talk.session, kind="compaction")
    prompt = b"".join(asked.messages).decode()
    assert "weigh the quinces" in prompt
    assert "README.md" in prompt
