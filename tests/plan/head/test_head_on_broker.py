"""Documents and key files at the head of prompts, over a real broker: captured, served, announced and folded in."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from schemas.asks import ClientManifest, ClientManifestAsk, Plan, TransformAsk
from schemas.codec import encode
from schemas.inbox import DocumentSeen, Listed, SessionSeen, StepSeen
from schemas.plan import AnyEdit
from schemas.streams import INBOUND_BODIES
from schemas.subjects import ask
from services.edges.launcher.broker import Broker
from services.kit.bus import Bodies, Bus
from services.kit.room import Room
from services.plan.head.render import CUT
from services.responder.answers.client_manifest import MANIFEST
from services.responder.worker import Responder
from services.settings import Limits
from services.tagger.worker import Tagger
from tests.helpers.broker_world import HARBOUR, connected, opened, quick_settings
from tests.helpers.compressed_sessions import Session, text
from tests.helpers.memory_sessions import heads, notices
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

KEY_FILES = ("src/core.py", "src/door.py")
Rooms = tuple[Room, Room]


@asynccontextmanager
async def rooms(broker: Broker, data: Path) -> AsyncIterator[Rooms]:
    """A tagger and a responder, on a connection of their own: what they answer ends with it."""
    interval = sys.getswitchinterval()
    given = replace(quick_settings(data), plan=Limits(key_files=KEY_FILES))
    tagger, responder, bus = Tagger(), Responder(), await connected(broker)
    try:
        async with opened(tagger, bus, given), opened(responder, bus, given):
            yield tagger, responder
    finally:
        await bus.close()
        sys.setswitchinterval(interval)


class Harness:
    """A session that makes model calls."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._session = Session(bus)
        self._listed: list[Listed] = []
        self.revision = 0
        self.report = self._session.report

    async def add_message(self, words: str) -> None:
        name = await self._session.add_message("user", text(words))
        self._listed.append(Listed(name, (f"{name}.0",)))

    async def step(self, serving: Rooms, step: str, model: str = "opus") -> tuple[AnyEdit, ...]:
        """What the plan of this call adds to the one in hand."""
        listed = tuple(self._listed)
        await self.report(
            StepSeen(step, messages=listed, count=len(listed), provider="p", model=model, context_limit=100_000)
        )
        return await self.ask(serving, step, self.revision)

    async def ask(self, serving: Rooms, step: str, base: int) -> tuple[AnyEdit, ...]:
        for room in serving:
            await until(room.idle)
        question = TransformAsk(HARBOUR.project, HARBOUR.session, step, base, deadline_ms=60_000)
        reply = await self._bus.request(ask(question.NAME, HARBOUR.project), encode(question), PATIENCE)
        plan = msgspec.json.decode(reply, type=Plan)
        assert "ready" == plan.status, plan.reason
        self.revision = plan.revision
        return tuple(edit for revision in plan.revisions for edit in revision.edits)


async def test_key_files_are_served_as_captured_until_a_rebase_takes_in_what_has_changed(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    harness = Harness(bus)
    async with rooms(broker, tmp_path / "one") as first:
        other, core = DocumentSeen("src/other.py", "o1", "unasked"), DocumentSeen("src/core.py", "c1", "x < 1")
        await harness.report(SessionSeen(directory="/w"), other, core, DocumentSeen("ARCHITECTURE.md", "a1", "# Rooms"))
        await harness.add_message("hello")
        (head,) = heads(await harness.step(first, "s1"))
        assert '<document path="ARCHITECTURE.md">\n# Rooms\n</document>' in head
        assert '<key_files>\n<file path="src/core.py">\nx &lt; 1\n</file>\n</key_files>' in head
        assert "unasked" not in head

        await harness.report(DocumentSeen("src/core.py", ""), DocumentSeen("src/door.py", "d1", "y = 2"))
        await harness.add_message("go on")
        changed = await harness.step(first, "s2")
        assert [] == heads(changed)
        (notice,) = notices(changed)
        assert "\n- src/core.py (removed)\n- src/door.py\n" in notice

    async with rooms(broker, tmp_path / "two") as second:  # which know nothing but the log
        assert [head] == heads(await harness.ask(second, "s2", 0))
        (after,) = heads(await harness.step(second, "s3", model="sonnet"))
        assert '<key_files>\n<file path="src/door.py">\ny = 2\n</file>\n</key_files>' in after
        assert "src/core.py" not in after


async def test_the_beginning_of_a_document_that_is_too_long_for_a_message_is_served(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    harness = Harness(bus)
    async with rooms(broker, tmp_path) as serving:
        reference = await Bodies(bus, INBOUND_BODIES).put("A line of it.\n" * 40_000)
        long, empty = DocumentSeen("ARCHITECTURE.md", "a1", text_ref=reference), DocumentSeen("src/core.py", "c1")
        await harness.report(SessionSeen(directory="/w"), long, empty, DocumentSeen("src/door.py", "d1", "y = 2"))
        await harness.add_message("hello")
        (head,) = heads(await harness.step(serving, "s1"))
        assert f"A line of it.\n{CUT}\n</document>" in head
        assert '<key_files>\n<file path="src/door.py">\ny = 2\n</file>\n</key_files>' in head


async def test_adapters_are_asked_for_the_files_that_the_settings_name(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path):
        reply = await bus.request(ask(ClientManifestAsk.NAME, HARBOUR.project), encode(ClientManifestAsk()), PATIENCE)
        offered = msgspec.json.decode(reply, type=ClientManifest)
        assert ("ARCHITECTURE.md", "STRUCTURE.md", *KEY_FILES) == offered.documents
        assert offered.digest not in ("", MANIFEST.digest)
