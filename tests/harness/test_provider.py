"""The scripted provider over real HTTP: what it says, what it remembers, and how it fails on request."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.harness.provider import Call, Provider, Reply, Request, Rules, Script
from tests.harness.provider.client import Client, connected
from tests.harness.provider.content import Format


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with Provider() as server:
        yield server


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with connected() as session:
        yield session


@pytest.mark.parametrize("stream", [True, False])
async def test_a_reply_arrives_with_its_reasoning_its_text_and_its_parallel_calls(
    provider: Provider, http: aiohttp.ClientSession, form: Format, *, stream: bool
) -> None:
    given = {"path": "ships/ölkanne.md", "lines": [1, 2, {"to": 3.5}]}
    calls = (Call("read", given), Call("bash", {"command": "ls -la | head"}, id="call_mine"))
    provider.script.add(Reply(text="I look into both. ✓", reasoning="First the ledger.", calls=calls))
    client = Client(http, provider.url, form, stream=stream)
    client.add_message("What is in the harbour?")
    response = await client.asks()
    assert ("I look into both. ✓", "First the ledger.") == (response.text, response.reasoning)
    assert [("read", given), ("bash", {"command": "ls -la | head"})] == list(response.calls.values())
    assert "call_mine" == list(response.calls)[1]
    assert ("tool_calls" if form == "openai" else "tool_use") == response.finish
    assert provider.requests[0].usage.output == response.usage.get(
        "completion_tokens", response.usage.get("output_tokens")
    )

    client.answers(dict.fromkeys(response.calls, "three ships"))
    response = await client.asks()
    assert ("stop" if form == "openai" else "end_turn") == response.finish
    assert response.text
    assert {"call_mine": "three ships"}.items() <= provider.requests[1].outputs.items()
    assert [] == provider.faults
    assert 0 == provider.script.left()


async def test_openai_reports_usage_in_a_stream_only_where_it_is_asked_for(
    provider: Provider, http: aiohttp.ClientSession
) -> None:
    client = Client(http, provider.url, "openai")
    client.add_message("How much?")
    for wanted in (True, False):
        body = client.body() | {"stream_options": {"include_usage": wanted}}
        async with http.post(f"{provider.url}/v1/chat/completions", json=body) as response:
            assert wanted == (b'"usage"' in await response.read())


async def test_scripted_usage_replaces_what_was_counted(
    provider: Provider, http: aiohttp.ClientSession, form: Format
) -> None:
    provider.script.add(Reply(text="Full.", usage=(190_000, 4_000)))
    client = Client(http, provider.url, form)
    client.add_message("How full?")
    response = await client.asks()
    assert 4_000 == response.cached
    assert 190_000 == response.usage.get("prompt_tokens") or 186_000 == response.usage.get("input_tokens")
    assert (190_000, 4_000) == (provider.requests[0].usage.prompt, provider.requests[0].usage.cached)


async def test_sessions_lanes_and_kinds_have_their_own_replies(
    provider: Provider, http: aiohttp.ClientSession, form: Format
) -> None:
    provider.script.add(Reply(text="for one"), session="ses_1")
    provider.script.add(Reply(text="for anyone"))
    provider.script.add(Reply(text="for a child"), lane="child")
    provider.script.add(Reply(text="a summary"), lane="compaction")

    async def asked(session: str, parent: str = "", system: str = "You help.", *tools: str) -> str:
        client = Client(http, provider.url, form, session=session, parent=parent, system=system, tools=tools)
        client.add_message("Go on.")
        return (await client.asks()).text

    answers = await asyncio.gather(
        asked("ses_1", "", "You help.", "read"),
        asked("ses_2", "", "You help.", "read"),
        asked("ses_3", "ses_1", "You help.", "read"),
        asked("ses_1", "", "You are a title generator. You output only a title."),
        asked("ses_1", "", "You are a helpful assistant that sums up conversations."),
    )
    assert ["for one", "for anyone", "for a child", "Session title", "a summary"] == list(answers)
    assert ["main"] == [one.kind for one in provider.of("ses_1")]
    assert {"main", "title", "compaction"} == {one.kind for one in provider.of("ses_1", kind=None)}
    assert "ses_1" == provider.of("ses_3")[0].parent
    again = await asked("ses_1", "", "You are a helpful assistant that sums up conversations.")
    assert again.startswith("## Goal")


async def test_a_reply_can_be_made_of_what_was_sent(
    provider: Provider, http: aiohttp.ClientSession, form: Format
) -> None:
    def drop_it(request: Request) -> Reply:
        (output,) = request.outputs.values()
        return Reply(calls=(Call("bash", {"command": f"drop {output.split('§')[1]}"}),))

    provider.script.add(Reply(calls=(Call("read", {"path": "a"}),)), drop_it)
    client = Client(http, provider.url, form)
    client.add_message("Read it.")
    response = await client.asks()
    client.answers(dict.fromkeys(response.calls, "§7§ much text"))
    response = await client.asks()
    assert [("bash", {"command": "drop 7"})] == list(response.calls.values())


async def test_an_error_in_a_reply_reaches_the_test(http: aiohttp.ClientSession, form: Format) -> None:
    def fail(request: Request) -> Reply:
        raise ValueError(f"there is no tag in {request.texts}")

    provider = await Provider(Script(fail)).__aenter__()
    client = Client(http, provider.url, form)
    client.add_message("Hm.")
    assert 400 == (await client.asks()).status
    with pytest.raises(ValueError, match="there is no tag"):
        await provider.__aexit__(None, None, None)


async def test_a_request_against_the_rules_is_refused_unless_configured_otherwise(
    provider: Provider, http: aiohttp.ClientSession, form: Format
) -> None:
    client = Client(http, provider.url, form)
    client.add_message("Hello.")
    client.answers({"call_nobody_made": "output"})
    response = await client.asks()
    assert 400 == response.status
    assert "invalid_request_error" == response.error["error"]["type"]
    assert response.error["error"]["message"] == provider.requests[0].faults[0]
    assert [f"{provider.requests[0]}: {fault}" for fault in provider.requests[0].faults] == provider.faults
    async with Provider(strict=False) as lenient:
        client = Client(http, lenient.url, form)
        client.add_message("Hello.")
        client.answers({"call_nobody_made": "output"})
        assert 200 == (await client.asks()).status
        assert lenient.faults


async def test_a_provider_may_want_the_reasoning_of_calls_back(http: aiohttp.ClientSession) -> None:
    script = Script(Reply(calls=(Call("read"),), reasoning="Hm."))
    async with Provider(script, rules=Rules(requires_reasoning_on_tool_calls=True)) as provider:
        client = Client(http, provider.url, "openai")
        client.add_message("Read.")
        client.answers(dict.fromkeys((await client.asks()).calls, "read"))
        assert 200 == (await client.asks()).status
        del client.messages[1]["reasoning_content"]
        client.add_message("And?")
        assert "Missing `reasoning_content` field" in (await client.asks()).error["error"]["message"]


async def test_waiting_for_a_request_that_does_not_come_says_what_came(
    provider: Provider, http: aiohttp.ClientSession
) -> None:
    client = Client(http, provider.url, "openai")
    client.add_message("Hello.")
    await client.asks()
    with pytest.raises(TimeoutError, match=r"request 1 \(openai, main, ses_1\)"):
        await provider.received(2, timeout=0.05)
    assert 1 == (await provider.received(1)).number
