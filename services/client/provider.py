"""A stand-in for a provider: counts what it is sent, and what of it its cache would still have."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from schemas.codec import encode
from schemas.inbox import UsageSeen
from services.kit.edits import Message
from services.kit.tokens import tokens

TTL = timedelta(minutes=5)


class Received(msgspec.Struct, frozen=True):
    """One call as the provider saw it. Sizes in bytes of the messages as JSON; tokens are estimated from them."""

    messages: int
    bytes: int
    prefix_messages: int
    """Messages that are the same, byte for byte, as those the call before began with."""
    prefix_bytes: int
    changed: bool
    """Whether something was changed or left out that the call before had sent."""
    cached_tokens: int
    tokens: int

    def usage(self, message: str) -> UsageSeen:
        fresh = self.tokens - self.cached_tokens
        return UsageSeen(message=message, input=0, cache_read=self.cached_tokens, cache_write=fresh)


class Provider:
    """One session's side of the wire."""

    def __init__(self) -> None:
        self._before: list[bytes] = []
        self._at: datetime | None = None
        self._encoded: dict[str, tuple[Message, bytes]] = {}

    def receive(self, messages: Sequence[Message], at: datetime) -> Received:
        now = [self._bytes(message) for message in messages]
        same = _common(self._before, now)
        size, prefix = sum(map(len, now)), sum(map(len, now[:same]))
        is_warm = self._at is not None and at - self._at <= TTL
        received = Received(
            messages=len(now),
            bytes=size,
            prefix_messages=same,
            prefix_bytes=prefix,
            changed=same < len(self._before),
            cached_tokens=tokens(prefix) if is_warm else 0,
            tokens=tokens(size),
        )
        self._before, self._at = now, at
        return received

    def _bytes(self, message: Message) -> bytes:
        known = self._encoded.get(message.id)
        if known is not None and known[0] == message:
            return known[1]
        encoded = encode(message)
        self._encoded[message.id] = (message, encoded)
        return encoded


def _common(before: Sequence[bytes], now: Sequence[bytes]) -> int:
    count = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        count += 1
    return count
