"""What people and harnesses ask the responder of a session, over a real broker."""

import sys
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TypeVar

import msgspec
import pytest

from schemas.ask import Ask
from schemas.asks import (
    ClientManifest,
    ClientManifestAsk,
    CompactionContext,
    CompactionContextAsk,
    SessionAsk,
    SessionReport,
)
from schemas.codec import encode
from schemas.events import HistoryFailed, HistoryRequested
from schemas.inbox import (
    AdapterSeen,
    Inbound,
    Listed,
    MessageSeen,
    PartSeen,
    Seen,
    SessionSeen,
    StepSeen,
    Todo,
    TodoSeen,
    UsageSeen,
)
from schemas.status_asks import LogBreak, Status, StatusAsk
from schemas.subjects import Address, ask
from schemas.view_asks import HistoryRuns, HistoryRunsAsk, LastAdapter, LastAdapterAsk
from services.domain.limits import Limits, MemoryLimits
from services.kit.bus import Appender, Bus
from services.kit.files import write_whole
from services.responder.answers.client_manifest import MANIFEST, client_manifest
from services.responder.views.files import BREAKS
from services.responder.worker import Responder
from services.tagger.worker import Tagger
from tests.helpers.broker_world import HARBOUR, NOON, opened, quick_settings, wrapped
from tests.helpers.cost import bare_seconds
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

R = TypeVar("R", ClientManifest, SessionReport, CompactionContext, Status, LastAdapter, HistoryRuns)


@pytest.fixture
async def rooms(bus: Bus, tmp_path: Path) -> AsyncIterator[tuple[Tagger, Responder]]:
    """A tagger and a responder in this process."""
    interval = sys.getswitchinterval()
    tagger, responder = Tagger(), Responder()
    async with opened(tagger, bus, quick_settings(tmp_path)), opened(responder, bus, quick_settings(tmp_path)):
        yield tagger, responder
    sys.setswitchinterval(interval)


async def see(bus: Bus, name: str, *items: Seen) -> None:
    await bus.publish(HARBOUR.inbound("pi"), encode(Inbound(name, NOON, items)), name)


async def answer(bus: Bus, question: Ask, kind: type[R]) -> R:
    subject = ask(question.NAME, HARBOUR.project)
    return msgspec.json.decode(await bus.request(subject, encode(question), PATIENCE), type=kind)


async def play(bus: Bus, rooms: tuple[Tagger, Responder]) -> None:
    """A session with one call."""
    await see(
        bus,
        "1",
        SessionSeen(title="Mend the pier", directory="/w"),
        MessageSeen("m1", "user", parts=(PartSeen("m1", "text", "p1", text="go"),)),
        StepSeen("t1", messages=(Listed("m1"),), count=1, provider="p", model="m", context_limit=2000),
        PartSeen("m2", "tool", "p2", tool="edit", call="c1", input='{"filePath":"/w/pier.py"}', status="completed"),
        TodoSeen((Todo("paint it"),)),
        UsageSeen("m2", 100, cache_read=300),
    )
    for room in rooms:
        await until(room.idle)


async def test_the_manifest_is_the_same_for_all(bus: Bus, rooms: tuple[Tagger, Responder]) -> None:
    assert rooms
    assert MANIFEST == await answer(bus, ClientManifestAsk(verbs=("command", "ask")), ClientManifest)
    assert MANIFEST == await answer(bus, ClientManifestAsk("harbour", "pi", ("command", "ask")), ClientManifest)
    older = client_manifest(Limits(), MemoryLimits(), ())
    assert encode(older) == await bus.request(ask(ClientManifestAsk.NAME), b"{}", PATIENCE)


async def test_a_session_is_reported_from_what_is_stored_and_from_what_comes(
    bus: Bus, rooms: tuple[Tagger, Responder]
) -> None:
    await play(bus, rooms)
    question = SessionAsk(HARBOUR.project, HARBOUR.session)
    first = await answer(bus, question, SessionReport)
    assert "Mend the pier (pi, primary)" in first.text
    assert "p/m, window 2,000 tokens" in first.text
    assert "400 tokens, 20 % of what is usable; 75 % from the cache" in first.text
    assert "  paint it" in first.text
    assert first.text.endswith("Log: read to its end")

    await see(bus, "2", SessionSeen(title="Paint the pier"), TodoSeen((Todo("paint it", "completed"),)))
    for room in rooms:
        await until(room.idle)
    second = await answer(bus, question, SessionReport)
    assert "Paint the pier" in second.text
    assert "0 open of 1" in second.text


async def test_the_status_says_how_near_a_session_is_to_a_rebase(bus: Bus, rooms: tuple[Tagger, Responder]) -> None:
    await play(bus, rooms)
    await answer(bus, SessionAsk(HARBOUR.project, HARBOUR.session), SessionReport)
    (near,) = (await answer(bus, StatusAsk(), Status)).sessions
    assert (HARBOUR.project, HARBOUR.session, "Mend the pier") == (near.project, near.session, near.title)
    assert (400, 20.0, 0.0) == (near.prompt, near.percent, near.spent)
    assert "the window has room, and going on is still cheaper" == near.reason


