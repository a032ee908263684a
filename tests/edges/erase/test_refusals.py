"""What an erasure refuses before anything is changed, and what it leaves alone, it says in sentences."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.edges.erase.command import check_room
from services.edges.launcher.broker import RESERVE, Broker
from services.edges.launcher.leftover import end_leftover
from services.kit.bus import Appender, Unreachable
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.broker_world import connected, stored, titles, wrapped
from tests.helpers.erasing import erase

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "data"
    yield place
    end_leftover(place)


async def planted(data: Path) -> None:
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    try:
        bus = await connected(server)
        await bus.ensure()
        await Appender(bus).append(wrapped(titles(3)), {})
        await bus.close()
    finally:
        server.stop()


async def test_without_yes_it_says_what_yes_would_refuse(data: Path) -> None:
    await planted(data)
    dry_run = erase(data, "secret", word="2026-03-07")
    assert 0 == dry_run.returncode
    assert "With --yes it would be refused: the secret is a part of what facts are made of" in dry_run.stderr
    assert 1 == erase(data, "secret", "--yes", word="2026-03-07").returncode


async def test_a_broker_that_was_left_behind_is_ended_with_yes_alone(data: Path) -> None:
    await planted(data)
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    try:
        dry_run = erase(data, "session", "s1")
        assert server.process is not None
        assert (1, None) == (dry_run.returncode, server.process.poll())
        assert "end it with `annals down`" in dry_run.stderr
        gone = asyncio.to_thread(server.process.wait)  # else it would stay a zombie, which nobody can end
        done, _ = await asyncio.gather(asyncio.to_thread(erase, data, "session", "s1", "--yes"), gone)
        assert 0 == done.returncode, done.stdout + done.stderr
    finally:
        server.stop()


def test_a_disk_without_room_is_named_with_figures() -> None:
    check_room(1_000_000, 1_000_000 + RESERVE)
    with pytest.raises(Unreachable, match=r"needs 278 MB, and the disk has 100 MB; make room"):
        check_room(10_000_000, 100_000_000)


async def test_links_are_not_followed_and_the_receipt_names_them(data: Path, tmp_path: Path) -> None:
    await planted(data)
    beyond = tmp_path / "beyond.log"
    beyond.write_text("title 1 of somebody else\n")
    (data / "linked.log").symlink_to(beyond)
    (data / "folder").symlink_to(tmp_path / "elsewhere")
    done = erase(data, "secret", "--yes", word="title 1 o")
    assert 0 == done.returncode, done.stdout + done.stderr
    for name in ("linked.log", "folder"):
        assert f"{data / name}, a link: what it leads to was not looked at" in done.stdout
    assert beyond.read_text() == "title 1 of somebody else\n"


async def test_what_is_not_in_the_log_is_refused_in_a_sentence(data: Path) -> None:
    await planted(data)
    for kind in ("session", "memory", "project"):
        refused = erase(data, kind, "nobody", "--yes")
        assert (1, True) == (refused.returncode, f"the log has no {kind} 'nobody'" in refused.stderr)


async def test_a_team_s_broker_is_reached_by_its_address(data: Path, tmp_path: Path) -> None:
    """As in compose: a broker of its own on the same store, and nothing of the rooms' files."""
    await planted(data)
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD, is_alone=True)
    await server.start()
    try:
        endpoint = server.endpoint
        address = {"ANNALS_NATS__URL": endpoint.url, "ANNALS_NATS__USER": endpoint.user}
        done = erase(tmp_path / "empty", "session", "s1", "--yes", **address, ANNALS_NATS__PASSWORD=endpoint.password)
        assert 0 == done.returncode, done.stdout + done.stderr
        assert "files of the broker, and of rooms" in done.stdout
        bus = await connected(server, endpoint.user)
        log = await stored(bus, "LOG")
        assert b"erasure.ordered" in log[-1].data
        assert not any(b"title" in one.data for one in log)
        await bus.close()
    finally:
        server.stop()
