"""OpenCode answers questions of the rooms: outside of the person's turn, in sessions of which nothing stays."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from schemas.codec import encode
from schemas.commands import Answer, CommandMessage
from schemas.envelope import Actor
from schemas.events import QuestionAnswered
from schemas.question_commands import QuestionRequest
from schemas.streams import IN
from schemas.subjects import Address
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Bus
from tests.conftest import WITHOUT_SEARCH, InstallationFactory
from tests.harness.connected import Connected, connected
from tests.harness.isolation import Json
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider, Reply
from tests.harness.provider.refusals import overflow
from tests.harness.scripted import Calls, Conversation, calls
from tests.helpers.installation import Fact, until
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.harness

ROOMS = tuple(room for room in WITHOUT_SEARCH if room != "desk")
"""The test answers in the place of the desk."""
SYSTEM = "You write the history of a session. Answer in one sentence."
PROMPT = "What was done at the quay?"
ANSWER = "The berths were numbered from the sea."
TITLE = "annals-questions"
LEFT = f"{TITLE} 999999999 00000000-0000-4000-8000-000000000000"


class Desk:
    """It offers each of its questions to who asks until somebody takes it, and keeps the answers."""

    def __init__(self, *questions: Json) -> None:
        self.open = list(questions)
        self.asked: list[Json] = []
        self.taken: list[Json] = []
        self.answers: list[Json] = []
        self.commands: list[Json] = []
        self._news = asyncio.Event()

    async def serve(self, bus: Bus) -> None:
        await bus.serve("ask.question.*", "desk", self._offer)
        await bus.serve("do.*.*.question.*", "desk", self._decide)

    def put(self, name: str = "q1", **fields: object) -> None:
        self.open.append(question(name, **fields))
        self._news.set()

    async def answered(self, count: int = 1) -> Json:
        async def is_there() -> bool:
            return len(self.answers) >= count

        await until(is_there, f"{count} questions are answered")
        return self.answers[count - 1]

    async def _offer(self, _: str, data: bytes) -> bytes:
        self.asked.append(msgspec.json.decode(data))
        if not self.open:
            self._news.clear()
            await self._news.wait()
        return encode(self.open[0])

    async def _decide(self, subject: str, data: bytes) -> bytes:
        message = msgspec.json.decode(data)
        self.commands.append({"subject": subject, **message})
        if subject.endswith(".question.take"):
            self.taken.append(message["data"])
            self.open = [one for one in self.open if one["question"] != message["data"]["question"]]
        else:
            self.answers.append(message["data"])
        return encode({"ok": True, "text": "Done."})


def question(name: str = "q1", **fields: object) -> Json:
    known = {"model": "small", "system": SYSTEM, "prompt": PROMPT, "output": 400, "session": "", "purpose": "historian"}
    return {"question": name, **known, "until": "2099-01-01T00:00:00Z", **fields}


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with Provider() as running:
        yield running


@asynccontextmanager
async def answering(
    root: Path,
    installation: InstallationFactory,
    provider: Provider,
    *questions: Json,
    is_allowed: bool = True,
    compaction: str = "managed",
) -> AsyncIterator[tuple[Connected, Desk]]:
    """An installation whose desk is the test's, and an OpenCode that answers its questions."""
    desk = Desk(*questions)

    @asynccontextmanager
    async def without_desk(data: Path, **changes: object) -> AsyncIterator[Installation]:
        async with installation(data, ROOMS, **changes) as running:
            yield running

    async with connected(root, without_desk, provider, questions=is_allowed, compaction=compaction) as running:
        await desk.serve(running.bus)
        yield running, desk


async def sessions(oc: OpenCode) -> set[str]:
    """The titles of all sessions that OpenCode lists, as a person sees them and with those of agents."""
    listed = await oc.call("GET", "/session")
    every = await oc.call("GET", "/experimental/session")
    return {str(one["title"]) for one in (*listed, *every)}


