"""Metadata of providers on thoughts, texts and calls, in the shapes that OpenCode stores."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from schemas.plan import AnyEdit, OmitPart, PrefixText, ReplaceOutput, ReplaceText
from services.edges.client.readers.opencode import _signed
from tests.adapter.conftest import Adapter

Metadata = Mapping[str, Mapping[str, Any]]


def details(*listed: Mapping[str, object]) -> Metadata:
    return {"openrouter": {"reasoning_details": list(listed)}}


CLAUDE = details({"type": "reasoning.text", "text": "hm", "format": "anthropic-claude-v1", "signature": "c2ln"})
SEALED = {"type": "reasoning.encrypted", "data": "c2VhbA=="}

SIGNED: dict[str, Metadata] = {
    "Anthropic": {"anthropic": {"signature": "c2ln"}},
    "Anthropic, redacted": {"anthropic": {"redactedData": "c2VhbA=="}},
    "Bedrock": {"bedrock": {"signature": "c2ln"}},
    "Bedrock, redacted": {"bedrock": {"redactedData": "c2VhbA=="}},
    "Bedrock, redacted since": {"bedrock": {"redactedContent": "c2VhbA=="}},
    "GitLab": {"gitlab": {"signature": "c2ln"}},
    "OpenRouter with Claude": CLAUDE,
    "OpenRouter with Claude, redacted": details({**SEALED, "format": "anthropic-claude-v1"}),
    "OpenRouter, which takes what is not named for Claude": details({**SEALED, "format": None}),
}
SEALS: dict[str, Metadata] = {
    "Gemini": {"google": {"thoughtSignature": "c2ln"}},
    "Vertex": {"googleVertex": {"thoughtSignature": "c2ln"}},
    "OpenAI": {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "c2VhbA=="}},
    "OpenAI, without encryption": {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": None}},
    "Azure": {"azure": {"itemId": "rs_1", "reasoningEncryptedContent": "c2VhbA=="}},
    "xAI": {"xai": {"itemId": "rs_1", "reasoningEncryptedContent": "c2VhbA=="}},
    "Copilot": {"copilot": {"reasoningOpaque": "c2VhbA=="}},
    "Copilot with Responses": {"copilot": {"itemId": "rs_1", "reasoningEncryptedContent": "c2VhbA=="}},
    "OpenRouter with Gemini": details({**SEALED, "format": "google-gemini-v1"}),
    "OpenRouter with GPT": details({**SEALED, "format": "openai-responses-v1"}),
    "OpenRouter with Grok": details({**SEALED, "format": "xai-responses-v1"}),
    "OpenRouter, a summary": details({"type": "reasoning.summary", "summary": "hm"}),
    "an unfinished thought": {"anthropic": {"signature": ""}},
    "none": {},
}


@pytest.mark.parametrize("metadata", SIGNED.values(), ids=SIGNED)
def test_claude_s_thoughts_are_bound_to_their_place(adapter: Adapter, metadata: Metadata) -> None:
    assert adapter("isSigned", metadata)
    assert _signed(dict(metadata))


@pytest.mark.parametrize("metadata", SEALS.values(), ids=SEALS)
def test_a_seal_of_others_is_no_signature(adapter: Adapter, metadata: Metadata) -> None:
    assert not adapter("isSigned", metadata)
    assert not _signed(dict(metadata))


@pytest.mark.parametrize(
    "metadata", [None, {"providerExecuted": True}, {"anthropic": None}, {"openrouter": []}, CLAUDE]
)
def test_a_signature_is_reported_with_its_thought(adapter: Adapter, metadata: Metadata | None) -> None:
    part = {**THOUGHT, **({} if metadata is None else {"metadata": metadata})}
    reported = adapter("entry", entry(part))["parts"]
    assert [metadata == CLAUDE] == [one.get("signed", False) for one in reported]


# What goes with the thoughts of a message

THOUGHT = {"id": "t", "messageID": "a", "sessionID": "s", "type": "reasoning", "text": "hm"}
OTHER = {**THOUGHT, "id": "o", "text": "and so"}
TEXT = {"id": "w", "messageID": "a", "sessionID": "s", "type": "text", "text": "words"}
CALL = {
    "id": "c",
    "messageID": "a",
    "sessionID": "s",
    "type": "tool",
    "tool": "read",
    "callID": "x",
    "state": {"status": "completed", "input": {}, "output": "FILE", "time": {}},
}


def entry(*parts: Mapping[str, object]) -> dict[str, object]:
    return {"info": {"id": "a", "sessionID": "s", "role": "assistant"}, "parts": list(parts)}


def with_neighbours(adapter: Adapter, edits: list[AnyEdit], *parts: Mapping[str, object]) -> dict[str, object]:
    """The metadata of each part that is served."""
    (served,) = adapter("apply", [entry(*parts)], msgspec.to_builtins(edits))
    return {part["id"]: part.get("metadata") for part in served["parts"]}


GOES: dict[str, tuple[Metadata, Metadata]] = {
    "OpenRouter stores all thoughts with the first call": (CLAUDE, {"openrouter": {}}),
    "Copilot stores them with a text or a call": (
        {"copilot": {"reasoningOpaque": "c2VhbA==", "phase": "final"}},
        {"copilot": {"phase": "final"}},
    ),
    "OpenAI demands the thoughts behind an item that it knows": (
        {"openai": {"itemId": "fc_1", "phase": "final"}, "other": {"key": 1}},
        {"openai": {"phase": "final"}, "other": {"key": 1}},
    ),
}


@pytest.mark.parametrize("part", [TEXT, CALL], ids=["text", "call"])
@pytest.mark.parametrize(("metadata", "left"), GOES.values(), ids=GOES)
def test_with_its_thoughts_a_message_loses_what_holds_them_once_more(
    adapter: Adapter, part: dict[str, object], metadata: Metadata, left: Metadata
) -> None:
    parts = ({**THOUGHT, "metadata": metadata}, {**part, "metadata": metadata})
    assert {part["id"]: left} == with_neighbours(adapter, [OmitPart(part="t")], *parts)


@pytest.mark.parametrize(
    "metadata",
    [
        {"google": {"thoughtSignature": "c2ln"}},
        {"anthropic": {"caller": {"type": "direct"}}},
        {"providerExecuted": True},
    ],
    ids=["Gemini", "Anthropic", "flat"],
)
def test_what_belongs_to_a_call_stays_with_it(adapter: Adapter, metadata: Metadata) -> None:
    """Gemini refuses a call without the seal that it gave to it."""
    call = {**CALL, "metadata": metadata}
    edits: list[AnyEdit] = [OmitPart(part="t"), ReplaceOutput(part="c", text="[dropped §1§]")]
    assert {"c": metadata} == with_neighbours(adapter, edits, THOUGHT, call)


def test_as_long_as_a_thought_is_left_nothing_next_to_it_goes(adapter: Adapter) -> None:
    call = {**CALL, "metadata": CLAUDE}
    assert {"o": None, "c": CLAUDE} == with_neighbours(adapter, [OmitPart(part="t")], THOUGHT, OTHER, call)


def test_a_message_that_never_had_thoughts_keeps_what_it_has(adapter: Adapter) -> None:
    call = {**CALL, "metadata": CLAUDE}
    assert {"c": CLAUDE} == with_neighbours(adapter, [OmitPart(part="w")], TEXT, call)


def test_with_a_call_go_its_thoughts_and_all_that_holds_them(adapter: Adapter) -> None:
    call = {**CALL, "metadata": CLAUDE}
    edits: list[AnyEdit] = [OmitPart(part="t"), OmitPart(part="c")]
    assert {"w": {"openrouter": {}}} == with_neighbours(adapter, edits, THOUGHT, {**TEXT, "metadata": CLAUDE}, call)


# What goes with the words of a text


@pytest.mark.parametrize(
    "edit", [PrefixText(part="w", text="§1§ "), ReplaceText(part="w", text="shorter")], ids=["tag", "other words"]
)
def test_other_words_are_sent_without_the_seal_of_the_first(adapter: Adapter, edit: AnyEdit) -> None:
    metadata = {"google": {"thoughtSignature": "c2ln", "groundingMetadata": 1}}
    assert {"w": {"google": {"groundingMetadata": 1}}} == with_neighbours(
        adapter, [edit], {**TEXT, "metadata": metadata}
    )


def test_the_same_words_keep_their_seal(adapter: Adapter) -> None:
    metadata = {"google": {"thoughtSignature": "c2ln"}}
    assert {"w": metadata} == with_neighbours(
        adapter, [ReplaceText(part="w", text="words")], {**TEXT, "metadata": metadata}
    )


def test_an_item_that_the_provider_knows_stays_one_for_its_thoughts(adapter: Adapter) -> None:
    """Thoughts that are known to it demand the item that they led to."""
    metadata = {"openai": {"itemId": "msg_1"}}
    parts = ({**THOUGHT, "metadata": {"openai": {"itemId": "rs_1"}}}, {**TEXT, "metadata": metadata})
    assert {"t": {"openai": {"itemId": "rs_1"}}, "w": metadata} == with_neighbours(
        adapter, [PrefixText(part="w", text="§1§ ")], *parts
    )


def test_the_harness_s_own_parts_stay_as_they_are(adapter: Adapter) -> None:
    parts = [{**THOUGHT, "metadata": CLAUDE}, {**TEXT, "metadata": CLAUDE}, {**CALL, "metadata": CLAUDE}]
    assert {"t": CLAUDE, "w": CLAUDE, "c": CLAUDE} == with_neighbours(adapter, [], *parts)
