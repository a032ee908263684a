"""Where memory is off: nothing is written, nothing is served, and answers say why; what was remembered stays."""

from pathlib import Path
from typing import TypeVar

import msgspec
import pytest
from msgspec.structs import replace

from schemas.asks import (
    ClientManifest,
    ClientManifestAsk,
    CompactionContext,
    CompactionContextAsk,
    MemoryAsk,
    MemoryReply,
)
from schemas.codec import encode
from schemas.commands import (
    MemoryWrite,
)
from schemas.events import Event, FactExtracted
from schemas.inbox import CompactionSeen, MessageSeen
from schemas.subjects import ask
from services.desk.core.commands import OF_BOOKS
from services.domain.envelopes import envelopes
from services.edges.launcher.broker import Broker
from services.historian.triggers import propose
from services.kit.bus import Bus
from services.kit.commands import send
from services.settings import MemoryLimits
from tests.helpers.any_command import any_command
from tests.helpers.broker_world import HARBOUR, NOON, facts, kit_of, quick_settings
from tests.helpers.compressed_sessions import text
from tests.helpers.memory_sessions import ADA, PATIENCE, PROJECT, begun, done, heads, notices, rooms
from tests.helpers.waiting import until
from tests.responder.test_memory_on_broker import RULE

pytestmark = pytest.mark.broker

REPLY = TypeVar("REPLY", CompactionContext, ClientManifest, MemoryReply)

OFF = MemoryLimits(enabled=False)
SUMMARY = "## Goal\n\n## Memory candidates\n- [decision] Always gate schema changes behind a versioned migration."


async def of_memory(bus: Bus) -> list[Event]:
    return [one for one in await facts(bus, PROJECT) if type(one).TYPE.startswith(("memory.", "note.", "policy."))]


async def test_nothing_is_written_nothing_is_served_and_everybody_gets_the_reason(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path / "on"):
        await done(bus, MemoryWrite(text=RULE))
    before = await of_memory(bus)
    async with rooms(broker, tmp_path / "off", OFF) as serving:
        session = await begun(bus, "pi", "one")
        edits = await session.step(serving)
        assert ([], []) == (heads(edits), notices(edits))
        for number, command in enumerate(map(any_command, OF_BOOKS)):
            answer = await send(bus, PROJECT, command, name=f"c{number}", actor=ADA)
            assert (False, 0) == (answer.ok, answer.seq)
            assert "this installation has no memory: it is switched off (ANNALS_MEMORY__ENABLED)" in answer.text
        await session.says("Remember: always answer in French.")
        part = replace(text(SUMMARY), message="sum", part="sum.0")
        await session.report(MessageSeen(message="sum", role="assistant", at=NOON, synthetic=True, parts=(part,)))
        await session.report(CompactionSeen(auto=True, summary="sum"))
        await session.step(serving)
        for room in serving:
            await until(room.idle)
        assert before == await of_memory(bus)
        brief = await asked(bus, CompactionContextAsk(HARBOUR.project, "one"), CompactionContext)
        assert (False, False) == (RULE in brief.text, "Memory candidates" in brief.text)
        guide = await asked(bus, ClientManifestAsk(HARBOUR.project), ClientManifest)
        assert "ctx_memory" not in {tool.name for tool in guide.tools}
        read = await asked(bus, MemoryAsk(HARBOUR.project), MemoryReply)
        assert "The memory of this installation is off" in read.error
    async with rooms(broker, tmp_path / "on again") as serving:
        fresh = await begun(bus, "pi", "two")
        (head,) = heads(await fresh.step(serving))
        assert (True, False) == (RULE in head, "French" in head)


async def test_the_historian_proposes_nothing(bus: Bus) -> None:
    fact = FactExtracted(fact="f", run="r", category="NAMING", text=RULE, evidence=[1])
    (envelope,) = envelopes([fact], HARBOUR, {}, at=NOON, actor=ADA, cause="")
    async with kit_of("historian", bus, replace(quick_settings(), memory=OFF)) as kit:
        await propose(kit, envelope, fact, {})  # there is no desk that could answer


async def asked(bus: Bus, question: CompactionContextAsk | ClientManifestAsk | MemoryAsk, kind: type[REPLY]) -> REPLY:
    reply = await bus.request(ask(question.NAME, HARBOUR.project), encode(question), PATIENCE)
    return msgspec.json.decode(reply, type=kind)