async def test_a_log_that_is_noticed_to_be_another_one_while_the_room_works_is_reported(
    bus: Bus, rooms: tuple[Tagger, Responder], tmp_path: Path
) -> None:
    assert rooms
    assert () == (await answer(bus, StatusAsk(), Status)).breaks
    noticed = LogBreak(datetime.now(UTC), known=9, agreed=3, head=4)
    write_whole(tmp_path / "views" / BREAKS, msgspec.json.encode([noticed]))
    assert (noticed,) == (await answer(bus, StatusAsk(), Status)).breaks


async def test_a_compaction_context_carries_on_what_is_open(bus: Bus, rooms: tuple[Tagger, Responder]) -> None:
    await play(bus, rooms)
    quick_settings = await answer(bus, CompactionContextAsk(HARBOUR.project, HARBOUR.session), CompactionContext)
    assert "" == quick_settings.error
    assert "- paint it" in quick_settings.text
    assert "- pier.py (changed)" in quick_settings.text


async def test_of_an_unknown_session_nothing_is_answered_but_why(bus: Bus, rooms: tuple[Tagger, Responder]) -> None:
    assert rooms
    why = "there is no session s9 in the project harbour: ask when it has made its first call"
    assert SessionReport(error=why) == await answer(bus, SessionAsk("harbour", "s9"), SessionReport)
    assert CompactionContext(error=why) == await answer(bus, CompactionContextAsk("harbour", "s9"), CompactionContext)


async def test_what_is_no_question_is_answered_with_what_would_be_right(
    bus: Bus, rooms: tuple[Tagger, Responder]
) -> None:
    assert rooms
    for name in (SessionAsk.NAME, CompactionContextAsk.NAME, ClientManifestAsk.NAME):
        reply = await bus.request(ask(name, "harbour"), b'{"project":7}', PATIENCE)
        assert "ask again with what it takes" in msgspec.json.decode(reply)["error"]


async def test_a_warm_answer_is_quick(bus: Bus, rooms: tuple[Tagger, Responder]) -> None:
    await play(bus, rooms)
    for question, kind in (
        (SessionAsk(HARBOUR.project, HARBOUR.session), SessionReport),
        (CompactionContextAsk(HARBOUR.project, HARBOUR.session), CompactionContext),
        (ClientManifestAsk(), ClientManifest),
    ):
        times = []
        for _ in range(21):
            began = time.process_time()
            await answer(bus, question, kind)
            times.append(time.process_time() - began)
        assert median(times[1:]) < bare_seconds()


async def test_the_adapter_that_connected_last_is_asked_for_by_its_harness(
    bus: Bus, rooms: tuple[Tagger, Responder]
) -> None:
    assert LastAdapter() == await answer(bus, LastAdapterAsk("pi"), LastAdapter)
    await see(bus, "1", AdapterSeen("annals", "1.0", digest="d1", harness_version="0.9"))
    await see(bus, "2", AdapterSeen("annals", "1.1", digest="d2", harness_version="0.9", rival="o'other"))
    for room in rooms:
        await until(room.idle)
    expected = LastAdapter(f"{NOON:%Y-%m-%d %H:%M}", "1.1", "0.9", "d2", "o'other")
    assert expected == await answer(bus, LastAdapterAsk("pi"), LastAdapter)
    assert LastAdapter() == await answer(bus, LastAdapterAsk("' or true --"), LastAdapter)


async def test_of_each_session_the_newest_run_is_reported_that_is_open_or_failed(
    bus: Bus, rooms: tuple[Tagger, Responder]
) -> None:
    assert rooms

    def requested(run: str) -> HistoryRequested:
        return HistoryRequested(run=run, reason="pressure", generation=1, first=1, last=9, tokens=700, percent=50.0)

    failed = HistoryFailed(run="a", code="refused", detail="no", retry_at=NOON)
    appender = Appender(bus)
    await appender.append(wrapped([requested("a"), failed]), {})
    await appender.append(wrapped([requested("b")], address=Address("harbour", "s2")), {})
    runs = (await answer(bus, HistoryRunsAsk(), HistoryRuns)).runs
    assert [("s2", "open", None, None), ("s1", "failed", "refused", "2026-03-07 12:00:00 UTC")] == [
        (run.session, run.status, run.code, run.retry_at) for run in runs
    ]
    assert (1, 9, 0, 700, "pressure") == tuple(
        getattr(runs[0], name) for name in ("first", "last", "through", "tokens_left", "reason")
    )
    assert 1 == len((await answer(bus, HistoryRunsAsk(limit=1), HistoryRuns)).runs)
    assert 1 == len((await answer(bus, HistoryRunsAsk(limit=-5), HistoryRuns)).runs)