async def test_a_question_is_answered_during_a_person_s_turn_and_nothing_of_it_stays(
    provider: Provider, tmp_path: Path, installation: InstallationFactory
) -> None:
    async with answering(tmp_path, installation, provider) as (running, desk):
        oc, on = running.oc, Calls(running.oc)
        conversation = await Conversation.open(oc, provider, "A person's")
        await conversation.send("Read the readme.", calls(on.read("README.md")), Reply(text="Read."))
        tools = provider.of(conversation.session)[-1].tools
        assert b"bash" in tools
        assert TITLE.encode() not in tools, "its agent is offered to no other one"

        holding = asyncio.Event()
        conversation.script(Reply(text="A while later.", hold=holding))
        turn = asyncio.create_task(oc.prompt(conversation.session, "Think."))
        await provider.received(lambda one: one.session == conversation.session and "Think." in str(one.texts))
        provider.script.add(Reply(text=ANSWER), lane="compaction")  # a call without tools that is no title
        desk.put(session=conversation.session)
        answer = await desk.answered()
        assert not turn.done(), "the person's turn is still under way, and the question did not wait for it"
        assert (ANSWER, "", "fake/fake-1") == (answer["text"], answer["failure"], answer["model"])
        assert 0 < answer["tokens_in"] < 1_500
        assert answer["tokens_out"] > 0
        assert answer["usd"] > 0
        assert answer["taker"] == desk.taken[0]["taker"]

        (asked,) = [one for one in provider.requests if one.session not in ("", conversation.session)]
        assert not asked.body.get("tools")
        assert SYSTEM in str(asked.body["messages"][0]["content"])
        assert [PROMPT] == [text for text in asked.texts if text]
        provider.script.add(Reply(text="Over the hill."), lane="compaction")
        holding.set()
        await turn
        await conversation.send("Thanks.", Reply(text="Gladly."))
        assert provider.of(conversation.session)[-1].tools == tools

        assert {"A person's"} == await sessions(oc)
        assert [] == await oc.children(conversation.session)
        log = await running.log()
        assert {conversation.session} == {envelope.session for envelope, _ in log} - {""}
        subjects = [subject async for subject in published(running.bus)]
        assert subjects
        assert [] == [one for one in subjects if asked.session in one]
        assert not any(asked.session in path.name for path in (running.state / "sessions").iterdir())
        assert "failed in" not in running.notes()
        assert [] == provider.faults


async def published(bus: Bus) -> AsyncIterator[str]:
    """The subjects of all messages that harnesses have published."""
    for seq in range(1, await bus.newest(IN.name) + 1):
        yield (await bus.js.get_msg(IN.name, seq)).subject or ""


async def test_a_room_s_question_goes_through_the_desk_to_opencode_and_its_answer_into_the_log(
    provider: Provider, tmp_path: Path, installation: InstallationFactory
) -> None:
    async with connected(tmp_path, installation, provider, questions=True) as running:
        conversation = await Conversation.open(running.oc, provider, "A person's")
        await conversation.send("Hello.", Reply(text="Hello."))
        address = next(envelope for envelope, _ in await running.log() if envelope.session == conversation.session)
        provider.script.add(Reply(text=ANSWER), lane="compaction")
        asked = QuestionRequest(
            "q1",
            "historian",
            "small",
            SYSTEM,
            PROMPT,
            400,
            datetime.now(UTC) + timedelta(hours=1),
            conversation.session,
        )
        message = CommandMessage("c1", datetime.now(UTC), Actor("room", "historian"), msgspec.Raw(encode(asked)))
        put = await running.bus.request(Address(address.project).command(asked.TYPE), encode(message), PATIENCE)
        assert msgspec.json.decode(put, type=Answer).ok

        def missing(log: Sequence[Fact]) -> bool:
            return not [event for _, event in log if isinstance(event, QuestionAnswered)]

        log = await running.log_without(missing)
        (answered,) = [event for _, event in log if isinstance(event, QuestionAnswered)]
        assert (ANSWER, "", "fake/fake-1") == (answered.text, answered.failure, answered.model)
        assert conversation.session == answered.origin
        assert {"A person's"} == await sessions(running.oc)
        assert {conversation.session} == {envelope.session for envelope, _ in log} - {""}


async def test_what_fails_is_reported_and_deleted_and_what_a_killed_process_left_is_removed(
    provider: Provider, tmp_path: Path, installation: InstallationFactory
) -> None:
    """What does not fit the model is not compacted either, though OpenCode does that with sessions of people here."""
    async with answering(tmp_path, installation, provider, compaction="assist") as (running, desk):
        oc = running.oc
        desk.put(name="none", model="fake/nobody")
        assert (await desk.answered())["failure"]
        provider.script.add(Reply(text=" "), lane="compaction")
        desk.put(name="empty")
        assert "empty" == (await desk.answered(2))["failure"]
        sent = len(provider.requests)
        provider.script.add(Reply(refusal=overflow()), lane="compaction")
        desk.put(name="long")
        answer = await desk.answered(3)
        assert ("overflow", "") == (answer["failure"], answer["text"])
        assert sent + 1 == len(provider.requests)
        assert set() == await sessions(oc)

        await oc.session(LEFT)
        await oc.session("A person's")
        provider.script.add(Reply(text=ANSWER), lane="compaction")
        await oc.restart()
        desk.put(name="after", model="fake/fake-2")
        answer = await desk.answered(4)
        assert (ANSWER, "fake/fake-2") == (answer["text"], answer["model"])
        assert {"A person's"} == await sessions(oc)
        assert 2 == len({one["taker"] for one in desk.taken})


@pytest.mark.soak
async def test_without_the_option_nothing_is_asked_for_and_no_agent_added(
    provider: Provider, tmp_path: Path, installation: InstallationFactory
) -> None:
    async with answering(tmp_path, installation, provider, question(), is_allowed=False) as (running, desk):
        conversation = await Conversation.open(running.oc, provider, "A person's")
        await conversation.send("Hello.", Reply(text="Hello."))
        assert [] == desk.asked
        agents = await running.oc.call("GET", "/agent")
        assert TITLE not in {one["name"] for one in agents}
