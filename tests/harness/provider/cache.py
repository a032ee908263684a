"""The prompt cache: what of a request was there in an earlier one, and is not too old."""

import hashlib
from collections.abc import Callable, Sequence
from itertools import islice

import msgspec

from tests.harness.provider.content import (
    Block,
    Json,
    bare,
    blocks,
    blocks_in,
    digests,
    encode,
    listed,
    mapping,
    messages_of,
)
from tests.harness.provider.pictures import measured_rebases
from tests.harness.provider.wire import Request, Usage

STEP = 128
"""OpenAI caches in steps of so many tokens."""
MINIMUM = 1024
"""Shorter prefixes are not cached, in tokens."""
LOOK_BACK = 20
"""Anthropic looks at so many blocks for each breakpoint, itself included."""
TTL = 300.0
LONG_TTL = 3600.0
_BYTES = 4
"""Bytes of a token, about."""


class Mark(msgspec.Struct, frozen=True):
    """A prefix, by its digest and its size in tokens."""

    digest: bytes
    tokens: int
    ttl: float = TTL


class Measured(msgspec.Struct, frozen=True):
    """A prompt: its size, the prefixes that may be read from the cache, and those that it leaves there."""

    tokens: int
    readable: tuple[Mark, ...] = ()
    writable: tuple[Mark, ...] = ()
    pays_for_writing: bool = False


def measure(request: Request) -> Measured:
    return by_breakpoints(request) if request.format == "anthropic" else by_steps(request)


def by_steps(request: Request) -> Measured:
    """Any prefix, in steps, without being asked for."""
    messages = [encode(measured_rebases(bare(message))) for message in request.sent]
    data = b"\n".join((request.tools, request.system, *messages))
    running, size = hashlib.sha256(request.model.encode()), STEP * _BYTES
    marks = []
    for end in range(size, len(data) + 1, size):
        running.update(data[end - size : end])
        marks.append(Mark(running.digest(), end // _BYTES))
    large_enough = tuple(mark for mark in marks if mark.tokens >= MINIMUM)
    return Measured(len(data) // _BYTES, large_enough, large_enough)


def by_breakpoints(request: Request) -> Measured:
    """Only prefixes that end at a breakpoint, which is found again from a few blocks behind it."""
    model = Block("model", {"name": request.model})
    found = _prompt(request.body)
    marks, size = [], 0
    for block, digest in zip(found, islice(digests((model, *found)), 1, None), strict=True):
        size += len(encode(measured_rebases(bare(block.data))))
        marks.append(Mark(digest, size // _BYTES, _ttl(block)))
    marked = [place for place, block in enumerate(found) if block.data.get("cache_control")]
    readable = {place for end in marked for place in range(max(0, end - LOOK_BACK + 1), end + 1)}
    return Measured(
        tokens=size // _BYTES,
        readable=tuple(marks[place] for place in sorted(readable)),
        writable=tuple(marks[place] for place in marked if marks[place].tokens >= MINIMUM),
        pays_for_writing=True,
    )


def _prompt(body: Json) -> Sequence[Block]:
    tools = [Block("tools", mapping(tool)) for tool in listed(body.get("tools"))]
    system = [Block("system", block) for block in blocks_in(body.get("system") or [])]
    return (*tools, *system, *blocks(messages_of(body)))


def _ttl(block: Block) -> float:
    control = block.data.get("cache_control")
    return LONG_TTL if isinstance(control, dict) and control.get("ttl") == "1h" else TTL


class Cache:
    """What requests left behind, and until when."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: dict[bytes, float] = {}
        self._ttl: dict[bytes, float] = {}

    def look(self, prompt: Measured) -> Usage:
        """What this prompt would find, and what it would leave."""
        cached = max((mark.tokens for mark in self._found(prompt)), default=0)
        large_enough = max((mark.tokens for mark in prompt.writable), default=0) if prompt.pays_for_writing else 0
        return Usage(prompt.tokens, cached, max(0, large_enough - cached))

    def keep(self, prompt: Measured) -> None:
        """The prompt was answered: its prefixes are there from now on, and those that were read stay for longer."""
        for mark in self._found(prompt):
            self._until[mark.digest] = self._clock() + self._ttl[mark.digest]
        for mark in prompt.writable:
            self._until[mark.digest] = self._clock() + mark.ttl
            self._ttl[mark.digest] = mark.ttl

    def _found(self, prompt: Measured) -> list[Mark]:
        now = self._clock()
        return [mark for mark in prompt.readable if self._until.get(mark.digest, 0) > now]
