"""Sweeps over notes that wait, over a real broker: what comes of a look is in the log once, whatever process dies."""

import signal
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.commands import NoteDismiss, NoteUpdate, NoteWrite
from schemas.envelope import Actor
from schemas.events import (
    Event,
    NoteParked,
    NoteReadied,
    NoteTranslated,
    NoteWritten,
    ProjectIdentified,
    SessionIdled,
    ToolRan,
)
from schemas.subjects import Address
from services.desk.worker import Desk
from services.domain.envelopes import envelopes
from services.domain.guards import WRITTEN
from services.dreamer import sweeps, watch
from services.dreamer.core.state import NOUNS, Dreams, evolve
from services.dreamer.core.verdicts import SessionLook
from services.dreamer.public_web import PublicWeb
from services.dreamer.sweeps import Sweeps
from services.dreamer.worker import Dreamer
from services.edges.launcher.broker import Broker
from services.kit.aggregate import Aggregate
from services.kit.bus import Appender, Bus, Unreachable
from services.kit.cache import Sessions
from services.kit.nouns import NounReader
from services.kit.project_name import directory_name
from services.kit.room import Kit
from services.settings import Dream, Settings
from tests.desk.test_books import send
from tests.helpers.broker_world import HARBOUR, connected, facts, kit_of, opened, quick_settings
from tests.helpers.memory_sessions import asked, begun, notices, rooms
from tests.helpers.repositories import LONG_AGO, Checkout, Made
from tests.helpers.room_process import room
from tests.helpers.waiting import PATIENCE, until
from tests.helpers.web_server import HOST, OK, WebServer, redirect

pytestmark = pytest.mark.broker

PROJECT = Address(HARBOUR.project)
ROOM = Actor("room", "responder")
PASSED: dict[str, object] = {"kind": "passed", "command": "make test"}
MAP: dict[str, object] = {"kind": "file", "path": "docs/map.md"}
DUE: dict[str, object] = {"kind": "date", "at": "2026-01-01T09:00:00Z"}


@pytest.fixture
async def desk(bus: Bus) -> AsyncIterator[Bus]:
    async with opened(Desk(), bus, quick_settings()):
        yield bus


def settings(*hosts: str) -> Settings:
    return replace(quick_settings(), dream=Dream(quiet=0, hosts=hosts))


async def noted(bus: Bus, condition: dict[str, object], name: str = "n1", project: Address = PROJECT) -> str:
    """A note that waits; its id."""
    answer = await send(bus, NoteWrite("Ship it.", condition=condition), name, address=project)
    assert answer.ok, answer.text
    written = await facts(bus, Address(project.project))
    return [event.note for event in written if isinstance(event, NoteWritten)][-1]


async def news(bus: Bus, project: Address = PROJECT) -> list[Event]:
    return [event for event in await facts(bus, project) if isinstance(event, NoteReadied | NoteParked)]


async def recorded(bus: Bus, address: Address, *events: Event) -> None:
    """Facts that other rooms have written."""
    made = envelopes(events, address, {}, at=datetime.now(UTC), actor=ROOM, cause="")
    await Appender(bus).append(made, {})


def sweeping(kit: Kit, web: PublicWeb | None = None) -> Sweeps:
    """The sweeps of a dreamer without its clock: a sweep comes when the test says so."""
    sessions = Sessions(NounReader(kit.reader, NOUNS, catches_up=True), evolve, Dreams(), kit.settings.loop.sessions)
    dreams = Aggregate(kit, sessions, guard=WRITTEN, catches_up=True)

    async def remembers(_: str) -> bool:
        return True

    return Sweeps(kit, dreams.newest, web or PublicWeb(kit.settings.dream.hosts), remembers)


async def test_what_a_note_waited_for_reaches_the_sessions_of_the_project_at_their_next_message(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path) as serving:
        one, two = await begun(bus, "opencode", "one"), await begun(bus, "pi", "two")
        for session in (one, two):
            await session.step(serving)
        note = await noted(bus, PASSED, project=Address(PROJECT.project, "one"))
        await one.runs("make test")
        await one.step(serving)
        async with opened(Dreamer(), bus, settings()):
            await until(lambda: has_news(bus))
        for session in (one, two):
            await session.says("go on")
            (notice,) = notices(await session.step(serving))
            assert f"What the note {note} waited for has come." in notice
            await session.says("and on")
            assert [] == notices(await session.step(serving))
        (entry,) = (await asked(bus, "notes")).notes
        assert ("ready", True) == (entry.status, entry.reason.startswith("it passed at"))


async def has_news(bus: Bus) -> bool:
    return bool(await news(bus))


