"""A remote model: what is sent, in which order vectors are taken, and how its failures are reported."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import numpy as np
import pytest
from aiohttp import web
from pydantic import SecretStr

from schemas.asks import EmbedAsk, EmbeddedText
from services.embedder.remote import identity_of
from services.embedder.sources import Remote, Unavailable
from services.settings import Embed
from tests.helpers.embedding_server import EmbeddingServer, plain


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer.running() as running:
        yield running


@pytest.fixture
async def remote(server: EmbeddingServer) -> AsyncIterator[Remote]:
    source = Remote(settings(server))
    yield source
    await source.close()


def settings(server: EmbeddingServer, **changes: object) -> Embed:
    return Embed(**({"provider": "remote", "url": server.url, "model": "small", "key": SecretStr("k")} | changes))  # type: ignore[arg-type]


def numbers(text: EmbeddedText) -> list[float]:
    return [round(float(number), 3) for number in np.frombuffer(text.vector, "<f4")]


async def test_vectors_are_taken_by_their_places_and_made_as_long_as_one(server: EmbeddingServer) -> None:
    server.reply = lambda texts: web.json_response(
        {"data": [{"index": place, "embedding": [float(place), 1.0]} for place in reversed(range(len(texts)))]}
    )
    source = Remote(settings(server))
    found = await source.embed(EmbedAsk(("a", "b")))
    await source.close()
    assert [[0.0, 1.0], [0.707, 0.707]] == [numbers(text) for text in found]
    assert (["Bearer k"], [{"model": "small", "input": ["a", "b"]}]) == (server.keys, server.asked)
    assert 2 == source.dimensions


async def test_kinds_of_texts_and_their_length_are_sent_as_set(server: EmbeddingServer) -> None:
    source = Remote(settings(server, text_type="passage", query_type="query", dimensions=2, max_tokens=100))
    await source.embed(EmbedAsk(("x" * 5000,)))
    await source.embed(EmbedAsk(("y",), "query"))
    await source.close()
    assert ["passage", "query"] == [body["input_type"] for body in server.asked]
    assert ([270], 2) == ([len(text) for text in server.asked[0]["input"]], server.asked[0]["dimensions"])


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (lambda _: web.Response(status=401, text="who?"), "auth_failed"),
        (lambda _: web.Response(status=404), "endpoint_unsupported"),
        (lambda _: web.Response(status=500, text="x" * 1000), "http_error"),
        (lambda _: web.Response(text="<html>"), "endpoint_unsupported"),
        (lambda _: web.json_response({"data": []}), "http_error"),
        (lambda _: web.json_response({"data": [{"index": 1, "embedding": [1.0]}]}), "http_error"),
        (lambda _: web.json_response({"data": [{"index": 0, "embedding": [0.0]}]}), "http_error"),
        (lambda _: web.Response(status=302, headers={"Location": "http://169.254.169.254/"}), "http_error"),
    ],
)
async def test_what_is_no_answer_is_reported(server: EmbeddingServer, remote: Remote, reply, status: str) -> None:  # noqa: ANN001
    server.reply = reply
    probed = await remote.probe()
    assert status == probed.status
    assert len(probed.reason) < 400
    with pytest.raises(Unavailable):
        await remote.embed(EmbedAsk(("a",)))


async def test_a_model_that_answers_passes_the_probe(remote: Remote) -> None:
    probed = await remote.probe()
    assert ("ok", 2) == (probed.status, probed.dimensions)


async def test_a_place_that_is_not_asked_is_reported(server: EmbeddingServer) -> None:
    source = Remote(settings(server, url="http://169.254.169.254/v1"))
    assert "invalid_scheme" == (await source.probe()).status
    with pytest.raises(Unavailable, match="no model is asked there"):
        await source.embed(EmbedAsk(("a",)))


@pytest.mark.parametrize(
    "host",
    ["2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "0xa9.254.0xa9.254", "169.254.43518",
     "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "0"],
)  # fmt: skip
async def test_an_address_of_a_cloud_is_refused_however_it_is_written(server: EmbeddingServer, host: str) -> None:
    source = Remote(settings(server, url=f"http://{host}/v1"))
    with pytest.raises(Unavailable, match="no model is asked there"):
        await source.embed(EmbedAsk(("a",)))


class Odd:
    """An answer that is written piece by piece, for as long as anybody reads it."""

    def __init__(self, piece: bytes, pause: float = 0.0, **headers: str) -> None:
        self.piece, self.pause, self.headers = piece, pause, headers

    async def written(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "application/json", **self.headers})
        await answer.prepare(request)
        while True:
            await answer.write(self.piece)
            await asyncio.sleep(self.pause)


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        (Odd(b" ", 0.02), "no answer within"),
        (Odd(b" " * 65_536), "more than"),
        (Odd(gzip.compress(b"0" * 10_000_000), **{"Content-Encoding": "gzip"}), "packed"),
    ],
)
async def test_an_answer_that_does_not_end_is_read_within_bounds(odd: Odd, why: str) -> None:
    async with EmbeddingServer.running(odd.written) as server:
        source = Remote(settings(server, timeout=1.0 if odd.pause else 60.0))
        with pytest.raises(Unavailable, match=why):
            await source.embed(EmbedAsk(("a",)))
        await source.close()


@pytest.mark.parametrize(
    "text", ["[" * 60_000, '{"data":' * 8_000, '{"x":' * 8_000 + "1" + "}" * 8_000, "\ud800", "1e999"]
)
async def test_an_answer_that_is_deep_or_broken_is_reported(server: EmbeddingServer, remote: Remote, text: str) -> None:
    server.reply = lambda _: web.Response(body=text.encode(errors="surrogatepass"))
    with pytest.raises(Unavailable, match="no vectors"):
        await remote.embed(EmbedAsk(("a",)))


async def test_vectors_as_long_as_any_model_has_them_are_taken(server: EmbeddingServer, remote: Remote) -> None:
    vector = [0.12345678901234567] * 8192
    server.reply = lambda texts: web.json_response(
        {"data": [{"index": place, "embedding": vector} for place in range(len(texts))]}
    )
    assert 8192 * 4 == len((await remote.embed(EmbedAsk(("a", "b"))))[1].vector)


async def test_nobody_there_is_reported(server: EmbeddingServer) -> None:
    source = Remote(settings(server, url="http://127.0.0.1:9/v1"))
    assert "network_error" == (await source.probe()).status


async def test_three_failures_give_it_a_rest_and_one_success_ends_that(server: EmbeddingServer) -> None:
    now = [0.0]
    source = Remote(settings(server), clock=lambda: now[0])
    server.reply = lambda _: web.Response(status=500)
    for _ in range(5):
        with pytest.raises(Unavailable):
            await source.embed(EmbedAsk(("a",)))
    assert 3 == len(server.asked)
    server.reply, now[0] = plain, 300.0
    assert 1 == len(await source.embed(EmbedAsk(("a",))))
    await source.close()


async def test_another_model_in_its_place_is_noticed(server: EmbeddingServer, remote: Remote) -> None:
    await remote.embed(EmbedAsk(("a",)))
    server.reply = lambda _: web.json_response({"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0]}]})
    with pytest.raises(Unavailable, match="3 dimensions"):
        await remote.embed(EmbedAsk(("a",)))


def test_the_name_of_a_model_shows_whether_there_is_a_key_and_not_which() -> None:
    one = Embed(provider="remote", url="http://a/v1", model="m", key=SecretStr("x"))
    other = Embed(provider="remote", url="http://a/v1", model="m", key=SecretStr("y"))
    none = Embed(provider="remote", url="http://a/v1", model="m")
    assert identity_of(one) == identity_of(other) != identity_of(none)
