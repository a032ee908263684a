"""Signed thinking in OpenCode: none behind other bytes than it was thought behind, and none again that was refused."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.events import SignatureRefused
from services.plan.planner.plan import BLIND
from services.settings import Limits
from tests.conftest import running_installation
from tests.harness.connected import Connected, assert_whole, connected, rebases
from tests.harness.isolation import ANTHROPIC
from tests.harness.provider import Provider, Reply, Request, Rules
from tests.harness.scripted import Calls, Conversation, calls
from tests.harness.test_tools import command, dropping

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Connected]:
    settings = {"plan": Limits(protected_tags=1)}
    root = tmp_path_factory.mktemp("signed")
    async with connected(root, running_installation, provider, ANTHROPIC, settings=settings) as all_of_it:
        yield all_of_it


def thoughts(request: Request) -> int:
    """How many thoughts stand in a prompt."""
    return b"".join(request.messages).decode().count('"signature"')


async def read(conversation: Conversation, name: str) -> None:
    """A turn in which the model thinks, reads, thinks and answers."""
    step = calls(Calls(conversation.oc).read(name), reasoning=f"The answer is in {name}.")
    await conversation.send(f"Read {name}.", step, Reply(text="Read.", reasoning="That was it."))


async def test_after_a_refused_signature_the_next_turn_is_answered_and_the_thoughts_never_come_again(
    running: Connected,
) -> None:
    provider = running.provider
    conversation = await Conversation.open(running.oc, provider, "Refused")
    await read(conversation, "docs/ideas.md")
    await read(conversation, "docs/pricing.md")
    await conversation.send("Go on.", Reply(text="On it.", reasoning="Hm."))
    assert [] == provider.faults
    provider.rules = Rules(key=b"of another server")
    error = await conversation.failed("And now?")
    assert "Invalid `signature` in `thinking` block" in str(error)
    provider.faults.clear()

    await conversation.send("Hello?", Reply(text="Hello.", reasoning="A greeting."))
    assert 0 == thoughts(provider.of(conversation.session)[-1])
    await read(conversation, "docs/ideas.md")
    assert [] == provider.faults
    assert 2 == thoughts(provider.of(conversation.session)[-1])
    log = await assert_whole(running, [conversation.session])
    assert 1 == len([event for _, event in log if isinstance(event, SignatureRefused)])
    assert [["signature"]] == [rebase.causes for rebase in rebases(log, conversation.session)]


async def test_where_thinking_is_preserved_no_rebase_leaves_a_thought_behind_what_it_changed(
    running: Connected,
) -> None:
    provider = running.provider
    provider.rules = Rules(preserves_thinking=True)
    conversation = await Conversation.open(running.oc, provider, "Preserved")
    await read(conversation, "docs/ideas.md")
    await read(conversation, "docs/pricing.md")
    await conversation.send("Drop it.", dropping("prices by season"), Reply(text="Dropped.", reasoning="Done."))
    await command(running, conversation.session, "ctx-flush")
    await read(conversation, "docs/pricing.md")
    await read(conversation, "docs/ideas.md")

    assert [] == provider.faults
    log = await assert_whole(running, [conversation.session])
    assert [["flush"]] == [rebase.causes for rebase in rebases(log, conversation.session)]
    assert thoughts(provider.of(conversation.session)[-1]) >= 2


LIMIT, READINGS = 24_000, 8 + BLIND
SIZES = {"context": LIMIT, "output": 2_000}
NOTES = {
    f"notes/{name}.txt": "".join(f"{line} of note {name}: quinces and late pears\n" for line in range(190))
    for name in range(READINGS)
}


@pytest.mark.soak
async def test_a_long_turn_that_fills_the_window_is_compacted_by_opencode_and_the_agent_goes_on_reading(
    tmp_path: Path,
) -> None:
    """Nothing before a thought may change, so only a new beginning makes room: without it, each new output goes."""
    config = {"provider": {ANTHROPIC.provider: {"models": {ANTHROPIC.main.name: {"limit": SIZES}}}}}
    async with (
        Provider(rules=Rules(preserves_thinking=True)) as provider,
        connected(tmp_path, running_installation, provider, ANTHROPIC, config=config) as running,
    ):
        oc = running.oc
        for name, text in NOTES.items():
            path = oc.workspace / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        conversation, on = await Conversation.open(oc, provider, "Long"), Calls(oc)
        steps = [calls(on.read(name), reasoning=f"Next is {name}.") for name in NOTES]
        answer = await conversation.send("Read all notes.", *steps, Reply(text="Read.", reasoning="That was it."))

        assert "error" not in answer["info"]
        assert [] == provider.faults
        prompts = provider.of(conversation.session)
        assert max(request.usage.prompt for request in prompts) <= LIMIT
        assert provider.of(conversation.session, "compaction")
        unseen = [b"[dropped" in request.messages[-1] for request in prompts if request.kind == "main"]
        assert BLIND == sum(unseen)
        assert not any(unseen[-3:])
