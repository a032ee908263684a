"""The moments at which projects are looked at, over a real broker."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.commands import NoteWrite
from services.desk.worker import Desk
from services.dreamer.watch import AFTER_FAULT, SOON, Watch
from services.kit.bus import Bus
from tests.desk.test_books import send
from tests.helpers.broker_world import HARBOUR, kit_of, opened, quick_settings
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker


async def test_a_project_whose_look_fails_is_looked_at_again_later(bus: Bus) -> None:
    moment, failed = datetime.now(UTC), list[str]()

    async def fail(project: str) -> None:
        failed.append(project)
        raise ValueError("its files cannot be read")

    async with opened(Desk(), bus, quick_settings()), kit_of("dreamer", bus, quick_settings()) as kit:
        assert (await send(bus, NoteWrite("Ask Ada."), "n1")).ok
        watch = Watch(kit, fail, timedelta(0), now=lambda: moment)
        await watch.open()
        await until(lambda: failed)
        await until(lambda: len(watch) == 1)
        assert [HARBOUR.project] == failed
        assert SOON < AFTER_FAULT
