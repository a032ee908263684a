"""Records of the log that nobody of ours has written: no room falls or refuses for them, and they are named."""

import io
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from schemas.codec import encode
from schemas.commands import MemoryWrite
from schemas.events import (
    DocumentCaptured,
    LimitLearned,
    MessageListed,
    MessageRecorded,
    PartRecorded,
    ProjectIdentified,
    StepOpened,
)
from schemas.search_asks import Hits, SearchAsk
from schemas.status_asks import Status, StatusAsk
from schemas.streams import LOG
from schemas.subjects import Address, ask
from schemas.view_asks import Rows, SqlAsk
from services.edges.connect import installation as doctor
from services.edges.connect.probe import look
from services.edges.launcher import status as overview
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Bus, LogReader
from services.kit.rooms import ROOMS
from services.settings import Embed, Settings
from tests.conftest import InstallationFactory
from tests.helpers.broker_world import HARBOUR
from tests.helpers.installation import answers, connect, settle, until
from tests.helpers.memory_sessions import PROJECT, Harness, begun, done, heads
from tests.helpers.poison import BREAKING, UNFOLDABLE, UNREADABLE, enveloped
from tests.helpers.waiting import PATIENCE

pytestmark = [pytest.mark.house, pytest.mark.broker]

RULE = "Dates of this harbour are always stored in UTC."
SESSION = Address(HARBOUR.project, "one")
EVERYWHERE = (SESSION, PROJECT, Address(""))
"""A session, its project, and what belongs to all of them."""


async def without_bodies(bus: Bus) -> None:
    """Leave facts whose long texts are in no bucket."""
    nowhere = 64 * "0"
    message = MessageRecorded(message="m", role="user")
    part = PartRecorded(message="m", part="p", kind="text", text_ref=nowhere, bytes=9_999_999, digest="d")
    ran = PartRecorded(message="m", part="q", kind="tool", tool="read", call="c", output_ref="*.>", input_ref=nowhere)
    document = DocumentCaptured(path="README.md", digest="d", bytes=9_999_999, text_ref=nowhere)
    for event, address in ((message, SESSION), (part, SESSION), (ran, SESSION), (document, PROJECT)):
        await bus.client.publish(address.log(event.TYPE), enveloped(event, address))


DEPUTIES = 4


async def deputies(bus: Bus) -> None:
    """Have others write into the log: the broker does, and the responder answers to inboxes alone."""
    for event, address in ((PartRecorded, SESSION), (StepOpened, SESSION), (ProjectIdentified, PROJECT),
                           (LimitLearned, Address(""))):  # fmt: skip
        await bus.client.publish(ask(StatusAsk.NAME), encode(StatusAsk()), reply=address.log(event.TYPE))
        await bus.client.publish(f"$JS.API.DIRECT.GET.{LOG.name}", b'{"seq":987654}', reply=address.log(event.TYPE))


async def status_of(bus: Bus) -> Status:
    return msgspec.json.decode(await bus.request(ask(StatusAsk.NAME), encode(StatusAsk()), PATIENCE), type=Status)


async def found(bus: Bus, query: str) -> list[str]:
    question = SearchAsk(HARBOUR.project, query, min_seq=await LogReader(bus).head())
    reply = await bus.request(ask(SearchAsk.NAME, HARBOUR.project), encode(question), PATIENCE)
    return [hit.fragment for hit in msgspec.json.decode(reply, type=Hits).hits]


async def rows(bus: Bus, sql: str) -> Sequence[Sequence[object]]:
    reply = await bus.request(ask(SqlAsk.NAME), encode(SqlAsk(sql)), PATIENCE)
    return msgspec.json.decode(reply, type=Rows).rows


async def assert_all_is_served(bus: Bus, session: Harness, words: str) -> None:
    """A plan, a memory that is written and shown, and a search that finds it."""
    await session.says(words)
    await session.step(())
    await done(bus, MemoryWrite(text=f"{RULE} {words}", category="PROJECT_RULES"), SESSION)
    await settle(bus)
    other = await begun(bus, "pi", f"other {words}")
    assert words in "".join(heads(await other.step(())))

    async def is_found() -> bool:
        return any(words in text for text in await found(bus, f"dates {words}"))

    await until(is_found, "search finds what was written")


async def fall(running: Installation) -> None:
    """Kill all rooms: what they hold in memory is read from the log again."""
    before = {room: status.pid for room, status in running.status.items()}
    for pid in before.values():
        os.kill(pid, signal.SIGKILL)

    async def all_began_anew() -> bool:
        return all(status.pid != before[room] for room, status in running.status.items())

    await until(all_began_anew, "each room has begun again")


async def test_after_every_kind_of_unreadable_record_all_is_served_and_they_are_named(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    async with installation(tmp_path, ROOMS, embed=Embed(provider="off")) as running:
        bus = await connect(running)
        session = await begun(bus, "opencode", SESSION.session)
        await session.step(())
        await settle(bus)
        count = (await status_of(bus)).skipped
        assert 0 == count
        poisons = [make(address) for address in EVERYWHERE for make in (*UNREADABLE.values(), *UNFOLDABLE.values())]
        for poison in (*poisons, *(make(SESSION) for make in BREAKING.values())):
            await bus.client.publish(poison.subject, poison.data, headers=dict(poison.headers or {}))
        await deputies(bus)
        await without_bodies(bus)
        await assert_all_is_served(bus, session, "first")
        restarts = sum(status.restarts for status in running.status.values())
        assert 0 == restarts

        await fall(running)
        await until(lambda: answers(bus), "the responder answers again")
        await assert_all_is_served(bus, session, "second")
        await settle(bus)
        status = await status_of(bus)
        assert len(poisons) + DEPUTIES == status.skipped
        assert (len(BREAKING), {MessageListed.TYPE}) == (status.unfolded, {one.type for one in status.newest_unfolded})
        assert not any("poisoned" in text for text in await found(bus, "a poisoned text"))
        assert ["0"] == [
            str(*row) for row in await rows(bus, "select count(*) from part_recorded where part = 'poison'")
        ]
        seen = await look(Settings(data=tmp_path))
        (finding,) = [one for one in doctor.judge(seen) if one.what == "log"]
        assert "WARN" == finding.level
        assert f"{status.newest_skipped[0].seq} on {status.newest_skipped[0].subject}" in finding.finding
        unused = [one.finding for one in doctor.judge(seen) if one.what == "facts"]
        assert any(f"{status.newest_unfolded[0].seq}, {MessageListed.TYPE}" in finding for finding in unused)
        printed = io.StringIO()
        overview.render(await overview.look(Settings(data=tmp_path)), Console(file=printed, width=300))
        assert f"{status.skipped} records of the log cannot be read" in printed.getvalue()
        assert f"skipped   {status.newest_skipped[0].seq} on " in printed.getvalue()
        assert f"unfolded  {status.newest_unfolded[0].seq}, {MessageListed.TYPE}" in printed.getvalue()
        assert dict.fromkeys(ROOMS, 1) == {room: one.restarts for room, one in running.status.items()}
        await bus.close()
