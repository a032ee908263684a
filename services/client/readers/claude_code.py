"""Claude Code's session log: lines that point to their parents, of which one chain is the conversation."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import msgspec

from schemas.inbox import MessageSeen, PartSeen, SessionSeen, UsageSeen
from services.client.readers.common import Told, arguments, moment, transcripts
from services.client.transcript import Transcript

NAME = "Claude Code (~/.claude/projects/*/*.jsonl)"

_MARKS = {"parentUuid", "sessionId", "leafUuid", "messageId"}
_NOT_A_MODEL = "<synthetic>"


class _Usage(msgspec.Struct):
    """What the provider counted."""

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0


class _Source(msgspec.Struct):
    """Where an image or a document is."""

    media_type: str = ""
    data: str = ""
    url: str = ""


class _Block(msgspec.Struct):
    """One content block of a message, of any type."""

    type: str
    text: str = ""
    thinking: str = ""
    signature: str | None = None
    id: str = ""
    name: str = ""
    input: Any = None
    tool_use_id: str = ""
    content: "str | list[_Block] | None" = None
    is_error: bool | None = None
    source: _Source | None = None


class _Message(msgspec.Struct):
    """What was said, in the shape of the API."""

    content: str | list[_Block] | None = None
    id: str = ""
    model: str = ""
    usage: _Usage | None = None


class _Origin(msgspec.Struct, rename="camel"):
    """Where a line was copied from."""

    session_id: str = ""


class _Line(msgspec.Struct, rename="camel"):
    """One line of the log."""

    type: str = ""
    subtype: str | None = None
    uuid: str = ""
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str = ""
    agent_id: str | None = None
    timestamp: str | None = None
    cwd: str = ""
    version: str = ""
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    message: _Message | str | None = None
    content: Any = None
    forked_from: _Origin | None = None
    leaf_uuid: str | None = None
    summary: str | None = None
    ai_title: str | None = None
    custom_title: str | None = None

    @property
    def said(self) -> _Message | None:
        """What the line adds to the conversation."""
        if self.type in {"user", "assistant"} and isinstance(self.message, _Message):
            return self.message
        if self.type == "system" and self.subtype == "local_command" and isinstance(self.content, str):
            return _Message(self.content)
        return None

    @property
    def name(self) -> str:
        """The message it belongs to: the API tells an answer in several lines with one id."""
        answer = self.said.id if self.said and self.type == "assistant" else ""
        return answer or self.uuid

    @property
    def blocks(self) -> list[_Block]:
        said = self.said.content if self.said else None
        return [_Block("text", text=said)] if isinstance(said, str) else said or []


def knows(keys: set[str]) -> bool:
    """Whether the first JSON object of a file has the keys of this format."""
    return "type" in keys and bool(keys & _MARKS)


def read(data: bytes) -> Iterator[Transcript]:
    lines = list(_lines(data))
    linked = [line for line in lines if line.uuid]
    main = _conversation([line for line in linked if not line.is_sidechain])
    if main:
        yield from transcripts("claude-code", main[-1].session_id, _seen(main, _title(lines)), _told(main))
    for name, side in _sidechains(linked).items():
        yield from _sidechain(name, _conversation(side))


def _lines(data: bytes) -> Iterator[_Line]:
    decoder = msgspec.json.Decoder(_Line)
    known: set[str] = set()
    for text in data.splitlines():
        try:
            line = decoder.decode(text)
        except ValueError:
            # The harness may be writing the last line, and kinds of lines come and go with its versions.
            continue
        if line.uuid not in known:
            yield line
        if line.uuid:
            known.add(line.uuid)


def _sidechains(lines: Iterable[_Line]) -> dict[str, list[_Line]]:
    """Sort out the lines of each subagent, by its id or, in older logs, by its first line."""
    chains: dict[str, list[_Line]] = {}
    root: dict[str, str] = {}
    for line in lines:
        if line.is_sidechain:
            root[line.uuid] = line.agent_id or root.get(line.parent_uuid or "", line.uuid)
            chains.setdefault(root[line.uuid], []).append(line)
    return chains


def _sidechain(name: str, lines: list[_Line]) -> Iterator[Transcript]:
    if lines:
        parent = lines[-1].session_id
        seen = msgspec.structs.replace(_seen(lines), parent=parent, mode="subagent")
        yield from transcripts("claude-code", f"{parent}:{name}", seen, _told(lines))


def _conversation(lines: list[_Line]) -> list[_Line]:
    """Keep the lines that lead to the last thing said, in the order of the log."""
    chain = _chain(lines) | {line.uuid for line in lines if line.is_compact_summary}
    answers = {line.name for line in lines if line.uuid in chain and line.type == "assistant"}
    whole = {line.uuid for line in lines if line.name in answers}
    kept = chain | whole
    # Calls made at once are told one after the other, and only one of their results leads on.
    return [line for line in lines if line.said and (line.uuid in kept or _answers(line, whole))]


def _answers(line: _Line, calls: set[str]) -> bool:
    return line.parent_uuid in calls and any(block.type == "tool_result" for block in line.blocks)


def _chain(lines: list[_Line]) -> set[str]:
    by_id = {line.uuid: line for line in lines}
    before = {line.uuid: earlier.uuid for earlier, line in pairwise(lines)}
    chain: set[str] = set()
    at: str | None = next((line.uuid for line in reversed(lines) if line.said), None)
    while at and at not in chain:
        chain.add(at)
        at = _parent(by_id[at], by_id, before)
    return chain


def _parent(line: _Line, by_id: dict[str, _Line], before: dict[str, str]) -> str | None:
    """Go back one line: to the one above where the log does not hold the one that is named."""
    compacted = line.subtype == "compact_boundary" or line.is_compact_summary
    named = line.parent_uuid or (line.logical_parent_uuid if compacted else None)
    if named in by_id:
        return named
    return before.get(line.uuid) if named or compacted else None


def _seen(lines: list[_Line], title: str = "") -> SessionSeen:
    copied = [line for line in lines if line.forked_from]
    return SessionSeen(
        title=title,
        directory=lines[0].cwd,
        version=lines[-1].version,
        forked_from=copied[-1].forked_from.session_id if copied and copied[-1].forked_from else "",
        forked_at=copied[-1].name if copied else "",
    )


def _title(lines: list[_Line]) -> str:
    """Prefer the person's title to the model's to the summary; a log may begin with summaries of other sessions."""
    own = {line.uuid for line in lines if line.uuid}
    titles = {
        "custom": [line.custom_title for line in lines if line.custom_title],
        "ai": [line.ai_title for line in lines if line.ai_title],
        "summary": [line.summary for line in lines if line.summary and line.leaf_uuid in own],
    }
    return next((told[-1] for told in titles.values() if told), "")


def _told(lines: list[_Line]) -> Iterator[Told]:
    tools = {block.id: block.name for line in lines for block in line.blocks if block.type == "tool_use"}
    messages: dict[str, list[_Line]] = {}
    for line in lines:
        messages.setdefault(line.name, []).append(line)
    for name, told in messages.items():
        yield _message(name, told, tools)


def _message(name: str, lines: list[_Line], tools: dict[str, str]) -> Told:
    first, said = lines[0], lines[-1].said or _Message()
    model = "" if said.model == _NOT_A_MODEL else said.model
    message = MessageSeen(
        message=name,
        role="assistant" if first.type == "assistant" else "user",
        at=moment(first.timestamp),
        provider="anthropic" if model else "",
        model=model,
        synthetic=bool(first.is_meta or first.is_compact_summary or first.type == "system"),
        parts=_parts(lines, tools),
    )
    return Told(message, _usage(said.usage))


def _usage(usage: _Usage | None) -> UsageSeen | None:
    if usage is None:
        return None
    seen = UsageSeen(
        "",
        input=usage.input_tokens or 0,
        output=usage.output_tokens or 0,
        cache_read=usage.cache_read_input_tokens or 0,
        cache_write=usage.cache_creation_input_tokens or 0,
    )
    return seen if seen != UsageSeen("", input=0) else None


def _parts(lines: list[_Line], tools: dict[str, str]) -> tuple[PartSeen, ...]:
    blocks = [block for line in lines for outer in line.blocks for block in (outer, *_within(outer))]
    parts = (_part(block, at, tools) for at, block in enumerate(blocks))
    ignored = any(line.is_api_error_message for line in lines)
    return tuple(msgspec.structs.replace(part, ignored=ignored) for part in parts if part)


def _within(block: _Block) -> list[_Block]:
    """List the images that a tool answered: parts of their own, after its text."""
    inner = block.content if isinstance(block.content, list) else []
    return [one for one in inner if one.source]


def _part(block: _Block, position: int, tools: dict[str, str]) -> PartSeen | None:
    """Turn a block into a part; None for the kinds that carry nothing the service can use."""
    seen = PartSeen(message="", type="text", position=position)
    match block.type:
        case "text":
            return msgspec.structs.replace(seen, text=block.text)
        case "thinking" | "redacted_thinking":
            signed = bool(block.signature) or block.type == "redacted_thinking"
            return msgspec.structs.replace(seen, type="reasoning", text=block.thinking, signed=signed)
        case "tool_use":
            made = {"tool": block.name, "call": block.id, "input": arguments(block.input)}
            return msgspec.structs.replace(seen, type="tool_call", **made)
        case "tool_result":
            return msgspec.structs.replace(
                seen,
                type="tool_result",
                tool=tools.get(block.tool_use_id, ""),
                call=block.tool_use_id,
                output=_text(block.content),
                status="error" if block.is_error else "completed",
            )
        case _ if block.source:
            source = block.source
            return msgspec.structs.replace(seen, type="file", text=_url(source), mime=source.media_type)
        case _:
            return None


def _text(content: str | list[_Block] | None) -> str:
    if isinstance(content, list):
        return "\n".join(block.text for block in content if block.type == "text")
    return content or ""


def _url(source: _Source) -> str:
    return source.url or f"data:{source.media_type};base64,{source.data}"
