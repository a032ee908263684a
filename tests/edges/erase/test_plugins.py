"""A plugin that was not connected during an erasure does the order at its next connect, before it sends anything."""

import asyncio
import hashlib
import json
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from schemas.codec import encode
from schemas.streams import IN, LOG
from schemas.subjects import Address
from services.domain.erasure.secret import MASK
from services.edges.launcher.broker import Broker
from services.edges.launcher.leftover import end_leftover
from services.kit.bus import Bus, rewriting
from services.responder.answers.client_manifest import MANIFEST
from tests.adapter.conftest import ROOT
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.broker_world import HARBOUR, connected, stored
from tests.helpers.erasing import erase, files_with, running
from tests.helpers.memory_sessions import begun
from tests.helpers.waiting import PATIENCE, until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

CORE = ROOT / "deploy" / "adapter-core"
DRIVER = ROOT / "tests" / "adapter" / "erasures.mjs"
WORD = 'kestrel/"77"'
ESCAPED = json.dumps(WORD)[1:-1]
DEAD = "999999999-1.jsonl"
"""The spool file of a process that there cannot be."""
LONG = f"{'crane ' * 60_000}{WORD}"
BEFORE, AFTER = "2026-01-01T00:00:00Z", "2096-01-01T00:00:00Z"


async def received(bus: Bus) -> list[dict[str, Any]]:
    """What harnesses sent, in order; an erasure leaves gaps between."""
    return [json.loads(one.data) async for one in rewriting.stored_messages(bus, IN.name)]


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "data"
    yield place
    end_leftover(place)


class Plugin:
    """The files of a plugin on another machine, and the plugin."""

    def __init__(self, place: Path) -> None:
        self.state = place
        self._spool = place / "spool" / DEAD
        self._plan = place / "sessions" / "s1.jsonl"

    def waits(self, *messages: dict[str, object]) -> None:
        """A process of it has ended with these in its spool."""
        self._spool.parent.mkdir(parents=True, exist_ok=True)
        self._spool.write_text("".join(f"{json.dumps(one)}\n" for one in messages))

    def plans(self, session: str, *, project: str = "", text: str = "") -> Path:
        """It has a plan of this session, which shows this text."""
        self._plan.parent.mkdir(parents=True, exist_ok=True)
        edit = {"op": "set_head", "slot": "memory", "id": "h", "text": text}
        path = self._plan.with_name(f"{session}.jsonl")
        path.write_text(json.dumps({"revision": 1, "project": project, "edits": [edit]}) + "\n")
        return path

    @asynccontextmanager
    async def connects(self, broker: Path) -> AsyncIterator[asyncio.subprocess.Process]:
        """It begins; it ends by itself when all that waited is sent."""
        node = shutil.which("node")
        assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
        options = json.dumps({"broker": str(broker), "state": str(self.state), "house": False})
        process = await asyncio.create_subprocess_exec(node, str(DRIVER), str(CORE), options, str(broker.parent))
        try:
            yield process
            async with asyncio.timeout(PATIENCE):
                assert 0 == await process.wait()
        finally:
            if process.returncode is None:
                process.kill()

    def logged(self, text: str) -> bool:
        path = self.state / "adapter.log"
        return path.exists() and text in path.read_text()


def message(name: str, text: str, address: Address = HARBOUR, at: str = BEFORE, **more: object) -> dict[str, object]:
    part = {"kind": "part.seen", "message": f"{name}.m", "part": f"{name}.p", "type": "text", "text": text, **more}
    data = json.dumps({"id": name, "at": at, "items": [part]})
    return {"subject": address.inbound("opencode"), "id": name, "data": data}


