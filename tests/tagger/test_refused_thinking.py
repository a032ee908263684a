"""What providers say when they refuse thinking that came back to them, and what is something else."""

import json

import pytest

from services.tagger.core.signals import refuses_thinking
from tests.helpers.cost import bare_operations

BLOCK = "messages.1.content.0: Invalid `signature` in `thinking` block"
BOUND = f'{BLOCK}. The block is bound to a different conversation. Remove the block, or set it to "drop_block".'
LATEST = (
    "messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
    "modified. These blocks must remain as they were in the original response."
)


def body(message: str, **fields: str) -> str:
    return json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": message, **fields}})


@pytest.mark.parametrize(
    "words",
    [
        BLOCK,
        BOUND,
        LATEST,
        "Invalid signature in thinking block",
        "messages.3.content.0: Invalid `data` in `redacted_thinking` block",
        body(BLOCK),
        body(body(LATEST)),
        "The provider refused.\n" + body(BLOCK),
        "ValidationException: The model returned the following errors: " + BLOCK,
        body("The encrypted content gAAA...DQ== could not be verified.", code="invalid_encrypted_content"),
        "The encrypted content for item rs_1 could not be verified. Reason: it could not be decrypted or parsed.",
    ],
)
def test_a_refused_signature_is_known_by_the_words_of_each_provider(words: str) -> None:
    assert refuses_thinking(words)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "rate limit exceeded",
        "Invalid signature of the request: check your credentials",
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
        "Function call is missing a thought_signature in functionCall parts.",
        "When thinking is disabled, an `assistant` message cannot contain `thinking`",
        body("overloaded", prompt=BLOCK),
    ],
)
def test_another_error_refuses_no_signature(words: str) -> None:
    assert not refuses_thinking(words)


@pytest.mark.parametrize("text", ["a", " ", "`", "invalid ", "encrypted content ", "thinking ", "{", "\ud83d"])
def test_a_long_error_of_one_kind_of_character_is_read_at_once(text: str) -> None:
    flood = text * (200_000 // len(text))
    assert not refuses_thinking(flood)
    assert 16 > bare_operations(lambda: refuses_thinking(flood))
