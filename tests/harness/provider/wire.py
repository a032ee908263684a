"""A request as the provider received it, and whether a later one continues it."""

from typing import Literal

import msgspec

from tests.harness.provider.content import (
    Format,
    Json,
    bare,
    conversation,
    encode,
    messages_of,
    outputs,
    system_of,
    text_of,
)
from tests.harness.provider.pictures import pictures

Kind = Literal["main", "title", "compaction"]

SHOWN = 60
"""Bytes of each side that are printed where two requests differ."""


class Usage(msgspec.Struct, frozen=True):
    """What a request cost, in tokens. `prompt` is all of it, `cached` and `written` are parts of it."""

    prompt: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request. `messages` are the bytes of each message behind the system prompt."""

    number: int
    at: float
    format: Format
    kind: Kind
    session: str
    parent: str
    headers: dict[str, str]
    body: Json
    raw: bytes
    system: bytes
    tools: bytes
    messages: tuple[bytes, ...]
    faults: tuple[str, ...] = ()
    usage: Usage = Usage()

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def texts(self) -> list[str]:
        """The text of each message, tool outputs included."""
        return [text_of(message.get("content")) for message in self.sent]

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of tools, by the id of the call."""
        return outputs(self.sent)

    @property
    def pictures(self) -> list[str]:
        """The pictures that a model sees, in order, each by its digest."""
        return pictures(self.sent)

    @property
    def sent(self) -> list[Json]:
        """The decoded messages behind the system prompt."""
        return conversation(self.format, self.body)

    def __str__(self) -> str:
        return f"request {self.number} ({self.format}, {self.kind}, {self.session or 'no session'})"


def receive(
    number: int, at: float, form: Format, headers: dict[str, str], raw: bytes, faults: tuple[str, ...] = ()
) -> Request:
    body = decode(raw)
    return Request(
        number=number,
        at=at,
        format=form,
        kind=_kind(form, body),
        session=headers.get("x-session-id", ""),
        parent=headers.get("x-parent-session-id", ""),
        headers=headers,
        body=body,
        raw=raw,
        system=encode(bare(system_of(form, body))),
        tools=encode(bare(body.get("tools") or [])),
        messages=tuple(encode(bare(message)) for message in conversation(form, body)),
        faults=faults,
    )


def decode(raw: bytes) -> Json:
    """The body, or nothing where it is no JSON object."""
    try:
        return msgspec.json.decode(raw, type=Json)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
        return {}


def _kind(form: Format, body: Json) -> Kind:
    if body.get("tools"):
        return "main"
    system = body.get("system") if form == "anthropic" else "\n".join(_system_texts(body))
    return "title" if "You are a title generator" in text_of(system) else "compaction"


def _system_texts(body: Json) -> list[str]:
    return [text_of(message.get("content")) for message in messages_of(body) if message.get("role") == "system"]


def prefix_break(before: Request, after: Request) -> str:
    """Where `after` does not begin with all of `before`, as a sentence; nothing where it does."""
    if before.format != after.format:
        return f"the format changed from {before.format} to {after.format}"
    for what, old, new in (
        ("the tools", before.tools, after.tools),
        ("the system prompt", before.system, after.system),
    ):
        if old != new:
            return f"{what} changed: {_difference(old, new)}"
    last = len(before.messages) - 1
    for place, old in enumerate(before.messages):
        if place >= len(after.messages):
            return f"message {place} of {last + 1} is gone: it was {_excerpt(old, 0)}"
        new = after.messages[place]
        if old != new and not (place == last and _grew(before.format, old, new)):
            return f"message {place} of {last + 1} changed: {_difference(old, new)}"
    return ""


def _grew(form: Format, old: bytes, new: bytes) -> bool:
    """Whether blocks were added behind those of the newest message: a client merges what follows in the same role."""
    return form == "anthropic" and old.endswith(b"]}") and new.startswith(old[:-2] + b",")


def _difference(old: bytes, new: bytes) -> str:
    place = next((n for n, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), None)
    start = min(len(old), len(new)) if place is None else place
    return f"at byte {start} it was {_excerpt(old, start)} and is {_excerpt(new, start)}"


def _excerpt(data: bytes, start: int) -> str:
    begin = max(0, start - SHOWN // 3)
    text = data[begin : begin + SHOWN].decode(errors="replace")
    return f"{'...' if begin else ''}{text!r}{'...' if begin + SHOWN < len(data) else ''}"
