"""Messages that other plugins put into one call and leave out of the next: no prompt of ours changes for that."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.events import MessageRecorded
from tests.conftest import running_installation
from tests.harness import scenarios
from tests.harness.connected import plugin, rebases
from tests.harness.kinds import chosen, each_way_once
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider
from tests.harness.scripted import Conversation
from tests.harness.test_foreign import MARK, NOTES, Running, moved, read
from tests.helpers.installation import Fact, connect, facts, settle

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]

OTHER = """
const calls = new Map()
const NAME = "%s"
const entry = (last, id, text) => ({
  info: {...last.info, id, role: "user"},
  parts: text === undefined ? [] : [{id: id.replace("msg", "prt"), sessionID: last.info.sessionID, messageID: id,
    type: "text", text: `STATUS ${text}`}],
})
const ways = {
  "comes and goes, end": (list, last, n) => n %% 2 && list.push(entry(last, "msg_zzzzgone", n)),
  "comes and goes, end, new id": (list, last, n) => n %% 2 && list.push(entry(last, `msg_zzzz${n}`, n)),
  "comes and goes, beginning": (list, last, n) => n %% 2 && list.unshift(entry(last, "msg_000gone", "first")),
  "comes and goes, beginning, new id": (list, last, n) => n %% 2 && list.unshift(entry(last, `msg_000${n}`, n)),
  "comes and goes, id as OpenCode's": (list, last, n) =>
    n %% 2 && list.unshift(entry(last, `${list[0].info.id.slice(0, -4)}${1000 + n}`, n)),
  "goes for good": (list, last, n) => n < 3 && list.push(entry(last, "msg_zzzzonce", "once")),
  "is replaced": (list, last, n) => list.push(entry(last, n %% 2 ? "msg_zzzzodd" : "msg_zzzzeven", n)),
  "moves": (list, last, n) => (n %% 2 ? list.unshift(entry(last, "msg_000moves", "moves")) :
    list.push(entry(last, "msg_000moves", "moves"))),
  "is empty, and goes": (list, last, n) => n %% 2 && list.push(entry(last, "msg_zzzzempty")),
  "stands in the middle, and goes": (list, last, n) =>
    n %% 2 && list.splice(1, 0, entry(last, `msg_mid${n}`, n), entry(last, "msg_midsame", n)),
  "many, and they go": (list, last, n) => {
    if (n %% 2) for (let i = 0; i < 12; i += 1) list.splice(i, 0, entry(last, `msg_many${n}x${i}`, i))
  },
}
export const Other = async () => ({
  "experimental.chat.messages.transform": async (input, output) => {
    const list = output.messages
    const words = list.flatMap((one) => one.parts).map((part) => part.text ?? "").join("\\n")
    const last = list.findLast((one) => one.info.role === "user")
    const n = (calls.get(last.info.sessionID) ?? 0) + 1
    calls.set(last.info.sessionID, n)
    for (const [name, way] of Object.entries(ways)) if (words.includes(`${NAME}: ${name}.`)) way(list, last, n)
  },
})
export default Other
"""
WAYS = (
    "comes and goes, end",
    "comes and goes, end, new id",
    "comes and goes, beginning",
    "comes and goes, beginning, new id",
    "comes and goes, id as OpenCode's",
    "goes for good",
    "is replaced",
    "moves",
    "is empty, and goes",
    "stands in the middle, and goes",
    "many, and they go",
)
EXAMPLES = (
    "comes and goes, end, new id",
    "comes and goes, beginning",
    "goes for good",
    "moves",
    "stands in the middle, and goes",
)
"""One way for each place in a conversation, and for each thing that may happen to it there."""
PLACES = ("before", "behind", "both")


def asked(way: str, where: str) -> str:
    return " ".join(f"{name}: {way}." for name in ("before", "behind") if where in (name, "both"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    root: Path = tmp_path_factory.mktemp("gone")
    async with running_installation(root / "data") as installation:
        for name in ("before", "behind"):
            (root / f"{name}.mjs").write_text(OTHER % name)
        ours = plugin(installation.data, root / "state")
        plugins = [(root / "before.mjs").as_uri(), ours, (root / "behind.mjs").as_uri()]
        async with OpenCode(root, provider.url, plugins=plugins, config=scenarios.CONFIG, files=NOTES) as oc:
            bus = await connect(installation)
            yield Running(oc, provider, bus)
            await bus.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played(
    running: Running, request: pytest.FixtureRequest
) -> tuple[Mapping[tuple[str, ...], Conversation], Sequence[Fact]]:
    """A session for each way and place that is asked about, all at once; then the log.

    Each has two turns of four calls, a restart of OpenCode, and two turns more.
    """

    async def begin(way: str, where: str) -> Conversation:
        conversation = await Conversation.open(running.oc, running.provider, way)
        await read_on(conversation, asked(way, where), 0)
        return conversation

    async def go_on(conversation: Conversation) -> None:
        conversation.oc = running.oc
        await read(conversation, 2, 3)

    async def read_on(conversation: Conversation, text: str, *names: int) -> None:
        await conversation.send(text)
        await read(conversation, *names)

    kinds = chosen(request, test_what_another_plugin_takes_back_moves_nothing)
    conversations = await asyncio.gather(*(begin(*kind) for kind in kinds))
    await running.oc.restart()
    await asyncio.gather(*map(go_on, conversations))
    await settle(running.bus)
    return dict(zip(kinds, conversations, strict=True)), await facts(running.bus)


@pytest.mark.parametrize(("way", "where"), each_way_once(WAYS, PLACES, EXAMPLES))
async def test_what_another_plugin_takes_back_moves_nothing(
    running: Running,
    played: tuple[Mapping[tuple[str, ...], Conversation], Sequence[Fact]],
    way: str,
    where: str,
) -> None:
    conversation = played[0][way, where]
    requests = running.provider.of(conversation.session)
    log = [fact for fact in played[1] if fact[0].session == conversation.session]
    assert [] == [one.causes for one in rebases(log, conversation.session)]
    assert not any(f"§ {MARK}" in request.raw.decode() for request in requests)
    known = {message["info"]["id"] for message in await conversation.messages()}
    assert {event.message for _, event in log if isinstance(event, MessageRecorded)} <= known
    assert 0 == moved(requests)
