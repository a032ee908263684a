"""An accepted key file comes with a rebase that is made anyway, and what was sent is sent again byte for byte."""

from pathlib import Path
from uuid import uuid4

import pytest

from schemas.commands import KeyFileAccept, KeyFilePropose, KeyFileRemove
from schemas.envelope import Actor
from schemas.inbox import DocumentSeen
from schemas.plan import AnyEdit
from schemas.subjects import Address
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.kit.commands import send
from tests.helpers.memory_sessions import done, heads, notices, rooms
from tests.responder.test_project_settings_on_broker import (
    NEIGHBOUR,
    OWN,
    flushed,
    rebases,
    served,
    sets,
    started,
)

pytestmark = pytest.mark.broker

PATHS = ["src/core.py", "docs/map.md"]


async def proposes(bus: Bus, path: str, project: str = OWN) -> None:
    command, sender = KeyFilePropose(path, 5, 0, 5), Actor("room", "dreamer")
    answer = await send(bus, Address(project), command, name=str(uuid4()), actor=sender)
    assert answer.ok, answer.text


async def test_what_was_sent_is_sent_again_whatever_is_proposed_accepted_removed_and_changed_on_disk(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    """Three passes and more with a growing tail, two restarts, a neighbour that removes, and a late acceptance."""
    async with rooms(broker, tmp_path / "one") as serving:
        here = await started(bus, "one", OWN)
        edits: list[AnyEdit] = [*await here.step(serving)]
        (head,) = heads(tuple(edits))
        assert "src/core.py" not in head
        for path in PATHS:
            await proposes(bus, path)
            await proposes(bus, path, NEIGHBOUR)
        await done(bus, KeyFileAccept(PATHS), Address(NEIGHBOUR))
        for turn in range(3):
            await here.says(f"go on {turn}")
            edits += await here.step(serving)
            assert edits == await served(here, serving)
        await done(bus, KeyFileAccept(PATHS[:1]), Address(OWN))
        await done(bus, KeyFileRemove(PATHS), Address(NEIGHBOUR))
    async with rooms(broker, tmp_path / "two") as serving:  # which know nothing but the log
        assert edits == await served(here, serving)
        await here.report(DocumentSeen("src/core.py", "c2", "x = 2"))
        for turn in range(3):
            await here.says(f"and on {turn}")
            edits += await here.step(serving)
            assert edits == await served(here, serving)
        assert [] == await rebases(bus, OWN, "one")
        (after,) = heads(await flushed(bus, here, OWN, "one", serving))
        assert '<key_files>\n<file path="src/core.py">\nx = 2\n</file>\n</key_files>' in after
        assert [["flush", "settings"]] == await rebases(bus, OWN, "one")
        await done(bus, KeyFileAccept(PATHS[1:]), Address(OWN))
    async with rooms(broker, tmp_path / "three") as serving:
        before = await served(here, serving)
        assert [head, after] == heads(tuple(before))
        changed = DocumentSeen("src/core.py", "c3", "x = 3")
        await here.report(changed)
        await here.says("once more")
        more = await here.step(serving)
        assert [] == heads(more)
        assert any("src/core.py" in one for one in notices(more))
        assert [*before, *more] == await served(here, serving)
        assert [["flush", "settings"]] == await rebases(bus, OWN, "one")


async def test_an_accepted_file_gives_the_same_head_as_one_of_the_settings(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path) as serving:
        await proposes(bus, "src/core.py")
        await done(bus, KeyFileAccept(["src/core.py"]), Address(OWN))
        await sets(bus, NEIGHBOUR, plan__key_files=["src/core.py"])
        both = [heads(await (await started(bus, "one", project)).step(serving)) for project in (OWN, NEIGHBOUR)]
        assert both[0] == both[1]
        assert "x = 1" in both[0][0]
