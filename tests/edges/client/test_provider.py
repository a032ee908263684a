"""The stand-in for a provider that a replay sends its calls to."""

from datetime import UTC, datetime, timedelta

from schemas.inbox import Attachment
from services.domain.edits import ServedMessage, ServedPart
from services.edges.client.provider import TTL, Provider, part_tokens
from tests.domain.test_attachments import png

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PICTURE = Attachment("image/png", "shot.png", bytes=900_000, width=1500, height=1000)


def message_of(name: str, size: int) -> ServedMessage:
    return ServedMessage(name, "user", (ServedPart(f"{name}:p", "text", text="x" * 4 * size),))


def test_tools_and_system_prompt_count_and_stay_in_the_cache() -> None:
    provider = Provider(overhead=9000)
    first = provider.receive([message_of("a", 1000)], NOW)
    second = provider.receive([message_of("b", 1000)], NOW)
    assert 10_000 < first.tokens < 10_100
    assert (0, 9000) == (first.cached_tokens, second.cached_tokens)


def test_a_cache_dies_when_nobody_calls() -> None:
    provider = Provider()
    provider.receive([message_of("a", 1000)], NOW)
    later = provider.receive([message_of("a", 1000)], NOW + TTL + timedelta(seconds=1))
    assert (0, False) == (later.cached_tokens, later.warm)


def test_what_is_too_long_is_refused_and_leaves_the_cache_as_it_was() -> None:
    provider = Provider(limit=10_000, overhead=5000)
    cached = provider.receive([message_of("a", 1000)], NOW)
    refused = provider.receive([message_of("b", 6000)], NOW)
    assert (False, True) == (cached.refused, refused.refused)
    assert f"{refused.tokens} tokens > 10000 maximum" in refused.refusal
    assert cached.tokens == provider.receive([message_of("a", 1000)], NOW).cached_tokens


def shown(*attachments: Attachment) -> ServedMessage:
    part = ServedPart(
        "p", "tool", tool="read", call="c", output="read", **({"attachments": attachments} if attachments else {})
    )
    return ServedMessage("m", "assistant", (part,))


def test_a_picture_with_an_output_counts_by_its_pixels() -> None:
    with_it, without = (Provider().receive([message], NOW) for message in (shown(PICTURE), shown()))

    assert 2000 <= with_it.tokens - without.tokens < 2100
    assert part_tokens(shown(PICTURE).parts[0]) == 2000 + part_tokens(shown().parts[0])


def test_a_picture_in_a_prompt_counts_by_its_pixels_and_not_by_its_address() -> None:
    received = Provider().receive([ServedMessage("m", "user", (ServedPart("f", "file", text=png(1500, 1000)),))], NOW)

    assert received.bytes > 1_000_000
    assert 2000 <= received.tokens < 2100


def test_a_picture_that_was_sent_before_is_read_from_the_cache_and_another_one_is_not() -> None:
    provider = Provider()
    provider.receive([shown(PICTURE)], NOW)
    again = provider.receive([shown(PICTURE), ServedMessage("n", "user")], NOW + timedelta(seconds=1))
    other = provider.receive([shown(Attachment("image/gif"))], NOW + timedelta(seconds=2))

    assert 2000 <= again.cached_tokens < 2100
    assert (0, True) == (other.cached_tokens, other.changed)
