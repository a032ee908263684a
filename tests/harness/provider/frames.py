"""What both formats share in turning a reply into an answer."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from tests.harness.provider.content import Json, encode
from tests.harness.provider.script import Call, Reply
from tests.harness.provider.wire import Request, Usage

PIECE = 24
"""Characters of a delta."""


class Answer(NamedTuple):
    """An answer's pieces as they go out: the `first` ends with the first words."""

    first: Sequence[bytes]
    rest: Sequence[bytes]


def pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def event(data: Json, name: str = "") -> bytes:
    return (b"event: " + name.encode() + b"\n" if name else b"") + b"data: " + encode(data) + b"\n\n"


def named(request: Request, reply: Reply, prefix: str) -> tuple[Call, ...]:
    """The calls, each with an id."""
    return tuple(
        call if call.id else msgspec.structs.replace(call, id=f"{prefix}_{request.number:04d}_{place}")
        for place, call in enumerate(reply.calls)
    )


def usage_of(counted: Usage, reply: Reply) -> Usage:
    """The counted usage, or that of the script instead; and the text of the model."""
    texts = [reply.text, reply.reasoning, *(call.tool + encode(call.arguments).decode() for call in reply.calls)]
    output = max(1, sum(len(one.encode()) for one in texts) // 4)
    if reply.usage is None:
        return msgspec.structs.replace(counted, output=output)
    prompt, cached = reply.usage
    return Usage(prompt, cached, min(counted.written, prompt - cached), output)
