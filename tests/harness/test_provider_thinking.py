"""Signed thinking: bound to what it was thought behind for as long as its turn runs, and to its words for ever."""

from collections.abc import AsyncIterator
from copy import deepcopy

import pytest

from tests.harness.provider import Call, Provider, Reply, Rules
from tests.harness.provider.client import Client, connected
from tests.harness.provider.content import Json
from tests.harness.provider.thinking import KEY, sign


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with Provider() as server:
        yield server


@pytest.fixture
async def client(provider: Provider) -> AsyncIterator[Client]:
    """In the middle of its second turn: each turn has thought and called."""
    async with connected() as http:
        client = Client(http, provider.url, "anthropic", thinking=True)
        for turn in range(2):
            client.add_message(f"Turn {turn}: read the ledger.")
            provider.script.add(Reply(reasoning=f"Thought {turn}.", text="I read.", calls=(Call("read"),)))
            client.answers(dict.fromkeys((await client.asks()).calls, f"ships {turn}"))
            if turn == 0:
                provider.script.add(Reply(reasoning="Thought at the end.", text="Done."))
                await client.asks()
        yield client


async def refused(client: Client) -> str:
    """The words of the refusal, or nothing."""
    messages_before = deepcopy(client.messages)
    response = await client.asks()
    client.messages = messages_before
    return str(response.error["error"]["message"]) if response.error else ""


def without_thinking(message: Json) -> Json:
    return message | {"content": [block for block in message["content"] if block["type"] != "thinking"]}


async def test_thinking_is_taken_back_behind_what_it_was_thought_behind(client: Client) -> None:
    assert not await refused(client)


async def test_breakpoints_and_the_split_into_messages_do_not_matter_to_thinking(client: Client) -> None:
    client.messages[0]["content"][0]["cache_control"] = {"type": "ephemeral"}
    *words, call = client.messages[1]["content"]
    client.messages[1:2] = [{"role": "assistant", "content": words}, {"role": "assistant", "content": [call]}]
    assert not await refused(client)


async def test_thinking_of_earlier_turns_may_be_left_out_but_not_before_thinking_that_stays(client: Client) -> None:
    client.messages[1] = without_thinking(client.messages[1])
    assert "cannot be modified" in await refused(client)
    client.add_message("A new turn begins.")
    assert not await refused(client)


async def test_no_edit_goes_before_signed_thinking_of_the_running_turn(client: Client) -> None:
    client.messages[0]["content"][0]["text"] += " [dropped]"
    message = await refused(client)
    assert message.startswith("messages.5.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant")
    client.messages[0]["content"][0]["text"] = client.messages[0]["content"][0]["text"].removesuffix(" [dropped]")
    client.messages[6]["content"][0]["content"] = "[dropped]"
    assert not await refused(client)


async def test_some_providers_bind_thinking_to_nothing_but_its_words(client: Client, provider: Provider) -> None:
    provider.rules = Rules(binds_thinking=False)
    client.messages[0]["content"][0]["text"] = "Turn 0, rewritten."
    assert not await refused(client)
    client.messages[5]["content"][0]["thinking"] += " And more."
    assert "cannot be modified" in await refused(client)


async def test_an_edit_before_signed_thinking_is_legal_in_the_next_turn(client: Client) -> None:
    client.messages[0]["content"][0]["text"] = "Turn 0, rewritten."
    client.add_message("A new turn begins.")
    assert not await refused(client)


async def test_where_thinking_is_preserved_an_edit_before_it_is_never_legal(client: Client, provider: Provider) -> None:
    provider.rules = Rules(preserves_thinking=True)
    client.add_message("A new turn begins.")
    assert not await refused(client)
    client.messages[0]["content"][0]["text"] = "Turn 0, rewritten."
    assert "messages.1.content.0: Invalid `signature`" in await refused(client)
    client.messages = [without_thinking(one) if one["role"] == "assistant" else one for one in client.messages]
    assert not await refused(client)


async def test_the_words_of_thinking_stay_as_they_were_in_every_turn(client: Client) -> None:
    mine = deepcopy(client.messages)
    client.messages[5]["content"][0]["thinking"] += " And more."
    assert "messages.5.content.0: `thinking` or `redacted_thinking`" in await refused(client)
    client.messages = mine
    client.messages[1]["content"][0]["thinking"] += " And more."
    client.add_message("A new turn begins.")
    assert "messages.1.content.0: Invalid `signature` in `thinking` block" == await refused(client)


async def test_a_foreign_signature_is_refused(client: Client) -> None:
    for foreign in ("", "ZmFrZS1zaWc=", "no base64 at all", client.messages[5]["content"][0]["signature"]):
        client.messages[1]["content"][0]["signature"] = foreign
        client.add_message("A new turn begins.")
        assert "messages.1.content.0: Invalid `signature` in `thinking` block" == await refused(client)


async def test_a_signature_of_another_server_is_refused(client: Client) -> None:
    block = client.messages[5]["content"][0]
    own = block["signature"]
    assert own == sign(KEY, client.messages[:5], block["thinking"])
    block["signature"] = sign(b"another", client.messages[:5], block["thinking"])
    assert "messages.5.content.0: Invalid `signature` in `thinking` block" == await refused(client)


async def test_thinking_takes_no_breakpoint(client: Client) -> None:
    client.messages[1]["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted" == await refused(client)


async def test_an_answer_in_the_running_turn_begins_with_its_thinking(client: Client) -> None:
    thinking, *rest = client.messages[5]["content"]
    client.messages[5]["content"] = [*rest]
    assert "messages.5.content.0.type: Expected `thinking`" in await refused(client)
    client.messages[5]["content"] = [*rest[:1], thinking, *rest[1:]]
    assert "Expected `thinking` or `redacted_thinking`, but found `text`" in await refused(client)


async def test_a_model_that_has_to_think_does_so(provider: Provider) -> None:
    async with connected() as http:
        client = Client(http, provider.url, "anthropic", thinking=True)
        client.add_message("Read.")
        provider.script.add(Reply(calls=(Call("read"),)))
        response = await client.asks()
        assert response.reasoning
        client.answers(dict.fromkeys(response.calls, "ships"))
        assert 200 == (await client.asks()).status
