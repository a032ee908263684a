"""Where recorded sessions are played, and what is waited for between two calls."""

from collections.abc import Sequence

import pytest
from pydantic import SecretStr

from schemas.inbox import SessionSeen
from schemas.status_asks import StatusAsk
from schemas.subjects import Address
from services.edges.client import catching_up
from services.edges.client.catching_up import Behind, caught_up
from services.edges.client.replay import address_of, borrowed_installation, without_models
from services.edges.client.transcript import Transcript
from services.edges.launcher.broker import Broker
from services.kit.bus import BrokerError, Bus
from services.settings import Embed, Model, Nats, Settings


def of(directory: str, session: str = "s1") -> Transcript:
    return Transcript(harness="test", session=session, seen=SessionSeen(directory=directory), messages=())


def test_sessions_of_one_directory_share_a_project_and_no_others_do() -> None:
    harbour, again, barn = (
        address_of(of("/harbour")),
        address_of(of("/harbour", "s2")),
        address_of(of("/barn")),
    )
    assert harbour.project == again.project
    assert harbour.project != barn.project
    assert address_of(of("")) == Address("replay", "s1")


def test_another_run_remembers_nothing_of_an_earlier_one() -> None:
    first, second = address_of(of("/harbour"), "@1"), address_of(of("/harbour"), "@2")
    assert first.project != second.project
    assert first.session != second.session


@pytest.mark.broker
async def test_a_broker_that_is_away_for_a_moment_is_waited_for(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    newest, failures = bus.newest, [BrokerError("away"), BrokerError("away")]

    async def shaky(stream: str, filters: Sequence[str] = ()) -> int:
        if failures:
            raise failures.pop()
        return await newest(stream, filters)

    monkeypatch.setattr(bus, "newest", shaky)
    await caught_up(bus, "test", Address("harbour", "s1"))
    assert not failures


@pytest.mark.broker
@pytest.mark.parametrize("behind", ["tagger", "historian", "desk", "responder"])
async def test_a_room_that_makes_no_progress_is_named_with_the_place_of_its_log(
    bus: Bus, monkeypatch: pytest.MonkeyPatch, behind: str
) -> None:
    async def settled(_: str, room: str) -> int:
        return -1 if room == behind else 0

    monkeypatch.setattr(bus, "settled", settled)
    monkeypatch.setattr(catching_up, "PATIENCE", 0.0)
    with pytest.raises(Behind, match=r"in time; run it once more with `annals replay --log FILE`"):
        await caught_up(bus, "test", Address("harbour", "s1"))


def test_an_installation_of_its_own_asks_no_model_that_may_cost_something() -> None:
    paid = Embed(provider="remote", url="http://127.0.0.1:1/v1", model="paid")
    found = without_models(Settings(model=Model(chain=("openai/gpt-5",)), embed=paid))
    assert (Model(), Embed()) == (found.model, found.embed)
    local = Embed(provider="off")
    assert local == without_models(Settings(embed=local)).embed


@pytest.mark.broker
async def test_a_connection_is_closed_whatever_becomes_of_a_replay(broker: Broker, bus: Bus) -> None:
    async def answered(_subject: str, _question: bytes) -> bytes:
        return b"{}"

    await bus.serve(f"ask.{StatusAsk.NAME}.*", "responder", answered)
    endpoint = broker.endpoint
    nats = Nats(url=endpoint.url, user=endpoint.user, password=SecretStr(endpoint.password))
    with pytest.raises(ValueError, match="broken off"):
        async with borrowed_installation(Settings(nats=nats)) as borrowed:
            raise ValueError("broken off")
    assert not borrowed.connected
