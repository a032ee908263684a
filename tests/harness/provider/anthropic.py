"""Anthropic's messages: a reply as one answer, or as a stream of events. Thinking is signed."""

from collections.abc import Iterator

from tests.harness.provider import thinking
from tests.harness.provider.content import Json, encode, messages_of
from tests.harness.provider.frames import Answer, event, named, pieces
from tests.harness.provider.script import Reply
from tests.harness.provider.wire import Request, Usage

PATH = "/v1/messages"
COUNT_PATH = "/v1/messages/count_tokens"

_STOPS = {"length": "max_tokens", "stop": "end_turn", "tool_calls": "tool_use", "content_filter": "refusal"}


def whole(request: Request, reply: Reply, usage: Usage, key: bytes) -> Json:
    return _message(request, usage) | {"content": _content(request, reply, key), "stop_reason": _stop(reply)}


def streamed(request: Request, reply: Reply, usage: Usage, key: bytes) -> Answer:
    start = _message(request, usage) | {"content": [], "stop_reason": None}
    start["usage"] = _usage(usage) | {"output_tokens": 1}
    events = [_event("message_start", message=start), _event("ping")]
    is_first = True
    first = len(events)
    for place, block in enumerate(_content(request, reply, key)):
        events.append(_event("content_block_start", index=place, content_block=_opened(block)))
        events += [_event("content_block_delta", index=place, delta=delta) for delta in _deltas(block)]
        events.append(_event("content_block_stop", index=place))
        first, is_first = (first + 2, False) if is_first else (first, False)
    delta = {"stop_reason": _stop(reply), "stop_sequence": None}
    events += [_event("message_delta", delta=delta, usage=_usage(usage)), _event("message_stop")]
    return Answer(events[:first], events[first:])


def _content(request: Request, reply: Reply, key: bytes) -> list[Json]:
    found: list[Json] = []
    if thought := _thought(request, reply):
        signature = thinking.sign(key, messages_of(request.body), thought)
        found.append({"type": "thinking", "thinking": thought, "signature": signature})
    if reply.text:
        found.append({"type": "text", "text": reply.text})
    calls = named(request, reply, "toolu")
    return found + [{"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments} for call in calls]


def _thought(request: Request, reply: Reply) -> str:
    """A model that has to think does so, and its calls could not be sent back without it."""
    return reply.reasoning or ("Let me see." if reply.calls and thinking.thinks(request.body) else "")


def _opened(block: Json) -> Json:
    match block["type"]:
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case "text":
            return {"type": "text", "text": ""}
        case _:
            return block | {"input": {}}


def _deltas(block: Json) -> Iterator[Json]:
    match block["type"]:
        case "thinking":
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"]))
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "text":
            yield from ({"type": "text_delta", "text": piece} for piece in pieces(block["text"]))
        case _:
            data = encode(block["input"]).decode()
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in pieces(data))


def _event(name: str, **fields: object) -> bytes:
    return event({"type": name, **fields}, name)


def _message(request: Request, usage: Usage) -> Json:
    return {
        "id": f"msg_{request.number:06d}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "stop_sequence": None,
        "usage": _usage(usage),
    }


def _stop(reply: Reply) -> str:
    if reply.finish:
        return _STOPS.get(reply.finish, reply.finish)
    return "tool_use" if reply.calls else "end_turn"


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.prompt - usage.cached - usage.written,
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }
