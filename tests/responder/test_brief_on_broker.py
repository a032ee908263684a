"""From the brief of a harness's own summary, over what its writer makes of it, back into the book; and taken back."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from schemas.asks import CompactionContext, CompactionContextAsk, MemoryEntry
from schemas.codec import encode
from schemas.commands import MemoryRestore, MemoryWrite, PolicySet
from schemas.events import MemoryJudged
from schemas.inbox import CompactionSeen, MessageSeen
from schemas.subjects import ask
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.kit.room import Room
from services.settings import MemoryLimits
from tests.helpers.broker_world import HARBOUR, NOON
from tests.helpers.compressed_sessions import text
from tests.helpers.memory_sessions import PATIENCE, Harness, asked, begun, done, rooms
from tests.helpers.memory_writers import judged
from tests.helpers.waiting import until
from tests.responder.test_memory_on_broker import OTHER, RULE

pytestmark = pytest.mark.broker

FOUND = "The service keeps its log in JetStream and rebuilds DuckDB from it."
CORRECTED = "The service keeps its log in NATS JetStream, and DuckDB is rebuilt from it."
CHOSEN = "Always gate schema changes behind a versioned migration."
_ID = re.compile(r"^Memory ref snapshot id: (\S+)$", re.MULTILINE)
_LISTED = re.compile(r"^\[M(\d+)\] (.+)$", re.MULTILINE)


async def brief(bus: Bus, session: str = "one") -> str:
    question = CompactionContextAsk(HARBOUR.project, session)
    reply = await bus.request(ask(question.NAME, HARBOUR.project), encode(question), PATIENCE)
    answer = msgspec.json.decode(reply, type=CompactionContext)
    assert "" == answer.error
    return answer.text


def named(given: str) -> tuple[str, dict[str, str]]:
    """The id of the list of memories in a brief, and its numbers by their texts."""
    found = _ID.search(given)
    return found[1] if found else "", {words: number for number, words in _LISTED.findall(given)}


async def summarised(session: Harness, serving: Sequence[Room], number: int, *lines: str) -> list[MemoryJudged]:
    """The harness summarises the session after a step, and its model ends the summary so; what becomes of the lines."""
    await session.says(f"Go on with {number}.")
    await session.step(serving)
    before = len(await judged(session.bus))
    name = f"sum{number}"
    words = "\n".join(("## Goal", "Build the harbour.", "", "## Memory candidates", *lines))
    part = replace(text(words), message=name, part=f"{name}.0")
    await session.report(MessageSeen(message=name, role="assistant", at=NOON, synthetic=True, parts=(part,)))
    await session.report(CompactionSeen(auto=True, summary=name))
    for room in serving:
        await until(room.idle)
    return (await judged(session.bus))[before:]


async def listed(bus: Bus) -> dict[str, MemoryEntry]:
    return {one.text: one for one in (await asked(bus, "list")).memories}


async def working(bus: Bus, serving: Sequence[Room]) -> Harness:
    """A session under way in a project where what summaries say holds at once."""
    await done(bus, PolicySet("summary", "applied"))
    session = await begun(bus, "opencode", "one")
    await session.step(serving)
    return session


async def test_what_a_summary_says_of_the_memories_in_its_brief_is_about_these(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path / "one") as serving:
        session = await working(bus, serving)
        empty = await brief(bus)
        assert ("", {}) == named(empty)
        assert "## Memory candidates" in empty
        made = await summarised(session, serving, 0, f"- [project] {FOUND}", f"- [decision] {CHOSEN}")
        assert ["accepted", "accepted"] == [one.verdict for one in made]
        await done(bus, MemoryWrite(text=RULE))
        shown, numbers = named(await brief(bus))
        assert {FOUND, CHOSEN, RULE} == numbers.keys()
    await done_behind(broker, bus, tmp_path, MemoryWrite(text=OTHER))

    async with rooms(broker, tmp_path / "two") as serving:  # which have shown nothing themselves
        made = await summarised(
            session,
            serving,
            1,
            f"Memory ref snapshot id: {shown}",
            f"REINFORCE [M{numbers[CHOSEN]}]",
            f"REPLACE [M{numbers[FOUND]}] [project] {CORRECTED}",
            f"REPLACE [M{numbers[RULE]}] [decision] Never run the tests before a commit, since they are slow.",
        )
        assert [
            ("absorbed", []),
            ("accepted", ["numbered_ref_replace", "same_type_replace"]),
            ("rejected", ["protected_memory_source"]),
        ] == [(one.verdict, one.reasons) for one in made]
        now = await listed(bus)
        assert (2, "superseded", "active", "active") == (
            now[CHOSEN].seen,
            now[FOUND].status,
            now[CORRECTED].status,
            now[RULE].status,
        )
        again = await summarised(session, serving, 2, f"Memory ref snapshot id: {shown}", "REINFORCE [M1]")
        assert [["compaction_snapshot_mismatch"]] == [one.reasons for one in again]

        await done(bus, MemoryRestore(now[FOUND].id, reason="it was right"))
        then = await listed(bus)
        assert ("active", "archived") == (then[FOUND].status, then[CORRECTED].status)


async def done_behind(broker: Broker, bus: Bus, data: Path, command: MemoryWrite) -> None:
    """The memory goes on while the summary is being written."""
    async with rooms(broker, data / "between"):
        await done(bus, command)


async def test_the_same_brief_is_given_again_after_a_restart_and_another_one_when_the_memory_has_changed(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path / "one") as serving:
        await done(bus, MemoryWrite(text=RULE))
        await working(bus, serving)
        first = await brief(bus)
    async with rooms(broker, tmp_path / "two") as serving:
        assert first == await brief(bus)
        await done(bus, MemoryWrite(text=OTHER))
        for room in serving:
            await until(room.idle)
        assert named(first)[0] != named(await brief(bus))[0]


async def test_where_memory_is_off_or_the_agent_is_not_its_own_no_memory_is_mentioned(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path / "on") as serving:
        await done(bus, MemoryWrite(text=RULE))
        session = await working(bus, serving)
        child = await begun(bus, "opencode", "child", "subagent")
        await child.step(serving)
        assert RULE not in await brief(bus, "child")
    async with rooms(broker, tmp_path / "off", MemoryLimits(enabled=False)) as serving:
        answer = await brief(bus)
        assert (False, False, True) == (RULE in answer, "Memory candidates" in answer, "## Goal" in answer)
        assert [] == await summarised(session, serving, 7, f"- [decision] {CHOSEN}")
