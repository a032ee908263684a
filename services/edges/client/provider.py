"""A stand-in for a provider: counts what it is sent and what its cache would have of it, refuses what is too long."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache

import msgspec

from schemas.codec import encode
from schemas.inbox import UsageSeen
from services.domain.attachments import attachment_tokens, file_tokens
from services.domain.edits import ServedMessage, ServedPart
from services.domain.tokens import tokens

TTL = timedelta(minutes=5)


class ReceivedCall(msgspec.Struct, frozen=True):
    """One call as the provider saw it. Sizes in bytes of the messages as JSON; tokens are estimated from them.

    Files and attachments count as they do in a prompt, not by their bytes.
    """

    messages: int
    bytes: int
    prefix_messages: int
    """Messages that are the same, byte for byte, as those the call before began with."""
    prefix_bytes: int
    changed: bool
    """Whether something was changed or left out that the call before had sent."""
    cached_tokens: int
    tokens: int
    """All of the prompt, tools and system prompt included."""
    warm: bool
    """Whether the cache still lived."""
    limit: int
    """Tokens that the provider takes; 0: any."""

    @property
    def refused(self) -> bool:
        """Whether it was too long; the cache is then as it was."""
        return 0 < self.limit < self.tokens

    def usage(self, message: str, output: int = 0) -> UsageSeen:
        fresh = self.tokens - self.cached_tokens
        return UsageSeen(message, input=0, output=output, cache_read=self.cached_tokens, cache_write=fresh)

    @property
    def refusal(self) -> str:
        """The words of a provider that refuses it."""
        return f"prompt is too long: {self.tokens} tokens > {self.limit} maximum"


class MeasuredMessage(msgspec.Struct, frozen=True, gc=False):
    """A message as JSON, and the tokens of its files and attachments that its bytes do not show."""

    data: bytes
    attached: int


class Provider:
    """One session's side of the wire. `limit`: tokens that it takes, 0: any; `overhead`: see `cost.OVERHEAD`."""

    def __init__(self, limit: int = 0, overhead: int = 0) -> None:
        self._limit = limit
        self._overhead = overhead
        self._before: list[bytes] = []
        self._at: datetime | None = None
        self._measured: dict[str, tuple[ServedMessage, MeasuredMessage]] = {}

    def receive(self, messages: Sequence[ServedMessage], at: datetime) -> ReceivedCall:
        measured = [self._measure(message) for message in messages]
        now = [one.data for one in measured]
        same = _common(self._before, now)
        size, prefix = sum(map(len, now)), sum(map(len, now[:same]))
        attached, attached_prefix = sum(one.attached for one in measured), sum(one.attached for one in measured[:same])
        is_warm = self._at is not None and at - self._at <= TTL
        received = ReceivedCall(
            messages=len(now),
            bytes=size,
            prefix_messages=same,
            prefix_bytes=prefix,
            changed=same < len(self._before),
            cached_tokens=max(0, self._overhead + tokens(prefix) + attached_prefix) if is_warm else 0,
            tokens=max(0, self._overhead + tokens(size) + attached),
            warm=is_warm,
            limit=self._limit,
        )
        if not received.refused:
            self._before, self._at = now, at
        return received

    def _measure(self, message: ServedMessage) -> MeasuredMessage:
        known = self._measured.get(message.id)
        if known is not None and known[0] == message:
            return known[1]
        measured = MeasuredMessage(encode(message), sum(map(_attachment_tokens, message.parts)))
        self._measured[message.id] = (message, measured)
        return measured


def part_tokens(part: ServedPart) -> int:
    """Estimated tokens of a part as it is sent."""
    words = tokens(len((part.text + part.output + part.input).encode()))
    return words + _attachment_tokens(part)


def _attachment_tokens(part: ServedPart) -> int:
    """Tokens of a message's attachments; of a file, how many more or less it costs than its address would."""
    if part.kind == "file":
        return _file_tokens(part.text) - tokens(len(part.text.encode()))
    return sum(map(attachment_tokens, part.attachments or ()))


@lru_cache(maxsize=256)
def _file_tokens(url: str) -> int:
    """The same picture is weighed at each call."""
    return file_tokens(url)


def _common(before: Sequence[bytes], now: Sequence[bytes]) -> int:
    count = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        count += 1
    return count
