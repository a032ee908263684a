"""Orders that can come to nothing are refused: where nothing waits, and where there is no history."""

from collections.abc import AsyncIterator, Sequence
from itertools import count

import msgspec
import pytest

from schemas.codec import encode
from schemas.commands import Answer, Command, CommandMessage, FlushRequest, HistoryOrder, HistoryRebuild, HistoryRescore
from schemas.envelope import Actor
from schemas.events import (
    CompartmentSealed,
    DocumentCaptured,
    DropRequested,
    Event,
    FlushRequested,
    HistoryInherited,
    HistoryOrdered,
    MemoryWritten,
    PlanExtended,
    PlanRebased,
    ProfileEnabled,
    SessionForked,
    SettingsApplied,
    StepOpened,
    TagAssigned,
)
from schemas.subjects import Address
from services.desk.core.history import NO_HISTORY, NO_REBUILD
from services.desk.core.session import NOTHING_NEW, WAITS_ALREADY
from services.desk.worker import Desk
from services.domain.aliases import GLOBAL
from services.kit.bus import Appender, Bus
from tests.helpers.broker_world import HARBOUR, NOON, facts, opened, quick_settings, wrapped
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.broker

NAMES = count()
PROJECT = Address(HARBOUR.project)
SEALED = CompartmentSealed("c1", "r1", 0, 1, 2, "m1", "m2")


@pytest.fixture
async def desk(bus: Bus) -> AsyncIterator[Bus]:
    """A connection to an open desk, and a session that has made one call with three texts in it."""
    await record(bus, tagged(1, 3), StepOpened(step="a"), PlanExtended(1, "a", 2))
    settings = quick_settings()
    models = msgspec.structs.replace(settings.model, chain=("harness/small",))
    async with opened(Desk(), bus, msgspec.structs.replace(settings, model=models)):
        yield bus


async def record(bus: Bus, *events: Event, address: Address = HARBOUR) -> None:
    await Appender(bus).append(wrapped(events, address=address), {})


def tagged(first: int, last: int) -> TagAssigned:
    parts = [f"p{number}" for number in range(first, last + 1)]
    return TagAssigned(first=first, parts=parts, messages=["m1"] * len(parts), kinds=["message"] * len(parts))


async def sent(bus: Bus, command: Command) -> Answer:
    message = CommandMessage(f"w{next(NAMES)}", NOON, Actor("person"), msgspec.Raw(encode(command)))
    return msgspec.json.decode(await bus.request(HARBOUR.command(command.TYPE), encode(message), PATIENCE), type=Answer)


async def refused(bus: Bus, command: Command, sentence: str) -> None:
    before = await facts(bus)
    answer = await sent(bus, command)
    assert (False, sentence) == (answer.ok, answer.text)
    assert before == await facts(bus)


async def test_a_flush_where_nothing_is_waiting_is_refused_in_a_sentence(desk: Bus) -> None:
    await refused(desk, FlushRequest("now"), NOTHING_NEW)
    assert "nothing is waiting" in NOTHING_NEW


WAITING: Sequence[tuple[Address, Event]] = (
    (HARBOUR, DropRequested(tags=[2])),
    (HARBOUR, SEALED),
    (HARBOUR, DocumentCaptured(path="AGENTS.md", digest="d1", text="Speak plainly.")),
    (HARBOUR, SessionForked(origin="s0")),
    (HARBOUR, tagged(4, 24)),
    (HARBOUR, PlanRebased(2, "a", 3, ["model"], delays=["tag 2 is among the newest 20"])),
    (PROJECT, MemoryWritten(memory="m0123456789", category="PROJECT_RULES", text="Berths are numbered.")),
    (PROJECT, SettingsApplied()),
    (GLOBAL, ProfileEnabled(person="ada")),
)


@pytest.mark.parametrize(("address", "event"), WAITING, ids=lambda one: getattr(one, "TYPE", ""))
async def test_a_flush_is_granted_where_something_is_waiting(desk: Bus, address: Address, event: Event) -> None:
    await record(desk, event, address=address)
    assert (await sent(desk, FlushRequest("now"))).ok
    assert FlushRequested(reason="now") == (await facts(desk, HARBOUR))[-1]


async def test_what_the_newest_rebase_has_served_is_not_waiting_any_more(desk: Bus) -> None:
    await record(desk, DropRequested(tags=[2]), SEALED)
    head = len(await facts(desk))
    await record(desk, StepOpened(step="b"), PlanRebased(2, "b", head, ["flush"], dropped=[2]))
    await refused(desk, FlushRequest("now"), NOTHING_NEW)
    await record(desk, DropRequested(tags=[3]))
    assert (await sent(desk, FlushRequest("now"))).ok


async def test_a_second_flush_is_refused_until_the_first_one_had_its_call(desk: Bus) -> None:
    await record(desk, tagged(4, 24))
    assert (await sent(desk, FlushRequest("now"))).ok
    await refused(desk, FlushRequest("at once"), WAITS_ALREADY)
    await record(desk, StepOpened(step="b"))
    assert (await sent(desk, FlushRequest("now"))).ok


ABOUT_HISTORY = (HistoryRebuild(), HistoryRebuild("1-2"), HistoryRescore())


@pytest.mark.parametrize("command", ABOUT_HISTORY, ids=repr)
async def test_history_that_is_not_there_is_neither_made_nor_judged_anew(desk: Bus, command: Command) -> None:
    await refused(desk, command, NO_HISTORY)
    assert (await sent(desk, HistoryOrder())).ok


@pytest.mark.parametrize("event", [SEALED, SessionForked(origin="s0"), HistoryInherited(origin="s0", last=2)])
@pytest.mark.parametrize("command", ABOUT_HISTORY, ids=repr)
async def test_history_that_is_there_or_comes_with_a_copy_is(desk: Bus, command: Command, event: Event) -> None:
    await record(desk, event)
    assert (await sent(desk, command)).ok


async def test_a_rebuild_is_given_up_only_where_one_was_ordered(desk: Bus) -> None:
    await refused(desk, HistoryRebuild("stop"), NO_REBUILD)
    await record(desk, SEALED)
    assert (await sent(desk, HistoryRebuild())).ok
    assert (await sent(desk, HistoryRebuild("stop"))).ok
    await refused(desk, HistoryRebuild("stop"), NO_REBUILD)
    orders = [one.order for one in await facts(desk, HARBOUR) if isinstance(one, HistoryOrdered)]
    assert ["rebuild", "abandon"] == orders
