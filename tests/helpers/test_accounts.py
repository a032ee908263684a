from pathlib import Path

import psutil
import pytest

from schemas.streams import LOG
from services.edges.launcher.broker import Broker, free_port
from services.kit.bus import Appender, Bus
from services.kit.endpoint import read
from tests.helpers.accounts import MANY, Accounts
from tests.helpers.broker_world import connected, facts, titles, wrapped

pytestmark = pytest.mark.broker


async def test_tests_that_share_a_server_see_nothing_of_each_other(accounts: Accounts, bus: Bus) -> None:
    await Appender(bus).append(wrapped(titles(3)), {})
    other = await connected(await accounts.take())
    await other.ensure()
    assert [3, 0] == [len(await facts(one)) for one in (bus, other)]
    await other.close()


async def test_a_server_that_has_no_account_left_is_followed_by_another(tmp_path: Path) -> None:
    accounts = Accounts(tmp_path)
    urls = [(await accounts.take()).url for _ in range(MANY + 1)]
    accounts.close()
    assert [MANY, 1] == [urls.count(url) for url in dict.fromkeys(urls)]


async def test_the_last_account_of_a_server_is_good_until_another_server_is_used_up(tmp_path: Path) -> None:
    accounts = Accounts(tmp_path)
    taken = [await accounts.take() for _ in range(MANY + 1)]
    connected_last = await connected(taken[MANY - 1])
    await connected_last.ensure()
    await Appender(connected_last).append(wrapped(titles(2)), {})
    assert 2 == len(await facts(connected_last))
    await connected_last.close()
    for _ in range(MANY):
        await accounts.take()
    assert [False, True, True] == _are_running(tmp_path)
    accounts.close()
    assert [False, False, False] == _are_running(tmp_path)


def _are_running(data: Path) -> list[bool]:
    """Whether each server that was started here runs still, in the order of their starts."""
    known = [read(folder) for folder in sorted(data.iterdir())]
    return [server is not None and psutil.pid_exists(server.pid) for server in known]


async def test_a_server_whose_port_is_taken_meanwhile_is_followed_by_another(
    tmp_path: Path, nowhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = iter([int(nowhere.rpartition(":")[2]), free_port()])
    monkeypatch.setattr("tests.helpers.accounts.free_port", lambda: next(ports))
    monkeypatch.setattr("services.edges.launcher.broker._is_free", lambda _: True)  # as it was a moment ago
    accounts = Accounts(tmp_path)
    assert (await accounts.take()).url != nowhere
    accounts.close()


async def test_nobody_stops_what_others_use(broker: Broker) -> None:
    with pytest.raises(RuntimeError, match="own_broker"):
        broker.stop()


@pytest.mark.own_broker
async def test_a_test_with_a_server_of_its_own_stops_it(broker: Broker, bus: Bus) -> None:
    assert 0 == (await bus.js.stream_info(LOG.name)).state.messages
    broker.stop()
    assert broker.process is not None
    assert broker.process.poll() is not None
