"""Pi's sessions: entries that point to their parents, of which the path to the last one is the conversation."""

from collections.abc import Iterator
from typing import Any

import msgspec

from schemas.inbox import PartSeen, SessionSeen, UsageSeen
from services.edges.client.readers.builder import MessageBuilder
from services.edges.client.readers.common import ReadMessage, moment, texts, transcripts
from services.edges.client.transcript import Transcript

NAME = "Pi (~/.pi/agent/sessions/*/*.jsonl)"


class _Usage(msgspec.Struct, rename="camel"):
    """The tokens that the provider counted; the input is without what the cache served or stored."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class _EntryMessage(msgspec.Struct, rename="camel"):
    """The text of a message."""

    role: str = ""
    content: Any = None
    provider: str = ""
    model: str = ""
    usage: _Usage | None = None
    tool_call_id: str = ""
    is_error: bool = False
    command: str = ""
    output: str = ""
    exclude_from_context: bool = False


class _Entry(msgspec.Struct, rename="camel"):
    """One line of the file."""

    type: str = ""
    id: str | None = None
    parent_id: str | None = None
    timestamp: str | None = None
    cwd: str = ""
    version: int = 1
    name: str | None = None
    summary: str | None = None
    content: Any = None
    message: _EntryMessage | None = None


def knows(keys: set[str]) -> bool:
    """Whether the first JSON object of a file has the keys of this format."""
    return {"type", "id", "timestamp", "cwd"} <= keys and not keys & {"uuid", "parentUuid", "payload"}


def read(data: bytes) -> Iterator[Transcript]:
    entries = list(_entries(data))
    header = next((entry for entry in entries if entry.type == "session"), _Entry())
    path = _path([entry for entry in entries if entry.type != "session"])
    title = next((entry.name for entry in reversed(path) if entry.type == "session_info" and entry.name), "")
    seen = SessionSeen(title=title, directory=header.cwd)
    yield from transcripts("pi", header.id or "pi", seen, _messages(path))


def _entries(data: bytes) -> Iterator[_Entry]:
    decoder = msgspec.json.Decoder(_Entry)
    for text in data.splitlines():
        try:
            yield decoder.decode(text)
        except ValueError:
            # Pi may be writing the last line, and kinds of entries come and go with its versions.
            continue


def _path(entries: list[_Entry]) -> list[_Entry]:
    """The entries that lead to the last one; in the first version of the format, which had no tree, that is all."""
    by_id = {entry.id: entry for entry in entries if entry.id}
    if not any(entry.parent_id for entry in entries):
        return entries
    names: set[str | None] = set()
    at: _Entry | None = entries[-1]
    while at is not None and at.id not in names:
        names.add(at.id)
        at = by_id.get(at.parent_id or "")
    return [entry for entry in entries if entry.id in names]


def _messages(path: list[_Entry]) -> Iterator[ReadMessage]:
    built = MessageBuilder()
    for entry in path:
        if entry.type in {"compaction", "branch_summary"} and entry.summary:
            built.message("system", moment(entry.timestamp), name=entry.id or "", synthetic=True)
            built.text(entry.summary, "compaction")
        elif entry.type == "custom_message":
            built.message("user", moment(entry.timestamp), name=entry.id or "", synthetic=True)
            built.text(texts(entry.content))
        elif entry.type == "message" and entry.message is not None:
            _message(built, entry, entry.message)
    return built.messages()


def _message(built: MessageBuilder, entry: _Entry, message: _EntryMessage) -> None:
    at = moment(entry.timestamp)
    if message.role == "toolResult":
        built.result(message.tool_call_id, texts(message.content), "error" if message.is_error else "completed", at)
        return
    if message.role == "assistant":
        built.message("assistant", at, name=entry.id or "", provider=message.provider, model=message.model)
    else:  # besides what a person wrote: commands that they ran themselves, and what extensions say
        built.message("user", at, name=entry.id or "", synthetic=message.role != "user")
    if message.role == "bashExecution":
        built.text(f"$ {message.command}\n{message.output}", ignored=message.exclude_from_context)
    for block in message.content if isinstance(message.content, list) else [message.content]:
        _block(built, block)
    if message.usage is not None:
        used = message.usage
        built.usage(
            UsageSeen(
                "", input=used.input, output=used.output, cache_read=used.cache_read, cache_write=used.cache_write
            )
        )


def _block(built: MessageBuilder, block: Any) -> None:  # noqa: ANN401 - as it was recorded
    if not isinstance(block, dict):
        built.text(texts(block))
        return
    match block.get("type"):
        case "toolCall":
            built.call(str(block.get("name") or ""), str(block.get("id") or ""), block.get("arguments"))
        case "thinking":
            text, signed = texts(block.get("thinking")), bool(block.get("thinkingSignature"))
            if text or signed:
                built.part(PartSeen(message="", type="reasoning", text=text, signed=signed))
        case "image":
            mime = str(block.get("mimeType") or "")
            built.part(
                PartSeen(message="", type="file", text=f"data:{mime};base64,{block.get('data') or ''}", mime=mime)
            )
        case _:
            built.text(texts(block))
