import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.tagger.core.overflow import MAX_LIMIT, MIN_LIMIT, Overflow, read_overflow

WORDS_OF_PROVIDERS = {
    "prompt is too long: 210000 tokens > 200000 maximum": Overflow(200_000, 210_000),
    "prompt is too long: 210,000 tokens > 200,000 maximum": Overflow(200_000, 210_000),
    "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000": Overflow(200_000, 199_759),
    "ValidationException: Input is too long for requested model.": Overflow(),
    "Your input exceeds the context window of this model.": Overflow(),
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens.": Overflow(
        272_000, 300_123
    ),
    "maximum context length is 128000 tokens. Your messages resulted in 204308 tokens.": Overflow(128_000, 204_308),
    "maximum context length is 128000 tokens. However you requested 131072": Overflow(128_000, 131_072),
    "This endpoint's maximum context length is 200000 tokens. However, you requested about 264437 tokens": Overflow(
        200_000, 264_437
    ),
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).": Overflow(
        1_048_575, 1_196_265
    ),
    "The input token count exceeds the maximum number of tokens allowed 1048576.": Overflow(1_048_576, 0),
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.": Overflow(131_072, 537_812),
    "Please reduce the length of the messages or completion.": Overflow(),
    "prompt token count of 150000 exceeds the limit of 128000": Overflow(128_000, 150_000),
    "the request exceeds the available context size, try increasing it": Overflow(),
    "request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it": Overflow(
        8_192, 14_429
    ),
    "context size has been exceeded: 9000 of the context size of this slot (8192 tokens)": Overflow(8192, 0),
    "Context size has been exceeded.": Overflow(),
    "Requested tokens (2285) exceed context window of 2048": Overflow(2048, 2285),
    "The number of tokens to keep from the initial prompt is greater than the context length": Overflow(),
    "keep the first 20884 tokens when context the overflows. The model has a context length of only 4096": Overflow(
        4096, 20_884
    ),
    "is greater than the context length (n_keep: 13115>= n_ctx: 4096)": Overflow(4096, 0),
    "invalid params, context window exceeds limit (2013)": Overflow(),
    "Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)": Overflow(262_144, 291_351),
    "error code: context_length_exceeded": Overflow(),
    "Context length exceeded": Overflow(),
    "413 Request Entity Too Large": Overflow(),
    "This model's context length is only 4096 tokens, resulting in a maximum input length of 3072": Overflow(4096, 0),
    "input length 140000 exceeds the context length of 131072": Overflow(131_072, 140_000),
    "The input length (140000) exceeds the model's context length (131072).": Overflow(131_072, 140_000),
    "input length (5000) exceeds model's maximum context length (4096)": Overflow(4096, 5000),
    "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).": Overflow(59_862, 160_062),
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.": Overflow(4096, 5000),
    "prompt too long; exceeded max context length by 12345 tokens": Overflow(),
    "prompt too long; exceeded context length by 12345 tokens": Overflow(),
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length": Overflow(32_768, 40_000),
    "finish_reason: model_context_window_exceeded": Overflow(),
    "HTTP 413: payload refused": Overflow(),
}


@pytest.mark.parametrize("words", WORDS_OF_PROVIDERS)
def test_of_each_provider_s_words_the_numbers_are_read(words: str) -> None:
    assert WORDS_OF_PROVIDERS[words] == read_overflow(words)
    assert WORDS_OF_PROVIDERS[words] == read_overflow(words.upper())


@pytest.mark.parametrize(
    "words",
    [
        "",
        "rate limit exceeded",
        "Rate limit reached on tokens per min (TPM): Limit 30000, Used 20000, Requested 41000.",
        "413 Request too large on tokens per minute (TPM): Limit 6000, Requested 8012, shorten the prompt",
        "Too many requests: 429, the prompt exceeds the limit of 60000 tokens per minute",
        "Your plan exceeds the limit of 5000 requests",
        "the image exceeds the limit of 5242880 bytes",
        "image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
        "insufficient credits: you requested 413 tokens",
        "4130 prompt tokens were billed",
        "Overloaded",
    ],
)
def test_another_refusal_is_none(words: str) -> None:
    assert read_overflow(words) is None


@pytest.mark.parametrize("number", [MIN_LIMIT - 1, MAX_LIMIT + 1])
def test_a_number_that_cannot_be_a_limit_is_passed_over(number: int) -> None:
    assert read_overflow(f"maximum context length is {number} tokens") == Overflow()
    assert read_overflow(f"maximum context length is {number}; it exceeds the limit of 32000") == Overflow(limit=32_000)


@pytest.mark.parametrize("number", [MIN_LIMIT, MAX_LIMIT])
def test_the_smallest_and_the_largest_limit_are_limits(number: int) -> None:
    assert read_overflow(f"maximum context length is {number} tokens") == Overflow(limit=number)


TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
READ = Overflow(limit=200_000, used=210_000)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": TOO_LONG}},
        {"type": "error", "error": {"type": "invalid_request_error", "message": TOO_LONG}, "request_id": "r"},
        {"message": "Bad Request", "error": {"message": TOO_LONG}},
        {"message": TOO_LONG},
        {"detail": [{"msg": TOO_LONG}]},
        {"name": "APIError", "data": {"message": "Bad Request", "responseBody": TOO_LONG}},
        {"responseBody": json.dumps({"error": {"message": TOO_LONG}})},
        {"error": {"message": "Provider returned error", "metadata": {"raw": json.dumps({"message": TOO_LONG})}}},
        {"cause": {"cause": {"message": TOO_LONG}}},
        {"unknown": TOO_LONG},
    ],
)
def test_the_words_are_found_within_a_body(body: dict[str, object]) -> None:
    text = json.dumps(body)
    assert read_overflow(text) == READ
    assert read_overflow(f"400 {text}") == READ
    assert read_overflow(f"BadRequestError: b'{text}' (see the manual)") == READ


def test_a_code_or_a_count_next_to_the_words_is_read_with_them() -> None:
    assert read_overflow('{"error": {"message": "Bad request", "code": "context_length_exceeded"}}') == Overflow()
    llama = {"code": 400, "message": "the request exceeds the available context size", "n_prompt_tokens": 14_429}
    assert read_overflow(json.dumps({"error": llama | {"n_ctx": 8192}})) == Overflow(8192, 14_429)


def test_the_prompt_within_a_body_says_nothing() -> None:
    body = {"error": {"message": "field required", "input": "I wrote: prompt is too long"}, "messages": [TOO_LONG]}
    assert read_overflow(json.dumps(body)) is None


def test_a_body_that_is_cut_off_is_read_as_it_stands() -> None:
    assert read_overflow(json.dumps({"error": {"message": TOO_LONG, "type": "x"}})[:-9]) == READ


def test_endless_nesting_and_endless_text_are_read_in_no_time() -> None:
    assert read_overflow('{"error":' * 50_000) is None
    assert read_overflow("input length input token count max context " * 20_000) is None
    deep: object = "x"
    for _ in range(100):
        deep = {"error": deep}
    assert read_overflow(json.dumps(deep)) is None


@given(st.text(max_size=200) | st.text(alphabet='{}":,[]\\ erorm', max_size=60))
def test_whatever_an_error_says_it_can_be_read(text: str) -> None:
    assert isinstance(read_overflow(text), Overflow | None)
    assert isinstance(read_overflow(f'{{"error": {json.dumps({"message": text})}}}'), Overflow | None)
