"""Losses of a disk: views are cut, the log is lost while rooms run, files next to the log are spoilt."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from services.edges.client.replay import ReplayOptions
from services.kit.bus import Bus
from services.responder.views.files import ASIDE
from services.responder.views.store import file_name
from tests.conftest import InstallationFactory
from tests.helpers.installation import (
    answers,
    connect,
    facts,
    log_and_views,
    play_all,
    rebuilt,
    recorded,
    recorded_twice,
    settle,
    until,
)

pytestmark = [pytest.mark.house, pytest.mark.broker]

AS_LONG_AS_IT_TAKES = ReplayOptions(paths=())


async def assert_the_views_are_those_of_the_log(bus: Bus, elsewhere: Path) -> None:
    log, shown = await log_and_views(bus)
    assert await rebuilt(log, elsewhere) == shown


async def test_views_that_were_cut_are_built_anew_and_the_next_session_has_its_plans(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    first, *_, last = recorded("openai")
    async with installation(tmp_path) as running:
        bus = await connect(running)
        await play_all(bus, [first], AS_LONG_AS_IT_TAKES)
        await settle(bus)
        before = await facts(bus)
        await bus.close()
    file = tmp_path / "views" / file_name()
    os.truncate(file, file.stat().st_size // 2)

    async with installation(tmp_path) as running:
        bus = await connect(running)
        await until(lambda: answers(bus), "the responder answers again")
        await assert_the_views_are_those_of_the_log(bus, tmp_path / "cut.duckdb")
        assert before == (await facts(bus))[: len(before)]
        (session,) = await play_all(bus, [last], AS_LONG_AS_IT_TAKES)
        assert "late" not in {step.status for step in session.steps}
        await assert_the_views_are_those_of_the_log(bus, tmp_path / "rebuilt.duckdb")
        await bus.close()
    assert file.with_name(file.name + ASIDE).exists()


@pytest.mark.soak
async def test_a_log_that_is_lost_while_rooms_run_is_noticed_and_nothing_of_it_goes_into_the_new_one(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    first, *_, last = recorded("openai")
    async with installation(tmp_path) as running:
        bus = await connect(running)
        await play_all(bus, [first], AS_LONG_AS_IT_TAKES)
        await settle(bus)
        lost = {envelope.session for envelope, _ in await facts(bus) if envelope.session}
        await bus.close()
        before = {room: status.pid for room, status in running.status.items()}
        assert running.broker is not None
        assert running.broker.process is not None
        os.kill(running.broker.process.pid, signal.SIGSTOP)  # or it writes while its files are taken away
        shutil.rmtree(tmp_path / "jetstream")
        os.kill(running.broker.process.pid, signal.SIGKILL)

        async def all_began_anew() -> bool:
            return all(status.pid != before[room] for room, status in running.status.items())

        await until(all_began_anew, "each room has ended, and begun again")
        bus = await connect(running)
        await until(lambda: answers(bus), "the responder answers again")
        (session,) = await play_all(bus, [last], AS_LONG_AS_IT_TAKES)
        assert "late" not in {step.status for step in session.steps}
        assert lost
        assert not lost & {envelope.session for envelope, _ in await facts(bus)}
        await assert_the_views_are_those_of_the_log(bus, tmp_path / "rebuilt.duckdb")
        await bus.close()


def without_an_index(data: Path) -> None:
    """The broker's index of the log is gone."""
    for path in [*(data / "jetstream").rglob("streams/LOG/msgs/index.db")]:
        path.unlink()


def with_a_spoilt_input(data: Path) -> None:
    """One bit of what harnesses sent is another one; all of it was read before."""
    path = max((data / "jetstream").rglob("streams/IN/msgs/*.blk"), key=lambda one: int(one.stem))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def with_cut_files(data: Path) -> None:
    """The files that processes of this machine share are cut."""
    for path in data.glob("*.json"):
        path.write_text(path.read_text()[:3])


@pytest.mark.soak
@pytest.mark.parametrize("spoil", [without_an_index, with_a_spoilt_input, with_cut_files])
async def test_spoilt_files_next_to_the_log_cost_nothing_of_the_log(
    installation: InstallationFactory, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    first, *_, last = recorded("openai")
    data = tmp_path / "data"
    async with installation(data) as running:
        bus = await connect(running)
        await play_all(bus, [first], AS_LONG_AS_IT_TAKES)
        await settle(bus)
        before = await facts(bus)
        await bus.close()
    spoil(data)

    async with installation(data) as running:
        bus = await connect(running)
        await settle(bus)
        assert before == (await facts(bus))[: len(before)]
        (session,) = await play_all(bus, [last], AS_LONG_AS_IT_TAKES)
        assert "late" not in {step.status for step in session.steps}
        assert [] == recorded_twice(await facts(bus))
        await assert_the_views_are_those_of_the_log(bus, tmp_path / "rebuilt.duckdb")
        await bus.close()
