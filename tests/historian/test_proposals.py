"""What was found in a session reaches the desk, also one that cannot decide for a while."""

from datetime import UTC, datetime

import pytest

from schemas.codec import encode, wrap
from schemas.commands import Answer
from schemas.envelope import Actor
from schemas.events import FactExtracted
from services.historian.triggers import propose
from services.kit.bus import Bus, Unreachable
from tests.helpers.broker_world import HARBOUR, kit_of, quick_settings

pytestmark = pytest.mark.broker

FOUND = FactExtracted(fact="f1", run="r1", category="NAMING", text="Kestrels nest at the old quay.", evidence=[3])
ENVELOPE = wrap(FOUND, HARBOUR, id="e1", at=datetime.now(UTC), actor=Actor("room", "historian"), cause="c")


async def test_what_the_desk_could_not_decide_is_left_to_be_proposed_again(bus: Bus) -> None:
    answers = [Answer(ok=False, text="Nothing was written: the log is away.", again=True), Answer(ok=True, text="")]

    async def decided(_: str, __: bytes) -> bytes:
        return encode(answers.pop(0))

    await bus.serve("do.>", "desk", decided)
    async with kit_of("historian", bus, quick_settings()) as kit:
        with pytest.raises(Unreachable, match="the log is away"):
            await propose(kit, ENVELOPE, FOUND, {})
        await propose(kit, ENVELOPE, FOUND, {})
    assert [] == answers
