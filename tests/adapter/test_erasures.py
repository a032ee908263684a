"""Orders of erasures that a plugin cannot do, and files that it cannot clean: all else is cleaned and sent."""

import asyncio
import json
import random
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import msgspec
import pytest

from schemas.codec import encode
from schemas.streams import IN
from services.domain.erasure.orders import orders
from services.domain.erasure.scope import ErasureScope
from services.domain.erasure.secret import MASK, spellings
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus, rewriting
from services.responder.answers.client_manifest import MANIFEST
from tests.adapter.conftest import ROOT
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.broker

WORD = "kestrel-77-kestrel"
DEAD = "999999999-1.jsonl"
"""The spool file of a process that there cannot be."""
NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
PASSED_OVER = "an order of an erasure was passed over"


def ordered(**changes: object) -> object:
    scope = ErasureScope(masks=spellings(WORD), session_ids=frozenset({"gone"}))
    (made,) = orders(scope, NOON, random.Random(7).randbytes, cost=16)
    return {**msgspec.to_builtins(made), **changes}


def line(name: str, text: str, session: str = "s") -> str:
    data = {"id": name, "at": "2026-01-01T00:00:00Z", "items": [{"kind": "error.seen", "text": text}]}
    return json.dumps({"subject": f"in.opencode.p.{session}", "id": name, "data": json.dumps(data)})


def left(state: Path, *lines: str) -> None:
    """A process of the plugin has ended with these lines in its spool."""
    folder = state / "spool"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DEAD).write_text("".join(f"{one}\n" for one in lines))


async def connects(
    broker: Broker, bus: Bus, state: Path, given: Sequence[object], *, ends: Sequence[int] = (0,)
) -> dict[str, str]:
    """The plugin connects, gets these orders and sends what waits: the text of each message.

    `ends`: behind which position there is more, by one reply after the other.
    """
    asked = count()

    async def erasures(_subject: str, _question: bytes) -> bytes:
        return encode({"orders": given, "more": ends[min(next(asked), len(ends) - 1)]})

    async def guide(_subject: str, _question: bytes) -> bytes:
        return encode(MANIFEST)

    await bus.serve("ask.erasures.*", "responder", erasures)
    await bus.serve("ask.guide.*", "responder", guide)
    node = shutil.which("node")
    assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
    endpoint = broker.endpoint_of("harness")
    options = {"url": endpoint.url, "user": endpoint.user, "password_env": "PASSWORD", "state": str(state)}
    core, driver = ROOT / "deploy" / "adapter-core", ROOT / "tests" / "adapter" / "erasures.mjs"
    process = await asyncio.create_subprocess_exec(
        *(node, str(driver), str(core), json.dumps({**options, "house": False}), str(state)),
        env={"PASSWORD": endpoint.password},
    )
    try:
        async with asyncio.timeout(PATIENCE):
            assert 0 == await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
    sent = [json.loads(one.data) async for one in rewriting.stored_messages(bus, IN.name)]
    return {one["id"]: one["items"][0]["text"] for one in sent}


async def test_orders_that_cannot_be_done_keep_nothing_from_being_sent_and_others_from_being_done(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    left(tmp_path, line("a", f"it is {WORD}"), line("b", "gone", "gone"), line("c", "on"))
    later = (
        ordered(order="later", cost=2**20),
        ordered(order="later", salt="7"),
        ordered(order="half", ordered_at="noon"),
    )
    assert {"a": f"it is {MASK}", "c": "on"} == await connects(broker, bus, tmp_path, [None, *later, ordered()])
    notes = (tmp_path / "adapter.log").read_text()
    assert 4 == notes.count(PASSED_OVER)
    assert "annals setup" in notes
    assert 1 == len(json.loads((tmp_path / "erasures.json").read_text())["done"])


@pytest.mark.parametrize("strange", ["{}", "[]", '{"id": 1}', '{"subject": "in.a.b.c", "id": "x", "data": {}}'])
async def test_a_line_of_a_spool_that_is_no_message_costs_itself_alone(
    broker: Broker, bus: Bus, tmp_path: Path, strange: str
) -> None:
    left(tmp_path, strange, line("a", WORD))
    assert {"a": MASK} == await connects(broker, bus, tmp_path, [ordered()])


async def test_a_file_that_cannot_be_cleaned_keeps_no_other_from_it_and_the_order_from_being_done(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    records = tmp_path / "sessions"
    records.mkdir()
    for name in ("a", "b", "c"):
        (records / f"{name}.jsonl").write_text(json.dumps({"sent": WORD}) + "\n")
    left(tmp_path, line("a", "on"))
    in_the_way = records / "b.jsonl.draft"
    in_the_way.mkdir()
    assert {"a": "on"} == await connects(broker, bus, tmp_path, [ordered()])
    assert ["b"] == [path.stem for path in sorted(records.glob("*.jsonl")) if WORD in path.read_text()]
    assert not (tmp_path / "erasures.json").exists()
    in_the_way.rmdir()
    left(tmp_path, line("b", "on"))
    await connects(broker, bus, tmp_path, [ordered()])
    assert [] == [path for path in records.iterdir() if WORD in path.read_text()]
    assert (tmp_path / "erasures.json").exists()


async def test_rooms_that_name_no_end_of_their_orders_are_not_asked_for_ever(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    left(tmp_path, line("a", "on"))
    assert {"a": "on"} == await connects(broker, bus, tmp_path, [], ends=(7, 7, 0))
    assert "erasures were not answered" in (tmp_path / "adapter.log").read_text()
