"""How often the tagger appends what it has decided, while other rooms write to the session, too. No clock."""

import pytest

from schemas.events import DropRequested
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus
from services.tagger.worker import Tagger
from tests.helpers.broker_world import HARBOUR, connected, facts, opened, quick_settings, wrapped
from tests.helpers.memory_sessions import Harness
from tests.helpers.sent_requests import Sent
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker


async def test_facts_of_other_rooms_do_not_have_a_message_appended_twice(bus: Bus, broker: Broker) -> None:
    """After each plan, drop and part of history a session has such a fact. A refused append breaks a whole batch."""
    session, others = Harness(bus, "pi", HARBOUR.session), Appender(bus)
    theirs = await connected(broker)
    room, sent = Tagger(), Sent(theirs)
    async with opened(room, theirs, quick_settings()):
        for number in range(4):
            await others.append(wrapped([DropRequested(tags=[number])]), {})
            before = len(await facts(bus))
            sent.counts.clear()
            await session.says(f"go on {number}")
            await until(room.idle)
            written = len(await facts(bus)) - before
            assert written
            assert written == sent.counts["fact"] + sent.counts["in a batch"] + sent.counts["batch"], sent.counts
    await theirs.close()