async def test_what_it_stored_is_masked_before_it_sends_it_and_once_in_its_files(data: Path, tmp_path: Path) -> None:
    async with running(data) as now:
        session = await begun(now.bus, "opencode", "s1")
        await session.says(f"use {WORD}")
        await session.step(now.rooms)
    gone = erase(data, "secret", "--yes", word=WORD)
    assert 0 == gone.returncode, gone.stdout + gone.stderr
    assert "each gets the order when it connects next" in gone.stdout

    plugin = Plugin(tmp_path / "elsewhere")
    reference = hashlib.sha256(LONG.encode()).hexdigest()
    long = message("b", "", text_ref=reference)
    plugin.waits(message("a", f"it is {WORD}, é"), {**long, "bodies": {reference: LONG}}, message("c", "on"))
    plan = plugin.plans("s1", text=f"{WORD} is known")
    other = plugin.plans("s2", text="the quay is open")
    left = other.read_bytes()
    async with running(data) as now:
        async with plugin.connects(data / "broker.json"):
            pass
        sent = (await received(now.bus))[-3:]
        assert ["a", "b", "c"] == [one["id"] for one in sent]
        assert f"it is {MASK}, é" == sent[0]["items"][0]["text"]
        renamed = sent[1]["items"][0]["text_ref"]
        assert hashlib.sha256(LONG.replace(WORD, MASK).encode()).hexdigest() == renamed
        await until(now.rooms[0].idle)
        for fact in await stored(now.bus, LOG.name):
            assert ESCAPED.encode() not in fact.data
    for spelling in (WORD, ESCAPED):
        assert [] == files_with(plugin.state, spelling)
        assert [] == files_with(data, spelling)
    assert f"{MASK} is known" in plan.read_text()
    assert left == other.read_bytes()

    done = json.loads((plugin.state / "erasures.json").read_text())["done"]
    assert 1 == len(done)
    plugin.waits(message("d", f"again {WORD}"))
    plugin.plans("s1", text=WORD)
    async with running(data) as now, plugin.connects(data / "broker.json"):
        pass
    assert [plan] == files_with(plugin.state, ESCAPED), "files are cleaned once for an order"
    assert [] == files_with(data, ESCAPED), "what waits is cleaned each time"
    (plugin.state / "erasures.json").write_text('{"done": ["')
    plugin.waits(message("e", "on"))
    async with running(data) as now, plugin.connects(data / "broker.json"):
        pass
    assert [] == files_with(plugin.state, ESCAPED), "one that was killed does the order again"
    assert done == json.loads((plugin.state / "erasures.json").read_text())["done"]


@pytest.mark.parametrize("kind", ["session", pytest.param("project", marks=pytest.mark.soak)])
async def test_messages_of_what_went_are_dropped_and_its_plans_deleted(data: Path, tmp_path: Path, kind: str) -> None:
    async with running(data) as now:
        session = await begun(now.bus, "opencode", "s1")
        await session.says("the kestrel")
        await session.step(now.rooms)
    gone = erase(data, kind, {"session": "s1", "project": HARBOUR.project}[kind], "--yes")
    assert 0 == gone.returncode, gone.stdout + gone.stderr

    plugin = Plugin(tmp_path / "elsewhere")
    mine, other = Address(HARBOUR.project, "s1"), Address("quay", "s2")
    plugin.waits(message("a", "gone", mine), message("b", "stays", other), message("c", "new", mine, AFTER))
    plan, left = plugin.plans("s1", project=HARBOUR.project), plugin.plans("s2", project="quay")
    async with running(data) as now:
        async with plugin.connects(data / "broker.json"):
            pass
        sent = [one["id"] for one in (await received(now.bus))[-2:]]
        assert ["b", "c"] == sent
    assert (False, True) == (plan.exists(), left.exists())


async def test_nothing_of_before_is_sent_until_rooms_answer_and_rooms_of_before_get_it_as_it_is(
    data: Path, tmp_path: Path
) -> None:
    plugin = Plugin(tmp_path / "elsewhere")
    plugin.waits(message("a", "a text"))
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    try:
        bus = await connected(server)
        await bus.ensure()
        async with plugin.connects(data / "broker.json"):
            await until(lambda: plugin.logged("erasures were not answered; what waits is sent later"))
            assert 0 == await bus.messages(IN.name)

            async def guide(_subject: str, _question: bytes) -> bytes:
                return encode(replace(MANIFEST, erasures=False))

            await bus.serve("ask.guide.*", "responder", guide)
        assert 1 == await bus.messages(IN.name)
        await bus.close()
    finally:
        server.stop()
