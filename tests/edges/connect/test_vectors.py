from pathlib import Path

import pytest
from msgspec.structs import replace
from pydantic import SecretStr

from schemas.asks import Probed
from services.edges.connect.doctor import REMEDIES, judge_probe, judge_vectors
from services.edges.launcher.broker import Broker
from services.embedder.worker import Embedder
from services.kit.bus import Bus
from services.settings import Embed, Nats, Settings
from tests.helpers.broker_world import opened


@pytest.mark.parametrize("status", [*REMEDIES, "of another release"])
def test_a_model_that_does_not_answer_is_doubtful_with_a_remedy(status: str) -> None:
    finding = judge_probe(Probed(status, "it refused"))
    assert "WARN" == finding.level
    assert "it refused" in finding.finding
    assert finding.remedy


def test_a_model_that_answers_and_none_that_is_wanted_are_well() -> None:
    assert ["PASS", "PASS"] == [judge_probe(Probed("ok", dimensions=384)).level, judge_probe(Probed("off")).level]


def settings_of(broker: Broker, data: Path) -> Settings:
    endpoint = broker.endpoint_of("person")
    return Settings(data=data, nats=Nats(url=endpoint.url, user="person", password=SecretStr(endpoint.password)))


@pytest.mark.broker
@pytest.mark.own_broker
async def test_the_embedder_is_asked(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    settings = settings_of(broker, tmp_path)
    (silent,) = await judge_vectors(settings)
    async with opened(Embedder(), bus, settings):
        (works,) = await judge_vectors(settings)
    assert ["WARN", "PASS"] == [silent.level, works.level]
    assert "384" in works.finding


@pytest.mark.broker
@pytest.mark.own_broker
async def test_an_embedder_that_is_off_is_well(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    settings = settings_of(broker, tmp_path)
    async with opened(Embedder(), bus, replace(settings, embed=Embed(provider="off"))):
        (off,) = await judge_vectors(settings)
    assert "PASS" == off.level


async def test_without_a_broker_nothing_is_printed(tmp_path: Path) -> None:
    assert [] == await judge_vectors(Settings(data=tmp_path, nats=Nats(url="nats://127.0.0.1:9")))
