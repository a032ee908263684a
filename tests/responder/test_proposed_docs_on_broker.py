"""A change that is proposed for a document, or decided on, is no part of a prompt: only the document itself is."""

from pathlib import Path

import pytest

from schemas.document_commands import DocsApply, DocsDismiss
from schemas.envelope import Actor
from schemas.inbox import DocumentSeen
from schemas.plan import AnyEdit
from schemas.subjects import Address
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.kit.commands import send
from tests.helpers.memory_sessions import done, heads, rooms
from tests.helpers.proposed_docs import ARCHITECTURE, NEW, OLD, TEXT, name, propose
from tests.responder.test_project_settings_on_broker import NEIGHBOUR, OWN, flushed, rebases, served, started

pytestmark = pytest.mark.broker


async def test_what_was_sent_is_sent_again_whatever_is_proposed_applied_and_dismissed(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    """Three passes with a growing tail, a restart, a neighbour that dismisses, and a late decision."""
    async with rooms(broker, tmp_path / "one") as serving:
        here = await started(bus, "one", OWN)
        await here.report(DocumentSeen(ARCHITECTURE, "c1", TEXT))
        edits: list[AnyEdit] = [*await here.step(serving)]
        for project in (OWN, NEIGHBOUR):
            answer = await send(bus, Address(project), propose(), name=project, actor=Actor("room", "dreamer"))
            assert answer.ok, answer.text
        for turn in range(3):
            await here.says(f"go on {turn}")
            edits += await here.step(serving)
            assert edits == await served(here, serving)
        await done(bus, DocsApply(ARCHITECTURE, name(propose())), Address(OWN))
        await done(bus, DocsDismiss(ARCHITECTURE, name(propose())), Address(NEIGHBOUR))
    async with rooms(broker, tmp_path / "two") as serving:  # which know nothing but the log
        assert edits == await served(here, serving)
        await here.says("and on")
        edits += await here.step(serving)
        assert edits == await served(here, serving)
        assert [] == await rebases(bus, OWN, "one")
        assert not any(NEW.strip() in str(edit) for edit in edits)
        await here.report(DocumentSeen(ARCHITECTURE, "c2", TEXT.replace(OLD, NEW)))
        (after,) = heads(await flushed(bus, here, OWN, "one", serving))
        assert NEW.strip() in after
