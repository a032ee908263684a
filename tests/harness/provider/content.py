"""What a model reads of a request, as bytes and as text.

The bytes are the JSON in the order in which it was sent, without cache breakpoints: those move and are no content.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import msgspec

Format = Literal["openai", "anthropic"]
Json = dict[str, Any]

_FOREWORDS = ("system", "developer")


def encode(value: object) -> bytes:
    return msgspec.json.encode(value)


def bare(value: object) -> object:
    """The same without the breakpoints of messages, blocks and tools; what a tool was called with stays as it is."""
    match value:
        case list():
            return [bare(one) for one in value]
        case dict():
            return {key: bare(one) if key == "content" else one for key, one in value.items() if key != "cache_control"}
        case _:
            return value


def listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def mapping(message: object) -> Json:
    return message if isinstance(message, dict) else {}


def messages_of(body: Json) -> list[Json]:
    return [mapping(message) for message in listed(body.get("messages"))]


def system_of(form: Format, body: Json) -> object:
    """The system prompt: a field of its own, or the messages that lead the list."""
    return body.get("system", "") if form == "anthropic" else messages_of(body)[: _forewords(body)]


def conversation(form: Format, body: Json) -> list[Json]:
    """The messages behind the system prompt."""
    return messages_of(body) if form == "anthropic" else messages_of(body)[_forewords(body) :]


def _forewords(body: Json) -> int:
    roles = [message.get("role") for message in messages_of(body)]
    return next((place for place, role in enumerate(roles) if role not in _FOREWORDS), len(roles))


class Block(NamedTuple):
    """One block of a prompt, in the order in which a model reads it."""

    role: str
    data: Json
    message: int = -1
    place: int = -1

    @property
    def kind(self) -> str:
        return str(self.data.get("type", ""))


def blocks_in(content: object) -> list[Json]:
    """The blocks of a message; plain text is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping(block) for block in listed(content)]


def blocks(messages: Iterable[Json]) -> list[Block]:
    return [
        Block(str(message.get("role", "")), block, number, place)
        for number, message in enumerate(messages)
        for place, block in enumerate(blocks_in(message.get("content")))
    ]


def digests(found: Iterable[Block]) -> Iterator[bytes]:
    """For each block, what identifies everything up to its end. Messages of one role in a row count as one."""
    running = hashlib.sha256()
    for block in found:
        data = encode(bare(block.data))
        running.update(b"%b|%d|%b" % (block.role.encode(), len(data), data))
        yield running.digest()


def text_of(content: object) -> str:
    """All that a person could read of it: texts and the outputs of tools."""
    return "\n".join(text for block in blocks_in(content) if (text := _text(block)))


def _text(block: Json) -> str:
    return text_of(block.get("content")) if block.get("type") == "tool_result" else str(block.get("text") or "")


def outputs(messages: Iterable[Json]) -> dict[str, str]:
    """The outputs of tools, by the id of the call."""
    found: dict[str, str] = {}
    for message in messages:
        if message.get("role") == "tool":
            found[str(message.get("tool_call_id"))] = text_of(message.get("content"))
        for block in blocks_in(message.get("content")):
            if block.get("type") == "tool_result":
                found[str(block.get("tool_use_id"))] = text_of(block.get("content"))
    return found
