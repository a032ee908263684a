"""The rules of Anthropic's messages."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.harness.provider import thinking
from tests.harness.provider.content import Block, Json, blocks, blocks_in, listed, mapping, messages_of

BREAKPOINTS = 4
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_EMPTY = "text content blocks must be non-empty"
_BLANK = "text content blocks must contain non-whitespace text"
_KINDS = {
    "user": {"text", "image", "document", "search_result", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
}


def faults(body: Json, key: bytes, *, binds_thinking: bool = True, preserves_thinking: bool = False) -> list[str]:
    messages = messages_of(body)
    found = blocks(messages)
    return [
        *_shape(body, messages),
        *_kinds(found),
        *_arcs(found),
        *_emptiness(body, messages, found),
        *_breakpoints(body, found),
        *_tools(body),
        *thinking.faults(key, body, messages, is_bound=binds_thinking, is_preserved=preserves_thinking),
    ]


def _shape(body: Json, messages: Sequence[Json]) -> Iterator[str]:
    for name in ("model", "max_tokens"):
        if not body.get(name):
            yield f"{name}: Field required"
    if not messages:
        yield "messages: at least one message is required"
    elif messages[0].get("role") != "user":
        yield 'messages: first message must use the "user" role'
    for message in messages:
        if message.get("role") not in _KINDS:
            yield f'messages: Unexpected role "{message.get("role")}". Allowed roles are "user" or "assistant".'


def _kinds(found: Sequence[Block]) -> Iterator[str]:
    for block in found:
        if block.kind not in _KINDS.get(block.role, {block.kind}):
            yield f"{_where(block)}: `{block.kind}` blocks can not be in a message of the {block.role}."
        if block.kind == "tool_use" and not isinstance(block.data.get("input"), dict):
            yield f"{_where(block)}.tool_use.input: Input should be a valid dictionary"
        if block.kind == "tool_use" and not _ID.fullmatch(str(block.data.get("id", ""))):
            yield f"{_where(block)}.tool_use.id: String should match pattern '^{_ID.pattern}$'"


def _where(block: Block) -> str:
    return f"messages.{block.message}.content.{block.place}"


def turns(found: Sequence[Block]) -> list[list[Block]]:
    """The blocks by turn: messages of one role in a row are one."""
    merged: list[list[Block]] = []
    for block in found:
        if merged and merged[-1][0].role == block.role:
            merged[-1].append(block)
        else:
            merged.append([block])
    return merged


def _arcs(found: Sequence[Block]) -> Iterator[str]:
    """Each call is answered once, at the beginning of the turn directly behind it."""
    used = Counter(str(block.data.get("id")) for block in found if block.kind == "tool_use")
    for block in found:
        if block.kind == "tool_use" and used[str(block.data.get("id"))] > 1:
            yield f"{_where(block)}: `tool_use` ids must be unique"
    merged = turns(found)
    for before, turn in zip([[], *merged], [*merged, []], strict=True):
        asked = [str(block.data.get("id")) for block in before if block.kind == "tool_use"]
        yield from _unanswered(before, asked, turn)
        yield from _unasked(asked, turn)


def _unanswered(before: Sequence[Block], asked: Sequence[str], turn: Sequence[Block]) -> Iterator[str]:
    answered = []
    for block in turn:
        if block.kind != "tool_result":
            break
        answered.append(str(block.data.get("tool_use_id")))
    if missing := [name for name in asked if name not in answered]:
        yield (
            f"messages.{before[-1].message}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )


def _unasked(asked: Sequence[str], turn: Sequence[Block]) -> Iterator[str]:
    seen: set[str] = set()
    for block in turn:
        if block.kind != "tool_result":
            continue
        name = str(block.data.get("tool_use_id"))
        if name not in asked:
            yield (
                f"{_where(block)}: unexpected `tool_use_id` found in `tool_result` blocks: {name}. Each `tool_result` "
                "block must have a corresponding `tool_use` block in the previous message."
            )
        elif name in seen:
            yield (
                f"{_where(block)}: each tool_use must have a single result. Found multiple `tool_result` blocks with "
                f"id: {name}"
            )
        seen.add(name)


def _emptiness(body: Json, messages: Sequence[Json], found: Sequence[Block]) -> Iterator[str]:
    for preamble in blocks_in(body.get("system") or []):
        if not preamble.get("text"):
            yield f"system: {_EMPTY}"
    for place, message in enumerate(messages):
        is_final = place == len(messages) - 1 and message.get("role") == "assistant"
        if not message.get("content") and not is_final:
            yield (
                f"messages.{place}: all messages must have non-empty content except for the optional final assistant "
                "message"
            )
    for block in found:
        if wrong := _blank(block, messages):
            yield f"messages: {wrong} ({_where(block)})"
    if found and found[-1].role == "assistant" and found[-1].kind == "text" and _ends_blank(found[-1].data):
        yield "messages: final assistant content cannot end with trailing whitespace"


def _blank(block: Block, messages: Sequence[Json]) -> str:
    text = block.data.get("text")
    if block.kind == "tool_result":
        inner = listed(block.data.get("content"))
        return _EMPTY if any(mapping(one).get("text") == "" for one in inner) else ""
    if block.kind != "text" or messages[block.message].get("content") == "":
        return ""
    if not text:
        return _EMPTY
    return "" if str(text).strip() else _BLANK


def _ends_blank(block: Json) -> bool:
    text = str(block.get("text", ""))
    return text != text.rstrip()


def _breakpoints(body: Json, found: Sequence[Block]) -> Iterator[str]:
    inner = [
        mapping(one) for block in found if block.kind == "tool_result" for one in listed(block.data.get("content"))
    ]
    outer = [mapping(one) for one in (*listed(body.get("tools")), *blocks_in(body.get("system")))]
    marked = sum("cache_control" in one for one in (*outer, *inner, *(block.data for block in found)))
    if marked > BREAKPOINTS:
        yield f"A maximum of {BREAKPOINTS} blocks with cache_control may be provided. Found {marked}."
    for block in found:
        if block.kind in {"thinking", "redacted_thinking"} and "cache_control" in block.data:
            yield f"{_where(block)}.{block.kind}.cache_control: Extra inputs are not permitted"


def _tools(body: Json) -> Iterator[str]:
    names = [str(mapping(tool).get("name", "")) for tool in listed(body.get("tools"))]
    for place, name in enumerate(names):
        if not _NAME.fullmatch(name):
            yield f"tools.{place}.custom.name: String should match pattern '^{_NAME.pattern}$'"
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
