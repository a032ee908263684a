"""Claude Code's session log: lines that point to their parents, of which one chain is the conversation."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from schemas.inbox import Attachment, MessageSeen, PartSeen, SessionSeen, UsageSeen
from services.domain.attachments import attachment
from services.edges.client.readers.claude_code_log import ApiMessage, ContentBlock, LogLine, MediaSource, TokenUsage
from services.edges.client.readers.common import ReadMessage, arguments, moment, transcripts
from services.edges.client.transcript import Transcript

NAME = "Claude Code (~/.claude/projects/*/*.jsonl)"

_MARKS = {"parentUuid", "sessionId", "leafUuid", "messageId"}
_NOT_A_MODEL = "<synthetic>"


def knows(keys: set[str]) -> bool:
    """Whether the first JSON object of a file has the keys of this format."""
    return "type" in keys and bool(keys & _MARKS)


def read(data: bytes) -> Iterator[Transcript]:
    lines = list(_lines(data))
    linked = [line for line in lines if line.uuid]
    main = _conversation([line for line in linked if not line.is_sidechain])
    if main:
        yield from transcripts("claude-code", main[-1].session_id, _seen(main, _title(lines)), _messages(main))
    for name, side in _sidechains(linked).items():
        yield from _sidechain(name, _conversation(side))


def _lines(data: bytes) -> Iterator[LogLine]:
    decoder = msgspec.json.Decoder(LogLine)
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


def _sidechains(lines: Iterable[LogLine]) -> dict[str, list[LogLine]]:
    """Sort out the lines of each subagent, by its id or, in older logs, by its first line."""
    chains: dict[str, list[LogLine]] = {}
    root: dict[str, str] = {}
    for line in lines:
        if line.is_sidechain:
            root[line.uuid] = line.agent_id or root.get(line.parent_uuid or "", line.uuid)
            chains.setdefault(root[line.uuid], []).append(line)
    return chains


def _sidechain(name: str, lines: list[LogLine]) -> Iterator[Transcript]:
    if lines:
        parent = lines[-1].session_id
        seen = msgspec.structs.replace(_seen(lines), parent=parent, mode="subagent")
        yield from transcripts("claude-code", f"{parent}:{name}", seen, _messages(lines))


def _conversation(lines: list[LogLine]) -> list[LogLine]:
    """Keep the lines that lead to the newest message, in the order of the log."""
    chain = _chain(lines) | {line.uuid for line in lines if line.is_compact_summary}
    answers = {line.name for line in lines if line.uuid in chain and line.type == "assistant"}
    whole = {line.uuid for line in lines if line.name in answers}
    read = chain | whole
    # Calls made at once are written one after the other, and only one of their results leads on.
    return [line for line in lines if line.as_message and (line.uuid in read or _answers(line, whole))]


def _answers(line: LogLine, calls: set[str]) -> bool:
    return line.parent_uuid in calls and any(block.type == "tool_result" for block in line.blocks)


def _chain(lines: list[LogLine]) -> set[str]:
    by_id = {line.uuid: line for line in lines}
    before = {line.uuid: earlier.uuid for earlier, line in pairwise(lines)}
    chain: set[str] = set()
    at: str | None = next((line.uuid for line in reversed(lines) if line.as_message), None)
    while at and at not in chain:
        chain.add(at)
        at = _parent(by_id[at], by_id, before)
    return chain


def _parent(line: LogLine, by_id: dict[str, LogLine], before: dict[str, str]) -> str | None:
    """Go back one line: to the one above where the log does not hold the one that is named."""
    compacted = line.subtype == "compact_boundary" or line.is_compact_summary
    named = line.parent_uuid or (line.logical_parent_uuid if compacted else None)
    if named in by_id:
        return named
    return before.get(line.uuid) if named or compacted else None


def _seen(lines: list[LogLine], title: str = "") -> SessionSeen:
    copied = [line for line in lines if line.forked_from]
    return SessionSeen(
        title=title,
        directory=lines[0].cwd,
        version=lines[-1].version,
        forked_from=copied[-1].forked_from.session_id if copied and copied[-1].forked_from else "",
        forked_at=copied[-1].name if copied else "",
    )


def _title(lines: list[LogLine]) -> str:
    """Prefer the person's title to the model's to the summary; a log may begin with summaries of other sessions."""
    own = {line.uuid for line in lines if line.uuid}
    titles = {
        "custom": [line.custom_title for line in lines if line.custom_title],
        "ai": [line.ai_title for line in lines if line.ai_title],
        "summary": [line.summary for line in lines if line.summary and line.leaf_uuid in own],
    }
    return next((given[-1] for given in titles.values() if given), "")


def _messages(lines: list[LogLine]) -> Iterator[ReadMessage]:
    tools = {block.id: block.name for line in lines for block in line.blocks if block.type == "tool_use"}
    messages: dict[str, list[LogLine]] = {}
    for line in lines:
        messages.setdefault(line.name, []).append(line)
    for name, parts in messages.items():
        yield _message(name, parts, tools)


def _message(name: str, lines: list[LogLine], tools: dict[str, str]) -> ReadMessage:
    first, last = lines[0], lines[-1].as_message or ApiMessage()
    model = "" if last.model == _NOT_A_MODEL else last.model
    message = MessageSeen(
        message=name,
        role="assistant" if first.type == "assistant" else "user",
        at=moment(first.timestamp),
        provider="anthropic" if model else "",
        model=model,
        synthetic=bool(first.is_meta or first.is_compact_summary or first.type == "system"),
        parts=_parts(lines, tools),
    )
    return ReadMessage(message, _usage(last.usage))


def _usage(usage: TokenUsage | None) -> UsageSeen | None:
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


def _parts(lines: list[LogLine], tools: dict[str, str]) -> tuple[PartSeen, ...]:
    parts: list[PartSeen | None] = []
    position = 0
    for block in (block for line in lines for block in line.blocks):
        parts.append(_part(block, position, tools))
        position += 1 + len(_within(block))  # so that parts keep the names under which they were imported before
    ignored = any(line.is_api_error_message for line in lines)
    return tuple(msgspec.structs.replace(part, ignored=ignored) for part in parts if part)


def _within(block: ContentBlock) -> list[ContentBlock]:
    """List the images and documents that a tool returned in addition to its text."""
    inner = block.content if isinstance(block.content, list) else []
    return [one for one in inner if one.source]


def _part(block: ContentBlock, position: int, tools: dict[str, str]) -> PartSeen | None:
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
                attachments=tuple(_attachment(one.source) for one in _within(block) if one.source),
                status="error" if block.is_error else "completed",
            )
        case _ if block.source:
            source = block.source
            return msgspec.structs.replace(seen, type="file", text=_url(source), mime=source.media_type)
        case _:
            return None


def _text(content: str | list[ContentBlock] | None) -> str:
    if isinstance(content, list):
        return "\n".join(block.text for block in content if block.type == "text")
    return content or ""


def _attachment(source: MediaSource) -> Attachment:
    return attachment(_url(source), source.media_type)


def _url(source: MediaSource) -> str:
    return source.url or f"data:{source.media_type};base64,{source.data}"
