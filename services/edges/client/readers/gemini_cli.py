"""Gemini CLI's chats: one JSON object, or since 2026 a line for each change of it."""

from collections.abc import Iterator
from typing import Any

import msgspec

from schemas.inbox import PartSeen, SessionSeen, UsageSeen
from services.edges.client.readers.builder import MessageBuilder
from services.edges.client.readers.common import ReadMessage, arguments, moment, texts, transcripts
from services.edges.client.transcript import Transcript

NAME = "Gemini CLI (~/.gemini/tmp/*/chats/session-*.json, .jsonl)"


class _ChatTokens(msgspec.Struct):
    """The tokens that the provider counted; cached tokens are part of the input."""

    input: int = 0
    output: int = 0
    cached: int = 0
    thoughts: int = 0


class _Thought(msgspec.Struct):
    """One heading of what the model thought."""

    subject: str = ""
    description: str = ""


class _Call(msgspec.Struct, rename="camel"):
    """A call of a tool with its result."""

    id: str = ""
    name: str = ""
    args: Any = None
    result: Any = None
    result_display: Any = None
    status: str = ""


class _ChatMessage(msgspec.Struct, rename="camel"):
    """One message, or what the screen showed the person."""

    id: str = ""
    type: str = ""
    timestamp: str | None = None
    content: Any = None
    thoughts: list[_Thought] | None = None
    tool_calls: list[_Call] | None = None
    tokens: _ChatTokens | None = None
    model: str | None = None


class _Chat(msgspec.Struct, rename="camel"):
    """A chat as one object, or what a line changes of it."""

    session_id: str | None = None
    summary: str | None = None
    directories: list[str] | None = None
    messages: list[_ChatMessage] | None = None


class _ChatChange(msgspec.Struct):
    """A line that changes what was before: properties, or all from one message on."""

    set: _Chat | None = msgspec.field(default=None, name="$set")
    rewind_to: str | None = msgspec.field(default=None, name="$rewindTo")


def knows(keys: set[str]) -> bool:
    """Whether the first JSON object of a file has the keys of this format."""
    return {"sessionId", "projectHash"} <= keys


def read(data: bytes) -> Iterator[Transcript]:
    try:
        chat = msgspec.json.decode(data, type=_Chat)
    except ValueError:
        chat = _of_lines(data)
    seen = SessionSeen(title=chat.summary or "", directory=next(iter(chat.directories or []), ""))
    yield from transcripts("gemini-cli", chat.session_id or "gemini-cli", seen, _messages(chat.messages or []))


def _of_lines(data: bytes) -> _Chat:
    """Follow the changes; a message that comes again replaces the one with its id."""
    chat = _Chat()
    messages: dict[str, _ChatMessage] = {}
    for line in data.splitlines():
        try:
            change = msgspec.json.decode(line, type=_ChatChange)
            message = msgspec.json.decode(line, type=_ChatMessage)
            properties = change.set or msgspec.json.decode(line, type=_Chat)
        except ValueError:
            # The harness may be writing the last line, and kinds of lines come and go with its versions.
            continue
        if change.rewind_to is not None:
            names = list(messages)
            stays = names.index(change.rewind_to) if change.rewind_to in messages else 0
            messages = {name: messages[name] for name in names[:stays]}
        elif message.id:
            messages[message.id] = message
        else:
            chat = _changed(chat, properties)
            if properties.messages is not None:
                messages = {one.id or f"m{at}": one for at, one in enumerate(properties.messages)}
    return msgspec.structs.replace(chat, messages=list(messages.values()))


def _changed(chat: _Chat, change: _Chat) -> _Chat:
    given = {name: value for name in chat.__struct_fields__ if (value := getattr(change, name)) is not None}
    return msgspec.structs.replace(chat, **given)


def _messages(messages: list[_ChatMessage]) -> Iterator[ReadMessage]:
    built = MessageBuilder()
    for message in messages:
        at = moment(message.timestamp)
        if message.type == "gemini":
            built.message("assistant", at, name=message.id, provider="google", model=message.model or "")
            for thought in message.thoughts or []:
                built.text(": ".join(filter(None, (thought.subject, thought.description.strip()))), "reasoning")
        else:  # what the screen displayed to the person, which no model sees
            built.message(
                "user" if message.type == "user" else "system", at, name=message.id, synthetic=message.type != "user"
            )
        _content(built, message.content, ignored=message.type not in {"gemini", "user"})
        for call in message.tool_calls or []:
            built.call(call.name, call.id, call.args)
            if call.status in {"success", "error", "cancelled"}:
                built.result(call.id, _output(call), "completed" if call.status == "success" else "error", at)
        if message.tokens is not None:
            _count(built, message.tokens)
    return built.messages()


def _content(built: MessageBuilder, content: Any, *, ignored: bool) -> None:  # noqa: ANN401 - a text, a part, or a list of both
    blocks = content if isinstance(content, list) else [content]
    built.text("\n".join(filter(None, map(texts, blocks))), ignored=ignored)
    for block in blocks:
        data = block.get("inlineData") if isinstance(block, dict) else None
        if isinstance(data, dict):
            mime = str(data.get("mimeType") or "")
            built.part(
                PartSeen(message="", type="file", text=f"data:{mime};base64,{data.get('data') or ''}", mime=mime)
            )


def _output(call: _Call) -> str:
    """The result that the model was sent; where that is not recorded, the one on the screen."""
    found = []
    for block in call.result if isinstance(call.result, list) else [call.result]:
        answer = block.get("functionResponse") if isinstance(block, dict) else None
        response = answer.get("response") if isinstance(answer, dict) else block
        if isinstance(response, dict) and set(response) & {"output", "error"}:
            response = response.get("output") or response.get("error")
        found.append(texts(response) or (arguments(response) if isinstance(response, dict) and response else ""))
    return "\n".join(filter(None, found)) or texts(call.result_display)


def _count(built: MessageBuilder, counted: _ChatTokens) -> None:
    built.usage(
        UsageSeen(
            "",
            input=max(0, counted.input - counted.cached),
            output=counted.output,
            reasoning=counted.thoughts,
            cache_read=counted.cached,
        )
    )
