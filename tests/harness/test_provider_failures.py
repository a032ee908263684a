"""The scripted provider when it is slow, refuses or breaks: as a test wants it."""

import asyncio
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest

from services.tagger.core.overflow import read_overflow
from tests.harness.provider import (
    OVERFLOWS,
    Provider,
    Refusal,
    Reply,
    Script,
    overflow,
    overloaded,
    rate_limited,
    server_error,
)
from tests.harness.provider.client import Client, connected
from tests.harness.provider.content import Format

LONG = "The harbour master keeps a ledger of every ship, its cargo and its berth. " * 100


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with Provider() as server:
        yield server


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with connected() as session:
        yield session


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_waits_where_the_script_delays_it(
    provider: Provider, http: aiohttp.ClientSession, form: Format, *, stream: bool
) -> None:
    hold, pause = asyncio.Event(), asyncio.Event()
    provider.script.add(Reply(text="Slowly. " * 20, hold=hold, pause=pause), session="ses_1")
    slow, quick = (Client(http, provider.url, form, session=name, stream=stream) for name in ("ses_1", "ses_2"))
    slow.add_message("Take your time.")
    quick.add_message("Be quick.")
    waiting = asyncio.create_task(slow.asks())
    await provider.received(lambda request: request.session == "ses_1")
    assert (await quick.asks()).text
    assert not waiting.done()
    hold.set()
    assert (await quick.asks()).text
    assert not waiting.done()
    pause.set()
    assert "Slowly. " * 20 == (await waiting).text


async def test_the_first_words_arrive_before_a_pause_ends(
    provider: Provider, http: aiohttp.ClientSession, form: Format
) -> None:
    pause = asyncio.Event()
    provider.script.add(Reply(text="First words, and then no more for a while.", pause=pause))
    client = Client(http, provider.url, form)
    client.add_message("Speak.")
    path = "/v1/messages" if form == "anthropic" else "/v1/chat/completions"
    async with http.post(provider.url + path, json=client.body()) as response:
        data = b""
        while b"First words" not in data:
            data += await response.content.readany()
        assert b"for a while" not in data
        pause.set()
        assert b"for a while" in data + await response.content.read()


async def test_a_client_that_leaves_is_noticed(provider: Provider, http: aiohttp.ClientSession, form: Format) -> None:
    provider.script.add(Reply(text="Nobody hears this.", hold=asyncio.Event()))
    client = Client(http, provider.url, form)
    client.add_message("I may go.")
    asking = asyncio.create_task(client.asks())
    await provider.received(1)
    asking.cancel()
    await provider.lost(1)
    assert [1] == provider.abandoned


async def test_the_provider_closes_although_an_answer_is_delayed(http: aiohttp.ClientSession, form: Format) -> None:
    async with Provider(Script(Reply(hold=asyncio.Event()))) as provider:
        client = Client(http, provider.url, form)
        client.add_message("Are you there?")
        asking = asyncio.create_task(client.asks())
        await provider.received(1)
    with pytest.raises(aiohttp.ClientError):
        await asking


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_that_is_cut_ends_in_a_lost_connection(
    provider: Provider, http: aiohttp.ClientSession, form: Format, *, stream: bool
) -> None:
    provider.script.add(Reply(text="This will be cut off somewhere in the middle.", broken="cut"))
    client = Client(http, provider.url, form, stream=stream)
    client.add_message("Speak.")
    with pytest.raises(aiohttp.ClientPayloadError):
        await client.asks()
    assert (await client.asks()).text
    assert [] == provider.abandoned


@pytest.mark.parametrize("stream", [True, False])
async def test_garbage_is_nothing_that_a_client_could_read(
    provider: Provider, http: aiohttp.ClientSession, form: Format, *, stream: bool
) -> None:
    provider.script.add(Reply(broken="garbage"))
    body = Client(http, provider.url, form, stream=stream).body() | {"messages": [{"role": "user", "content": "Hm?"}]}
    path = "/v1/messages" if form == "anthropic" else "/v1/chat/completions"
    async with http.post(provider.url + path, json=body) as response:
        assert 200 == response.status
        data = await response.read()
    assert not data.startswith((b"{", b"data:", b"event:"))


@pytest.mark.parametrize("wording", OVERFLOWS)
async def test_every_wording_of_an_overflow_is_known_to_the_tagger(
    provider: Provider, http: aiohttp.ClientSession, wording: str
) -> None:
    form: Format = "anthropic" if wording == "anthropic" else "openai"
    provider.script.add(Reply(refusal=overflow(wording, used=210_000, limit=200_000)))
    client = Client(http, provider.url, form)
    client.add_message("Too much.")
    response = await client.asks()
    assert response.status in {400, 413}
    assert read_overflow(f"{response.status} {response.error['error']['message']}")


@pytest.mark.parametrize(
    ("refusal", "status", "kind"),
    [
        (rate_limited, {429}, {"requests", "rate_limit_error"}),
        (overloaded, {503, 529}, {"server_error", "overloaded_error"}),
        (server_error, {500}, {"server_error", "api_error"}),
    ],
)
async def test_other_refusals_are_no_overflow_and_do_not_fill_the_cache(
    provider: Provider,
    http: aiohttp.ClientSession,
    form: Format,
    refusal: Callable[[Format], Refusal],
    status: set[int],
    kind: set[str],
) -> None:
    provider.script.add(Reply(refusal=refusal(form)))
    client = Client(http, provider.url, form, system=LONG)
    client.add_message("Again.")
    response = await client.asks()
    assert response.status in status
    assert response.error["error"]["type"] in kind
    assert read_overflow(str(response.error)) is None
    assert (429 == response.status) == ("retry-after-ms" in response.headers)
    assert 0 == (await client.asks()).cached
    assert (await client.asks()).cached
