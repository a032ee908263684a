"""The embedder as a room: what it answers, and what it says where it has no vectors."""

from pathlib import Path

import msgspec
import pytest

from schemas.asks import EmbedAsk, Embedded, ProbeAsk, Probed
from schemas.codec import encode
from schemas.subjects import ask
from services.embedder.convert import FOLDER
from services.embedder.worker import Embedder
from services.kit.bus import Bus
from services.kit.embed import embedded
from services.settings import Embed, Settings
from tests.helpers.broker_world import opened
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.broker


async def test_texts_of_any_room_become_vectors(bus: Bus, tmp_path: Path) -> None:
    async with opened(Embedder(), bus, Settings(data=tmp_path)):
        texts = await embedded(bus, ["the harbour", "the quay"])
        query = await embedded(bus, ["the harbour"], "query")
        assert Embedded(FOLDER, 384, has_tokens=True) == await embedded(bus, [])
    assert (FOLDER, "", 2) == (texts.model, texts.error, len(texts.texts))
    assert [1536, 128] == [len(texts.texts[0].vector), len(texts.texts[0].tokens)]
    assert (texts.texts[0].vector, ("the", "harbour")) == (query.texts[0].vector, query.texts[0].pieces)


async def test_where_vectors_are_turned_off_it_says_so(bus: Bus, tmp_path: Path) -> None:
    async with opened(Embedder(), bus, Settings(data=tmp_path, embed=Embed(provider="off"))):
        found = await embedded(bus, ["a"])
        probed = msgspec.json.decode(await bus.request(ask(ProbeAsk.NAME), encode(ProbeAsk()), PATIENCE), type=Probed)
    assert ("", "off") == (found.model, probed.status)
    assert "turned off" in found.error


async def test_where_no_embedder_runs_the_asker_gets_an_error(bus: Bus) -> None:
    assert "nobody serves" in (await embedded(bus, ["a"])).error


@pytest.mark.parametrize("data", [b"\xff", b"[]", encode(EmbedAsk(("a",) * 99))])
async def test_what_is_no_question_is_refused_with_a_reason(bus: Bus, tmp_path: Path, data: bytes) -> None:
    async with opened(Embedder(), bus, Settings(data=tmp_path)):
        reply = msgspec.json.decode(await bus.request(ask(EmbedAsk.NAME), data, PATIENCE), type=Embedded)
    assert reply.error


async def test_the_largest_answer_fits_into_a_message(bus: Bus, tmp_path: Path) -> None:
    async with opened(Embedder(), bus, Settings(data=tmp_path)):
        found = await embedded(bus, ["word " * 500] * 32)
    assert ("", 32) == (found.error, len(found.texts))
