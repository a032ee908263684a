"""Long outputs over a real broker: sent as their two ends, read back from the log and its bodies, and shown whole."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from schemas.asks import ExpandAsk, Expanded
from schemas.codec import encode
from schemas.plan import AnyEdit, ReplaceOutput
from schemas.streams import INBOUND_BODIES
from schemas.subjects import ask
from services.edges.launcher.broker import Broker
from services.kit.bus import Bodies, Bus
from services.kit.room import Room
from services.responder.worker import Responder
from services.settings import Limits
from services.tagger.worker import Tagger
from tests.helpers.broker_world import HARBOUR, connected, opened, quick_settings
from tests.helpers.compressed_sessions import ran
from tests.helpers.memory_sessions import begun
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.broker

LINES = "".join(f"line {n}\n" for n in range(2_000))
BODY = "A line of it.\n" * 40_000
"""So long that it stands beside the log."""


@asynccontextmanager
async def rooms(broker: Broker, data: Path) -> AsyncIterator[tuple[Room, Room]]:
    """A tagger and a responder that shortens outputs, on a connection of their own."""
    interval = sys.getswitchinterval()
    given = replace(quick_settings(data), plan=Limits(cut_output=True))
    tagger, responder, bus = Tagger(), Responder(), await connected(broker)
    try:
        async with opened(tagger, bus, given), opened(responder, bus, given):
            yield tagger, responder
    finally:
        await bus.close()
        sys.setswitchinterval(interval)


def shortened(edits: tuple[AnyEdit, ...]) -> list[str]:
    return [edit.text for edit in edits if isinstance(edit, ReplaceOutput)]


async def expanded(bus: Bus, session: str, tag: int) -> str:
    question = ExpandAsk(HARBOUR.project, session, tag=tag)
    reply = await bus.request(ask(question.NAME, HARBOUR.project), encode(question), PATIENCE)
    return msgspec.json.decode(reply, type=Expanded).text


async def test_long_outputs_are_sent_as_their_ends_once_and_can_be_seen_whole(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path / "one") as first:
        session = await begun(bus, "opencode", "one")
        reference = await Bodies(bus, INBOUND_BODIES).put(BODY)
        await session.says_parts("assistant", (ran("make", LINES, "c1"), ran("cat a.py", LINES, "c2")))
        await session.says_parts("assistant", (replace(ran("make all", "", "c3"), output_ref=reference),))
        short, long = shortened(await session.step(first))
        assert short.startswith("§2§ line 0\n")
        assert "; ctx_expand with tag=2 shows all of it.]\n" in short
        assert short.endswith("line 1999\n")
        assert long.startswith("§4§ A line of it.\n")
        assert "[About 138,005 tokens (39,430 lines) are left out here; ctx_expand with tag=4" in long

    async with rooms(broker, tmp_path / "two") as second:  # which know nothing but the log
        await session.says("and?")
        assert [] == shortened(await session.step(second))
        session.revision = 0
        assert [short, long] == shortened(await session.step(second))
        assert (await expanded(bus, "one", 2)).endswith(LINES)
