"""Other plugins put messages and parts of their own into model calls: nothing of ours moves for that, nor do theirs."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from schemas.events import MessageRecorded, PartRecorded
from services.kit.bus import Bus
from tests.conftest import running_installation
from tests.harness import scenarios
from tests.harness.connected import plugin, rebases
from tests.harness.isolation import OPENAI, merged
from tests.harness.kinds import chosen, each_way_once
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider, Reply, Request
from tests.harness.scripted import Calls, Conversation, calls
from tests.helpers.installation import Fact, connect, facts, settle

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]

MARK = "STATUS"
OTHER = """
let count = 0
const NAME = "%s"
const entry = (last, id, role, text) => ({
  info: {...last.info, id, role},
  parts: [{id: id.replace("msg", "prt"), sessionID: last.info.sessionID, messageID: id, type: "text", text}],
})
const ways = {
  "end, same id": (list, last) => list.push(entry(last, "msg_zzzzstatus", "user", `STATUS ${count}`)),
  "end, new id": (list, last) => list.push(entry(last, `msg_zzzz${count}`, "user", `STATUS ${count}`)),
  "end, id as OpenCode's": (list, last) =>
    list.push(entry(last, `${last.info.id.slice(0, -4)}${1000 + count}`, "user", `STATUS ${count}`)),
  "end, same words": (list, last) => list.push(entry(last, "msg_zzzzsame", "user", "STATUS as ever")),
  "beginning, same id": (list, last) => list.unshift(entry(last, "msg_000status", "user", "STATUS first")),
  "beginning, new id": (list, last) => list.unshift(entry(last, `msg_000${count}`, "user", "STATUS first")),
  "beginning, of no session": (list, last) => {
    const one = entry(last, "msg_000none", "user", "STATUS first")
    list.unshift({...one, info: {id: "msg_000none", role: "user", sessionID: ""}})
  },
  "middle, new id": (list, last) =>
    list.splice(list.findLastIndex((one) => one.info.id === last.info.id), 0,
      entry(last, `msg_mid${count}`, "user", `STATUS before the newest`)),
  "two, around": (list, last) => {
    list.unshift(entry(last, "msg_000two", "user", "STATUS first"))
    list.push(entry(last, `msg_zzzz${count}`, "user", `STATUS ${count}`))
  },
  "part, new id": (list, last) =>
    last.parts.push({...entry(last, `msg_p${count}`, "user", `STATUS ${count}`).parts[0], messageID: last.info.id}),
  "part, same id, first": (list, last) =>
    last.parts.unshift({...entry(last, "msg_psame", "user", `STATUS ${count}`).parts[0], messageID: last.info.id}),
  "part of an answer": (list) => {
    const answer = list.findLast((one) => one.info.role === "assistant")
    answer?.parts.unshift({...entry(answer, `msg_a${count}`, "", "STATUS thinks").parts[0], messageID: answer.info.id})
  },
}
export const Other = async () => ({
  "experimental.chat.messages.transform": async (input, output) => {
    const list = output.messages
    const words = list.flatMap((one) => one.parts).map((part) => part.text ?? "").join("\\n")
    const last = list.findLast((one) => one.info.role === "user")
    count += 1
    for (const [name, way] of Object.entries(ways)) if (words.includes(`${NAME}: ${name}.`)) way(list, last)
  },
})
export default Other
"""
ENDS = ("end, same id", "end, new id", "end, id as OpenCode's", "end, same words")
BEGINNINGS = ("beginning, same id", "beginning, new id", "beginning, of no session")
PARTS = ("part, new id", "part, same id, first", "part of an answer")
WAYS = (*ENDS, *BEGINNINGS, "middle, new id", "two, around", *PARTS)
EXAMPLES = ("end, new id", "beginning, same id", "middle, new id", "two, around", "part, new id", "part of an answer")
"""One way for each place in a conversation and in a message."""
NOTES = {f"notes/{name}.txt": f"note {name}: quinces and late pears\n" * 190 for name in range(8)}
LIMIT = 24_000


class Running(msgspec.Struct, frozen=True):
    oc: OpenCode
    provider: Provider
    bus: Bus

    async def log(self, session: str) -> list[Fact]:
        await settle(self.bus)
        return [fact for fact in await facts(self.bus) if fact[0].session == session]


def opencode(root: Path, provider: Provider, data: Path) -> OpenCode:
    """OpenCode with ours between two others."""
    for name in ("before", "behind"):
        (root / f"{name}.mjs").write_text(OTHER % name)
    plugins = [(root / "before.mjs").as_uri(), plugin(data, root / "state"), (root / "behind.mjs").as_uri()]
    model: Mapping[str, object] = {"limit": {"context": LIMIT, "output": 2_000}}
    config = merged(scenarios.CONFIG, {"provider": {OPENAI.provider: {"models": {OPENAI.main.name: model}}}})
    return OpenCode(root, provider.url, plugins=plugins, config=config, files=NOTES)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    root = tmp_path_factory.mktemp("foreign")
    async with (
        running_installation(root / "data") as installation,
        opencode(root, provider, installation.data) as oc,
    ):
        bus = await connect(installation)
        yield Running(oc, provider, bus)
        await bus.close()


async def read(conversation: Conversation, *names: int) -> None:
    on = Calls(conversation.oc)
    for name in names:
        answer = await conversation.send(
            f"Read {name}.", calls(on.read(f"notes/{name}.txt")), Reply(text=f"Note {name} is read.")
        )
        assert "error" not in answer["info"], answer["info"]["error"]


def own(request: Request) -> list[bytes]:
    """The messages of a request without what the other plugin put there."""
    return [without(message) for message in request.messages if without(message)]


def without(message: bytes) -> bytes:
    """A message without the other plugin's texts; nothing where it has no others."""
    decoded = json.loads(message)
    content = decoded.get("content")
    if isinstance(content, list):
        left = [one for one in content if not str(one.get("text", "")).startswith(MARK)]
        return json.dumps({**decoded, "content": left}).encode() if left else b""
    return b"" if isinstance(content, str) and content.startswith(MARK) and "tool_calls" not in decoded else message


