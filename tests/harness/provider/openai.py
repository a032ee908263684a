"""OpenAI's chat completions: a reply as one answer, or as a stream of them."""

from tests.harness.provider.content import Json, encode
from tests.harness.provider.frames import Answer, event, named, pieces
from tests.harness.provider.script import Call, Reply
from tests.harness.provider.wire import Request, Usage

PATH = "/v1/chat/completions"


def whole(request: Request, reply: Reply, usage: Usage) -> Json:
    calls = [_call(call) for call in named(request, reply, "call")]
    message: Json = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    return _envelope(request, "chat.completion") | {"choices": [choice], "usage": _usage(reply, usage)}


def streamed(request: Request, reply: Reply, usage: Usage) -> Answer:
    deltas = _deltas(request, reply)
    head = [_chunk(request, {"role": "assistant", "content": ""}), *(_chunk(request, one) for one in deltas[:1])]
    rest = [_chunk(request, one) for one in deltas[1:]]
    rest.append(_chunk(request, {}, _finish(reply)))
    options = request.body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        envelope = _envelope(request, "chat.completion.chunk")
        rest.append(event(envelope | {"choices": [], "usage": _usage(reply, usage)}))
    return Answer(head, [*rest, b"data: [DONE]\n\n"])


def _deltas(request: Request, reply: Reply) -> list[Json]:
    found: list[Json] = [{"reasoning_content": piece} for piece in pieces(reply.reasoning)]
    found += [{"content": piece} for piece in pieces(reply.text)]
    for place, call in enumerate(named(request, reply, "call")):
        function = {"name": call.tool, "arguments": ""}
        found.append({"tool_calls": [{"index": place, "id": call.id, "type": "function", "function": function}]})
        found += [
            {"tool_calls": [{"index": place, "function": {"arguments": piece}}]} for piece in pieces(_arguments(call))
        ]
    return found


def _call(call: Call) -> Json:
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": _arguments(call)}}


def _arguments(call: Call) -> str:
    return encode(call.arguments).decode()


def _finish(reply: Reply) -> str:
    return reply.finish or ("tool_calls" if reply.calls else "stop")


def _envelope(request: Request, kind: str) -> Json:
    return {"id": f"chatcmpl-{request.number}", "object": kind, "created": int(request.at), "model": request.model}


def _chunk(request: Request, delta: Json, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event(_envelope(request, "chat.completion.chunk") | {"choices": [choice]})


def _usage(reply: Reply, usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": min(usage.output, len(reply.reasoning.encode()) // 4)},
    }
