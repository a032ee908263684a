"""What a model call costs: what the responder sends for it, and how often rooms decode its facts. No clock is read."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from services.desk.worker import Desk
from services.domain.record import Record, read_record
from services.edges.launcher.broker import Broker
from services.historian.worker import Historian
from services.kit import consumer, projector
from services.kit.bus import Bus, log
from services.kit.room import Room
from services.responder.worker import Responder
from services.tagger.worker import Tagger
from tests.helpers.broker_world import connected, facts, opened, quick_settings
from tests.helpers.memory_sessions import Harness
from tests.helpers.sent_requests import Sent
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

CALLS = 4


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a record of the log was decoded, by who reads it."""
    counts: Counter[str] = Counter()

    def counted(name: str) -> Callable[..., Record]:
        def decode(subject: str, data: bytes, seq: int, *, deep: bool = False) -> Record:
            counts[name] += 1
            return read_record(subject, data, seq, deep=deep)

        return decode

    for module in (consumer, projector, log):
        monkeypatch.setattr(module, "read_record", counted(module.__name__.rpartition(".")[2]))
    return counts


@asynccontextmanager
async def with_tagger(broker: Broker, room: Room, data: Path) -> AsyncIterator[tuple[Sent, list[Room]]]:
    """A room on a connection of its own, with a tagger: what it sends, and both."""
    tagger = Tagger()
    async with AsyncExitStack() as stack:
        theirs, ours = await connected(broker), await connected(broker)
        stack.push_async_callback(theirs.close)
        stack.push_async_callback(ours.close)
        await stack.enter_async_context(opened(tagger, theirs, quick_settings(data)))
        sent = Sent(ours)
        await stack.enter_async_context(opened(room, ours, quick_settings(data)))
        yield sent, [tagger, room]


async def test_a_call_is_one_write_and_one_answer_and_each_fact_is_decoded_once(
    bus: Bus, broker: Broker, tmp_path: Path, decoded: Counter[str]
) -> None:
    session = Harness(bus, "pi", "s")
    async with with_tagger(broker, Responder(), tmp_path) as (sent, serving):
        for number in range(CALLS):
            before = len(await facts(bus))
            sent.counts.clear()
            decoded.clear()
            await session.says(f"go on {number}")
            await session.step(serving)
            seen, counts = Counter(decoded), Counter(sent.counts)
            made = len(await facts(bus)) - before
            for timed in ("polled", "acknowledged"):  # whether it is idle, for more, and by how many it commits
                del counts[timed]
            if number:  # at the first it reads what the session was before
                assert {"fact": 1, "answered": 1} == counts
                assert seen["log"] <= 1, "the tagger reads where it was, and the responder nothing"
            await until(lambda: decoded["projector"] >= made)  # noqa: B023 - it is awaited here
            assert made == decoded["projector"]


@pytest.mark.parametrize(("room", "times"), [(Desk, 1), (Historian, 0)])
async def test_a_message_is_decoded_by_other_rooms_as_often_as_they_need_it(
    bus: Bus, broker: Broker, tmp_path: Path, decoded: Counter[str], room: type[Room], times: int
) -> None:
    session = Harness(bus, "pi", "s")
    async with with_tagger(broker, room(), tmp_path) as (_, rooms):
        for number in range(CALLS):
            before = len(await facts(bus))
            decoded.clear()
            await session.says(f"go on {number}")
            for one in rooms:
                await until(one.idle)
            seen = decoded.total()
            assert seen <= times * (len(await facts(bus)) - before)