async def test_two_dreamers_write_it_once(broker: Broker, desk: Bus) -> None:
    other = await connected(broker)
    note = await noted(desk, DUE)
    async with opened(Dreamer(), desk, settings()), opened(Dreamer(), other, settings()):
        await until(lambda: has_news(desk))
    async with kit_of("dreamer", desk, settings()) as kit:
        assert None is await sweeping(kit).sweep(PROJECT.project)
    await other.close()
    assert [NoteReadied(note=note, reason="it is 2026-01-01T09:00:00+00:00")] == await news(desk)


async def test_a_note_that_is_written_while_the_dreamer_runs_is_looked_at(
    desk: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "SOON", timedelta(0))
    async with opened(dreamer := Dreamer(), desk, settings()):
        note = await noted(desk, {"kind": "date", "at": "2100-01-01T00:00:00Z"})
        await until(lambda: len(dreamer.sweeping))
        assert (await send(desk, NoteUpdate(note, condition=DUE), "u1")).ok
        await until(lambda: has_news(desk))
        await until(lambda: not len(dreamer.sweeping))
    assert 1 == len(await news(desk))


@pytest.mark.own_broker
@pytest.mark.parametrize("moment", ["before", "behind"])
async def test_a_dreamer_that_is_killed_loses_nothing_and_does_nothing_twice(
    desk: Bus, tmp_path: Path, moment: str
) -> None:
    note = await noted(desk, DUE)
    given = {"ANNALS_DREAM__QUIET": "0", "FALLS": moment}
    async with room("dreamer", tmp_path, module="tests.helpers.falling_sweeper", **given) as process:
        assert -signal.SIGKILL == await process.ends()
    assert (1 if moment == "behind" else 0) == len(await news(desk))
    async with kit_of("dreamer", desk, settings()) as kit:
        for _ in range(2):
            assert None is await sweeping(kit).sweep(PROJECT.project)
    (readied,) = await news(desk)
    assert NoteReadied(note=note, reason="it is 2026-01-01T09:00:00+00:00") == readied


async def test_files_of_a_project_are_looked_at_where_they_are(desk: Bus, tmp_path: Path) -> None:
    project = Address(directory_name(tmp_path))
    note = await noted(desk, MAP, project=project)
    async with kit_of("dreamer", desk, settings()) as kit:
        far = sweeping(kit)
        await far.sweep(project.project)
        assert [
            NoteParked(note=note, code="no_tree", reason="the files of the project are not where the dreamer runs")
        ] == (await news(desk, project))
        await recorded(desk, project, ProjectIdentified(directory=str(tmp_path), harness="pi"))
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "map.md").write_text("North")
        await sweeping(kit).sweep(project.project)
        assert 1 == len([one for one in await news(desk, project) if isinstance(one, NoteReadied)])


