"""The prompt cache of the scripted provider: it has what was sent before, and nothing else."""

from collections.abc import AsyncIterator
from itertools import pairwise

import aiohttp
import pytest

from tests.domain.test_attachments import png
from tests.harness.provider import Provider, Usage, prefix_break
from tests.harness.provider.cache import Cache, measure
from tests.harness.provider.client import Client, connected
from tests.harness.provider.content import Format, Json, encode
from tests.harness.provider.wire import receive

LONG = "The harbour master keeps a ledger of every ship, its cargo and its berth. " * 100


class Clock:
    """A clock that a test winds on."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def provider(clock: Clock) -> AsyncIterator[Provider]:
    async with Provider(clock=clock) as server:
        yield server


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with connected() as session:
        yield session


async def test_cached_tokens_grow_with_the_conversation_and_collapse_with_an_early_edit(
    provider: Provider, http: aiohttp.ClientSession, clock: Clock, form: Format
) -> None:
    client = Client(http, provider.url, form, system=LONG)
    cached = []
    for turn in range(4):
        client.add_message(f"Turn {turn}. {LONG}")
        cached.append((await client.asks()).cached)
    assert 0 == cached[0]
    assert all(before < after for before, after in pairwise(cached))
    whole = provider.requests[-1].usage
    assert whole.prompt > cached[3] > provider.requests[-2].usage.prompt - 130

    client.messages[0]["content"] = "Turn 0, in other words."
    if form == "anthropic":
        client.messages[0]["content"] = [{"type": "text", "text": "Turn 0, in other words."}]
    client.add_message("And now?")
    collapsed = (await client.asks()).cached
    assert 0 < collapsed < cached[1]

    client.add_message("And after tea?")
    clock.now += 301
    assert 0 == (await client.asks()).cached
    breaks = [prefix_break(before, after) for before, after in pairwise(provider.requests)]
    assert ["", "", "", ""] == [*breaks[:3], *breaks[4:]]
    assert breaks[3].startswith("message 0 of 7 changed: at byte ")
    assert "in other words" in breaks[3]


async def test_a_cache_entry_that_is_read_lives_on(
    provider: Provider, http: aiohttp.ClientSession, clock: Clock, form: Format
) -> None:
    client = Client(http, provider.url, form, system=LONG)
    for _ in range(4):
        clock.now += 200
        client.add_message("Still there?")
        response = await client.asks()
    assert response.cached > 1024


async def test_a_short_prompt_is_not_cached(provider: Provider, http: aiohttp.ClientSession, form: Format) -> None:
    client = Client(http, provider.url, form)
    for _ in range(3):
        client.add_message("Short.")
        assert 0 == (await client.asks()).cached


async def test_a_breakpoint_is_found_from_no_more_than_twenty_blocks_behind_it(
    provider: Provider, http: aiohttp.ClientSession
) -> None:
    async def cached_after(blocks: int) -> int:
        client = Client(http, provider.url, "anthropic", system="x", session=str(blocks))
        client.add_message(f"{blocks} {LONG}")
        await client.asks()
        filler = [{"type": "text", "text": f"block {n}"} for n in range(blocks)]
        client.messages[-1:] = [{"role": "user", "content": filler}, {"role": "assistant", "content": "So be it."}]
        client.messages[-1]["content"] = [{"type": "text", "text": "So be it."}]
        client.add_message("And?")
        return (await client.asks()).cached

    assert await cached_after(18) > 1024
    assert 0 == await cached_after(19)


class Prompts:
    """Prompts that reach a cache one after the other."""

    def __init__(self, clock: Clock) -> None:
        self._cache = Cache(clock)

    def send(self, form: Format, *messages: Json, **more: object) -> Usage:
        body = {"model": "one", "max_tokens": 1, "messages": list(messages), **more}
        prompt = measure(receive(1, 0, form, {}, encode(body)))
        found = self._cache.look(prompt)
        self._cache.keep(prompt)
        return found


def user(*texts: str) -> Json:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def marked(*texts: str, ttl: str = "5m") -> Json:
    message = user(*texts)
    message["content"][-1]["cache_control"] = {"type": "ephemeral", "ttl": ttl}
    return message


def test_models_share_no_cache(clock: Clock, form: Format) -> None:
    prompts = Prompts(clock)
    assert 0 == prompts.send(form, marked(LONG)).cached
    assert 0 == prompts.send(form, marked(LONG), model="other").cached
    assert prompts.send(form, marked(LONG)).cached


def test_where_breakpoints_stand_changes_neither_the_size_of_a_prompt_nor_what_it_says(clock: Clock) -> None:
    prompts = Prompts(clock)
    first = prompts.send("anthropic", marked(LONG))
    second = prompts.send("anthropic", user(LONG), marked(LONG))
    third = prompts.send("anthropic", user(LONG, LONG))
    assert (first.prompt, first.prompt) == (first.written, second.cached)
    assert (second.prompt, 0, 0) == (third.prompt, third.cached, third.written)


def test_messages_of_one_role_in_a_row_are_cached_as_one(clock: Clock) -> None:
    prompts = Prompts(clock)
    written = prompts.send("anthropic", user(LONG), marked("And more.")).written
    assert written == prompts.send("anthropic", marked(LONG, "And more.")).cached
    assert 0 == prompts.send("anthropic", {"role": "assistant", "content": LONG}, marked("And more.")).cached


def test_only_what_ends_at_a_breakpoint_is_cached(clock: Clock) -> None:
    prompts = Prompts(clock)
    prompts.send("anthropic", marked(LONG), user("And more."))
    found = prompts.send("anthropic", user(LONG), marked("And more."))
    assert 0 < found.cached < found.prompt == found.cached + found.written
    assert 0 == prompts.send("anthropic", user(LONG), user("And more.")).cached


def test_an_entry_that_is_read_from_behind_it_lives_on(clock: Clock) -> None:
    prompts = Prompts(clock)
    prompts.send("anthropic", marked(LONG))
    for turn in range(4):
        clock.now += 200
        assert prompts.send("anthropic", user(LONG), marked(f"Turn {turn}")).cached


def test_an_entry_may_be_cached_for_an_hour(clock: Clock) -> None:
    prompts = Prompts(clock)
    prompts.send("anthropic", marked(LONG, ttl="1h"))
    for turn in range(3):
        clock.now += 3599
        assert prompts.send("anthropic", user(LONG), marked(f"Turn {turn}")).cached
    clock.now += 3601
    assert 0 == prompts.send("anthropic", user(LONG), marked("Still there?")).cached


def shown(url: str) -> dict[Format, Json]:
    """A picture as each of them is sent it."""
    data = url.partition(",")[2]
    inner = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    return {
        "openai": {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]},
        "anthropic": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [inner]}]},
    }


def test_a_picture_counts_by_its_pixels_and_another_one_is_not_cached(form: Format) -> None:
    asked = [
        receive(1, 0.0, form, {}, encode({"model": "m", "messages": [message[form]]}))
        for message in (shown(png(1500, 1000)), shown(png(1500, 1001)))
    ]
    one, other = map(measure, asked)
    assert 2000 <= one.tokens < 2100
    assert asked[0].pictures != asked[1].pictures
    assert len(asked[0].raw) > 1_000_000
    assert not {mark.digest for mark in one.writable if mark.tokens > 100} & {mark.digest for mark in other.writable}