def moved(requests: Sequence[Request]) -> int:
    """How often what is ours does not begin with what was sent before."""
    return sum(own(after)[: len(own(before))] != own(before) for before, after in pairwise(requests))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played(
    running: Running, request: pytest.FixtureRequest
) -> tuple[Mapping[tuple[str, ...], Conversation], Sequence[Fact]]:
    """A session for each way and place that is asked about, all of them at once, and the log."""

    async def play(way: str, where: str) -> Conversation:
        conversation = await Conversation.open(running.oc, running.provider, way)
        await conversation.send(f"{where}: {way}.", Reply(text="So be it."))
        await read(conversation, 0, 1)
        return conversation

    kinds = chosen(request, test_what_another_plugin_adds_moves_nothing)
    conversations = await asyncio.gather(*(play(*kind) for kind in kinds))
    await settle(running.bus)
    return dict(zip(kinds, conversations, strict=True)), await facts(running.bus)


@pytest.mark.parametrize(("way", "where"), each_way_once(WAYS, ("before", "behind"), EXAMPLES))
async def test_what_another_plugin_adds_moves_nothing(
    running: Running,
    played: tuple[Mapping[tuple[str, ...], Conversation], Sequence[Fact]],
    way: str,
    where: str,
) -> None:
    conversation = played[0][way, where]
    requests = running.provider.of(conversation.session)
    log = [fact for fact in played[1] if fact[0].session == conversation.session]
    assert [] == [one.causes for one in rebases(log, conversation.session)]
    shown = [request for request in requests if MARK in request.raw.decode().replace(f"{where}: ", "")]
    assert len(requests) - len(shown) <= 1, "what the other plugin adds is left as it is"
    assert not any(f"§ {MARK}" in request.raw.decode() for request in requests)
    recorded = [event.text for _, event in log if isinstance(event, PartRecorded) and event.text.startswith(MARK)]
    assert [] == recorded
    known = {message["info"]["id"] for message in await conversation.messages()}
    assert {event.message for _, event in log if isinstance(event, MessageRecorded)} <= known
    if way not in PARTS:
        assert 0 == moved(requests)


async def test_a_long_session_is_made_smaller_as_it_is_without(running: Running) -> None:
    """The message at the beginning stays where messages are cut away, and the other at the end."""
    alone = await Conversation.open(running.oc, running.provider, "Alone")
    await alone.send("Nobody else.", Reply(text="So be it."))
    await read(alone, *range(7))
    conversation = await Conversation.open(running.oc, running.provider, "Second")
    await conversation.send("before: two, around.", Reply(text="So be it."))
    await read(conversation, *range(7))

    expected = rebases(await running.log(alone.session), alone.session)
    made = rebases(await running.log(conversation.session), conversation.session)
    assert expected
    assert len(made) <= len(expected), [one.causes for one in made]
    assert {cause for one in made for cause in one.causes} <= {"pressure", "force"}, "only its length is a reason"
    requests = running.provider.of(conversation.session)
    assert all("STATUS first" in request.raw.decode() for request in requests)
    assert moved(requests) == len(made)


async def test_a_message_that_comes_with_each_call_is_known_after_a_restart(running: Running) -> None:
    conversation = await Conversation.open(running.oc, running.provider, "Again")
    await conversation.send("before: two, around.", Reply(text="So be it."))
    await read(conversation, 0)
    await running.oc.restart()
    conversation.oc = running.oc
    await read(conversation, 1, 2)

    log = await running.log(conversation.session)
    assert [] == [one.causes for one in rebases(log, conversation.session)]
    assert 0 == moved(running.provider.of(conversation.session))
