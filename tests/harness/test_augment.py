"""`/ctx-aug`: a message goes out once with what helps, stays the same from then on, and is never lost."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from pydantic import SecretStr

from schemas.codec import encode
from schemas.events import MemoryWritten, PartRecorded, SpendSettled
from schemas.search_asks import AugmentAsk, Augmentation
from schemas.subjects import ask
from services.domain.texts.clean import CONTEXT_ELEMENT
from services.domain.texts.content import TYPED
from services.edges.launcher.supervisor import Installation
from services.responder.answers.client_manifest import MANIFEST
from services.settings import Model
from services.settings import ProviderSettings as Endpoint
from tests.conftest import WITHOUT_SEARCH, InstallationFactory
from tests.harness import scenarios
from tests.harness.connected import USUAL, Connected, connected, plugin
from tests.harness.isolation import OPENAI
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider, Reply, Request, Script
from tests.harness.scripted import Conversation
from tests.harness.test_absent import notices
from tests.harness.test_plain import breaks
from tests.helpers.installation import Fact, until
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row, row
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.harness

TEXT = "Why does the crane stop with E4711? It costs $$5 & `$1`."
QUOTE = "Set max_in_hand, because E4711 means zero."
ROWS = (
    message_row(f"The crane stops. {QUOTE}", "m2", "s1", ordinal=12, seq=1),
    row("memory", "mem1", "Remember: the crane must never stop with E4711 on a Monday", seq=2),
)


def answered(request: Request) -> Reply:
    """A model that quotes one sentence from where it stands."""
    listed = [json.loads(line) for line in request.texts[-1].splitlines() if line.startswith('{"place"')]
    (place,) = [one["place"] for one in listed if QUOTE in one["text"]]
    return Reply(text=json.dumps({"quotes": [{"place": place, "text": QUOTE}]}))


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with Provider() as running:
        yield running


@asynccontextmanager
async def augmenting(root: Path, installation: InstallationFactory, provider: Provider) -> AsyncIterator[Connected]:
    """An OpenCode whose installation has a model of its own, and something that is known of the project."""
    script = Script()
    script.add(*[answered] * 100, lane="compaction")  # a call without tools that is no title
    async with Provider(script) as sidekick:
        own = {"own": Endpoint(url=f"{sidekick.url}/v1", key=SecretStr("a-key"))}

        @asynccontextmanager
        async def searching(data: Path, **changes: object) -> AsyncIterator[Installation]:
            async with installation(data, (*WITHOUT_SEARCH, "searcher"), **changes) as running:
                yield running

        settings = {"model": Model(chain=("own/clerk",), providers=own)}
        async with connected(root, searching, provider, settings=settings) as running:
            yield running


async def known(running: Connected, provider: Provider) -> None:
    """Have something known of the project that OpenCode works in, and loaded what asks the model for it."""
    conversation = await Conversation.open(running.oc, provider, "Earlier")
    await conversation.send("Hello.", Reply(text="Hello."))
    project = (await running.log())[-1][0].project
    rows = [message_row(ROWS[0].text, "m2", "s1", project, ordinal=12, seq=1)]
    rows.append(row("memory", "mem1", ROWS[1].text, project, seq=2))
    await MadeIndex(running.installation.data).write(rows)
    question = encode(AugmentAsk(project, TEXT))

    async def is_ready() -> bool:
        reply = await running.bus.request(ask(AugmentAsk.NAME, project), question, PATIENCE)
        return msgspec.json.decode(reply, type=Augmentation).model == "own/clerk"

    await until(is_ready, "a model chooses")


def messages(request: Request) -> list[str]:
    return [message.decode() for message in request.messages]


async def shown(conversation: Conversation) -> list[str]:
    """What the person is shown that no model sees."""
    parts = [part for message in await conversation.messages() for part in message["parts"]]
    return [part["text"] for part in parts if part.get("ignored")]


async def test_a_message_goes_out_with_what_helps_and_stays_the_same_in_all_later_calls(
    provider: Provider, tmp_path: Path, installation: InstallationFactory
) -> None:
    async with augmenting(tmp_path, installation, provider) as running:
        await known(running, provider)
        before = await settled(running)
        conversation = await Conversation.open(running.oc, provider, "Crane")
        await conversation.send("Good morning.", Reply(text="Good morning."))
        conversation.script(Reply(text="Because of max_in_hand."))
        await running.oc.command(conversation.session, "ctx-aug", TEXT)
        for number in range(3):
            await conversation.send(f"Go on, {number}.", Reply(text=f"On it, {number}."))

        requests = provider.of(conversation.session)
        assert [] == breaks(requests)
        assert [] == provider.faults
        for request in requests[1:]:
            (message,) = [one for one in messages(request) if f"<{CONTEXT_ELEMENT}>" in one]
            assert 1 == message.count(f"</{CONTEXT_ELEMENT}>") == message.count(QUOTE)
            assert message.index("It costs") < message.index(f"<{CONTEXT_ELEMENT}>")
            assert json.dumps(TEXT)[1:-1] in message
            assert "on a Monday" not in message
        log = await running.log_without(lambda facts: not typed([*facts], conversation.session))
        assert [TEXT] == typed(log, conversation.session)
        assert [] == [event for _, event in log if isinstance(event, MemoryWritten)]
        assert before + 1 == await settled(running)
        (added,) = await shown(conversation)
        assert QUOTE in added
        assert "chosen by own/clerk" in added
        assert ["chosen by own/clerk" in one for one in notices(running.oc)] == [True]


async def settled(running: Connected) -> int:
    """How many calls of models have been paid for."""
    return sum(isinstance(event, SpendSettled) for _, event in await running.log())


def typed(log: list[Fact], session: str) -> list[str]:
    """The texts about cranes that the log has as those of the person."""
    parts = [event for envelope, event in log if envelope.session == session and isinstance(event, PartRecorded)]
    return [part.text for part in parts if part.provenance == TYPED and "E4711" in part.text]


@pytest.mark.soak
async def test_the_first_message_of_a_session_may_be_one_and_the_session_gets_its_title(
    provider: Provider, tmp_path: Path, installation: InstallationFactory
) -> None:
    async with augmenting(tmp_path, installation, provider) as running:
        await known(running, provider)
        conversation = Conversation(running.oc, provider, await running.oc.untitled())
        mark = running.oc.events.mark()
        conversation.script(Reply(text="Because of max_in_hand."))
        await running.oc.command(conversation.session, "ctx-aug", TEXT)
        await conversation.titled(mark)
        await running.oc.event(lambda event: is_shown(event, conversation.session), since=mark)
        (added,) = await shown(conversation)
        assert QUOTE in added
        await conversation.send("Go on.", Reply(text="On it."))
        assert [] == breaks(provider.of(conversation.session))


def is_shown(event: dict[str, object], session: str) -> bool:
    properties = event["properties"]
    part = properties.get("part", {}) if isinstance(properties, dict) else {}
    return event["type"] == "message.part.updated" and part.get("sessionID") == session and bool(part.get("ignored"))


@asynccontextmanager
async def alone(root: Path, provider: Provider) -> AsyncIterator[OpenCode]:
    """An OpenCode that knows our commands, and whose installation is not there."""
    (root / "state").mkdir(parents=True)
    (root / "state" / "guide.json").write_bytes(encode(MANIFEST))
    plugins = [plugin(root / "data", root / "state", **USUAL)]
    async with OpenCode(root, provider.url, family=OPENAI, plugins=plugins, config=scenarios.CONFIG) as oc:
        yield oc


async def test_where_nobody_answers_the_message_goes_out_as_it_was_typed(provider: Provider, tmp_path: Path) -> None:
    texts = [TEXT, "Line one.\nLine two: “quoted”, 港.", "x" * 20_000]
    async with alone(tmp_path, provider) as oc:
        conversation = await Conversation.open(oc, provider, "Alone")
        for text in texts:
            conversation.script(Reply(text="I do not know."))
            await oc.command(conversation.session, "ctx-aug", text)
            request = provider.of(conversation.session)[-1]
            assert text in request.texts[-1]
            assert CONTEXT_ELEMENT not in request.raw.decode()
        assert texts == await conversation.texts("user")
        assert [] == breaks(provider.of(conversation.session))
        assert 3 == sum("went out as you typed it" in one for one in notices(oc))
