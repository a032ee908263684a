"""Desks that are killed as by a power cut: nothing is lost, doubled, or acknowledged and not written."""

import asyncio
import signal
from collections import Counter
from pathlib import Path

import pytest

from schemas.commands import MemorySplit
from schemas.events import MemoryDivided, MemoryJudged, MemoryWritten, MessageRecorded, PartRecorded, SessionOpened
from schemas.streams import LOG
from schemas.subjects import Address
from services.kit.bus import Appender, Bus
from tests.helpers.broker_world import HARBOUR, facts, wrapped
from tests.helpers.falling_desk import MOMENT
from tests.helpers.memory_writers import Grown, answered, check_ledger, digest, folded, repeated, words_of, written
from tests.helpers.room_process import room

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

PROJECT = Address(HARBOUR.project)
COUNT = 250
SOON = {"ANNALS_LOOP__ACK_WAIT": "1"}
"""What a killed desk had in hand is delivered again after so many seconds."""


@pytest.mark.slow
async def test_a_hundred_writers_at_two_desks_lose_and_double_nothing_when_one_is_killed(
    bus: Bus, tmp_path: Path
) -> None:
    """Whoever gets no answer sends the same command again, and it is one command."""
    grown = Grown(bus)
    async with room("desk", tmp_path) as first, room("desk", tmp_path) as other:
        for one in (first, other):
            await one.logs("open")
        growing = asyncio.create_task(grown.follow())

        def watch(done: int) -> None:
            if done == COUNT // 2:
                first.process.kill()

        answers = await written(bus, repeated(COUNT), wait=5.0, watch=watch)
        assert -signal.SIGKILL == await first.ends()
        growing.cancel()
    assert ({True}, []) == ({answer.ok for answer in answers}, other.plain)
    found = await check_ledger(bus, answers, words_of(COUNT))
    assert digest(found) == digest(await grown.book())


@pytest.mark.parametrize("moment", ["before", "between", "after"])
async def test_a_candidate_has_one_verdict_when_the_desk_is_killed_at_it(bus: Bus, tmp_path: Path, moment: str) -> None:
    """Killed before it is written, between the judgement and what it leads to, and before it is acknowledged."""
    opened = [SessionOpened(harness="pi", mode="primary"), MessageRecorded(message="m1", role="user")]
    rule = PartRecorded(message="m1", part="p1", kind="text", text="Remember: berths are numbered from the sea.")
    await Appender(bus).append(wrapped([*opened, rule]), {})
    falling = {MOMENT: moment} | SOON
    async with room("desk", tmp_path, module="tests.helpers.falling_desk", **falling) as process:
        assert -signal.SIGKILL == await process.ends()
    before = Counter(type(event) for event in await facts(bus, PROJECT))
    assert {"before": 0, "between": 1, "after": 2}[moment] == before.total()
    async with room("desk", tmp_path, "--until-idle", **SOON) as process:
        assert 0 == await process.ends()
    lag = await bus.lag(LOG.name, "desk")
    assert (0, 0) == lag
    assert {MemoryJudged: 1, MemoryWritten: 1} == Counter(type(event) for event in await facts(bus, PROJECT))
    found = await folded(bus)
    assert (1, 1, []) == (len(found.candidates), len(found.memories), [*found.unfinished])


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_split_is_there_once_and_as_a_whole_when_the_desk_is_killed_at_it(
    bus: Bus, tmp_path: Path, moment: str
) -> None:
    """Killed between its decision and the log, and between the log and the answer: then it is decided again."""
    text = "Tide tables use UTC in `tide.csv`. Crane logs use JSON in `crane.log`."
    written = MemoryWritten(memory="m0", category="ARCHITECTURE", text=text, trust="agent", origin="s1")
    await Appender(bus).append(wrapped([written], address=PROJECT), {})
    parts = tuple(f"{part}." for part in text.removesuffix(".").split(". "))
    falling = {MOMENT: moment, "FALLS_AT": MemoryDivided.TYPE} | SOON
    async with room("desk", tmp_path, module="tests.helpers.falling_desk", **falling) as process:
        await process.logs("open")
        sent = asyncio.create_task(answered(bus, MemorySplit("m0", parts), "split", 2.0))
        assert -signal.SIGKILL == await process.ends()
        sent.cancel()
    assert {"before": 0, "after": 1}[moment] == len(await divided(bus))
    async with room("desk", tmp_path, **SOON) as process:
        await process.logs("open")
        answer = await answered(bus, MemorySplit("m0", parts), "split", 5.0)
    assert answer.ok, answer.text
    (event,) = await divided(bus)
    found = await folded(bus)
    assert [*parts] == event.texts == [found.memories[name].text for name in event.parts]
    assert ("superseded", []) == (found.memories["m0"].status, [*found.unfinished])


async def divided(bus: Bus) -> list[MemoryDivided]:
    return [event for event in await facts(bus, PROJECT) if isinstance(event, MemoryDivided)]