async def test_a_merge_without_a_second_branch_waits_for_the_default_one_and_the_note_names_it(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    made = Checkout(tmp_path / "shop")
    made.add(Made(1, "Begin", at=LONG_AGO), Made(2, "Build the quay", parents=(1,), at=LONG_AGO, branch="quay"))
    project = Address(f"git-{made.sha(1)}")
    async with rooms(broker, tmp_path), kit_of("dreamer", bus, settings()) as kit:
        await recorded(bus, project, ProjectIdentified(directory=str(made.folder), harness="pi"))
        note = await noted(bus, {"kind": "merged", "branch": "quay"}, project=project)
        made.git("update-ref", "refs/heads/master", made.sha(1))
        await sweeping(kit).sweep(project.project)
        (parked,) = await news(bus, project)
        assert isinstance(parked, NoteParked)
        assert ("no_branch", True) == (parked.code, "name it in the condition" in parked.reason)
        made.git("update-ref", "-d", "refs/heads/master")
        for _ in range(2):
            await sweeping(kit).sweep(project.project)
        (entry,) = (await asked(bus, "notes", project=project.project)).notes
        assert ("quay is merged into main", "active") == (entry.translation, entry.status)
        made.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/quay")
        made.moved("main", 2)
        await sweeping(kit).sweep(project.project)
        translated = [one for one in await facts(bus, project) if isinstance(one, NoteTranslated)]
        whole = '{"kind":"merged","branch":"quay","into":"main"}'
        assert [NoteTranslated(note=note, waits_for=whole)] == translated
        assert [NoteParked, NoteReadied] == [type(one) for one in await news(bus, project)]


async def test_a_dreamer_without_the_files_says_so_once_and_is_no_failure(desk: Bus) -> None:
    await noted(desk, MAP)
    await noted(desk, {"kind": "address", "url": f"https://{HOST}/"}, "n2")
    async with kit_of("dreamer", desk, settings()) as kit:
        for _ in range(3):
            due = await sweeping(kit).sweep(PROJECT.project)
            assert due is not None
            assert due > datetime.now(UTC)
    assert ["no_tree", "off"] == sorted(one.code for one in await news(desk) if isinstance(one, NoteParked))


async def test_a_command_counts_once_it_has_passed_behind_the_note(desk: Bus) -> None:
    ran = ToolRan(message="m", part="p", tool="bash", exit_code=0, target="make test")
    await recorded(desk, HARBOUR, ran)
    note = await noted(desk, PASSED)
    async with kit_of("dreamer", desk, settings()) as kit:
        await sweeping(kit).sweep(PROJECT.project)
        await recorded(desk, HARBOUR, replace(ran, exit_code=1, part="q"), SessionIdled())
        swept = sweeping(kit)
        await swept.sweep(PROJECT.project)
        assert [] == await news(desk)
        await recorded(desk, Address(PROJECT.project, "another"), replace(ran, part="r"))
        await sweeping(kit).sweep(PROJECT.project)
    assert [note] == [one.note for one in await news(desk) if isinstance(one, NoteReadied)]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (OK, ["readied"]),
        (b"HTTP/1.1 404 Not Found\r\n\r\n", []),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", ["denied"]),
        (redirect("http://169.254.169.254/"), ["barred"]),
    ],
)
async def test_an_address_is_looked_at_where_a_person_has_named_its_host(
    desk: Bus, answer: bytes, outcome: Sequence[str]
) -> None:
    await noted(desk, {"kind": "address", "url": f"http://{HOST}/"})
    async with WebServer({"/": answer}).running() as server, kit_of("dreamer", desk, settings()) as kit:
        for _ in range(2):
            await sweeping(kit, PublicWeb((HOST,), server.resolve, patience=PATIENCE)).sweep(PROJECT.project)
        assert len(server.requests) == (1 if outcome else 2)
    assert outcome == [one.code if isinstance(one, NoteParked) else "readied" for one in await news(desk)]


async def test_a_sweep_is_bounded_and_the_next_one_goes_on(desk: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(sweeps.MOST_LOOKS + 2):
        await noted(desk, PASSED, f"n{number}")
    looks: list[str] = []

    async def session_look(*_: object) -> tuple[SessionLook, int]:
        looks.append("look")
        return SessionLook(), 0

    monkeypatch.setattr(sweeps, "session_look", session_look)
    async with kit_of("dreamer", desk, settings()) as kit:
        swept = sweeping(kit)
        due = await swept.sweep(PROJECT.project)
        assert due is not None
        assert (sweeps.MOST_LOOKS, True) == (len(looks), due < datetime.now(UTC) + 2 * sweeps.AGAIN)
        later = await swept.sweep(PROJECT.project)
        assert later is not None
        assert (sweeps.MOST_LOOKS + 2, True) == (len(looks), later > datetime.now(UTC) + 2 * sweeps.AGAIN)
        await swept.sweep(PROJECT.project)
        assert sweeps.MOST_LOOKS + 2 == len(looks)


async def test_a_look_that_breaks_is_in_nobodys_way(desk: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = await noted(desk, PASSED)
    whole = await noted(desk, DUE, "n2")

    async def session_look(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(sweeps, "session_look", session_look)
    async with kit_of("dreamer", desk, settings()) as kit:
        due = await sweeping(kit).sweep(PROJECT.project)
    assert due is not None
    assert (broken != whole, [whole]) == (True, [one.note for one in await news(desk) if isinstance(one, NoteReadied)])


async def test_what_waits_for_nothing_is_not_looked_at(desk: Bus) -> None:
    assert (await send(desk, NoteWrite("Ask Ada.", condition="after the release"), "w1")).ok
    note = await noted(desk, DUE)
    assert (await send(desk, NoteDismiss(note), "d1")).ok
    async with kit_of("dreamer", desk, settings()) as kit:
        assert None is await sweeping(kit).sweep(PROJECT.project)
    assert [] == await news(desk)


async def test_what_no_desk_could_be_sent_is_sent_as_soon_as_there_is_one(broker: Broker, bus: Bus) -> None:
    other = await connected(broker)
    async with opened(Desk(), other, quick_settings()):
        await noted(bus, DUE)
    await other.close()
    async with kit_of("dreamer", bus, settings()) as kit:
        sweeper = sweeping(kit)
        with pytest.raises(Unreachable):
            await sweeper.sweep(PROJECT.project)
        async with opened(Desk(), bus, quick_settings()):
            await sweeper.sweep(PROJECT.project)
    assert [NoteReadied] == [type(one) for one in await news(bus)]
