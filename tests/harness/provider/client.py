"""A client that talks as the harnesses do: it keeps its messages and sends all of them each time."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec

from tests.harness.provider.content import Format, Json

PATHS: Mapping[Format, str] = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}
BREAKPOINT: Json = {"cache_control": {"type": "ephemeral"}}


class Response(msgspec.Struct):
    """An answer, put together from what came over the wire."""

    status: int = 200
    text: str = ""
    reasoning: str = ""
    signature: str = ""
    calls: dict[str, tuple[str, Any]] = {}
    """Tool and arguments, by the id of the call."""
    finish: str = ""
    usage: Json = {}
    error: Json = {}
    headers: dict[str, str] = {}

    @property
    def cached(self) -> int:
        details = self.usage.get("prompt_tokens_details", {})
        return int(details.get("cached_tokens", 0) or self.usage.get("cache_read_input_tokens", 0))


class Client:
    """One conversation. With `thinking`, in Anthropic's format, every answer has to begin with some."""

    def __init__(
        self,
        http: aiohttp.ClientSession,
        url: str,
        form: Format,
        *,
        session: str = "ses_1",
        parent: str = "",
        system: str = "You are a careful engineer.",
        tools: tuple[str, ...] = ("read", "bash"),
        stream: bool = True,
        thinking: bool = False,
    ) -> None:
        self.messages: list[Json] = []
        self.form, self.stream = form, stream
        self._http, self._url = http, url + PATHS[form]
        self._headers = {"x-session-id": session} | ({"x-parent-session-id": parent} if parent else {})
        self._system, self._tools, self._thinking = system, tools, thinking

    def add_message(self, text: str) -> None:
        content = text if self.form == "openai" else [{"type": "text", "text": text}]
        self.messages.append({"role": "user", "content": content})

    def answers(self, outputs: Mapping[str, str]) -> None:
        """The results of tools, by the id of the call."""
        if self.form == "openai":
            self.messages += [{"role": "tool", "tool_call_id": one, "content": text} for one, text in outputs.items()]
        else:
            blocks = [{"type": "tool_result", "tool_use_id": one, "content": text} for one, text in outputs.items()]
            self.messages.append({"role": "user", "content": blocks})

    async def asks(self) -> Response:
        """Send it all, and keep what is answered."""
        async with self._http.post(self._url, json=self.body(), headers=self._headers) as response:
            received = Response(status=response.status, headers=dict(response.headers))
            if received.status != 200:
                received.error = await response.json()
                return received
            if self.stream:
                async for event in _events(response):
                    (_read_chunk if self.form == "openai" else _read_event)(received, event)
            else:
                (_read_completion if self.form == "openai" else _read_message)(received, await response.json())
        self.messages.append(self._without_cache(received))
        return received

    def body(self) -> Json:
        if self.form == "openai":
            tools: list[Json] = [
                {"type": "function", "function": {"name": name, "parameters": {}}} for name in self._tools
            ]
            system: list[Json] = [{"role": "system", "content": self._system}]
            shared: Json = {"messages": system + self.messages, "stream_options": {"include_usage": True}}
        else:
            tools = [{"name": name, "input_schema": {"type": "object"}} for name in self._tools]
            marked = [*self.messages[:-2], *map(_marked, self.messages[-2:])]
            system = [{"type": "text", "text": self._system, **BREAKPOINT}]
            shared = {"messages": marked, "system": system, "max_tokens": 4096}
            shared |= {"thinking": {"type": "enabled", "budget_tokens": 1024}} if self._thinking else {}
        return shared | {"model": "scripted", "stream": self.stream} | ({"tools": tools} if tools else {})

    def _without_cache(self, received: Response) -> Json:
        if self.form == "openai":
            message: Json = {"role": "assistant", "content": received.text or None}
            if received.reasoning:
                message["reasoning_content"] = received.reasoning
            if received.calls:
                message["tool_calls"] = [_tool_call(one, *call) for one, call in received.calls.items()]
            return message
        blocks: list[Json] = []
        if received.reasoning:
            blocks.append({"type": "thinking", "thinking": received.reasoning, "signature": received.signature})
        if received.text:
            blocks.append({"type": "text", "text": received.text})
        calls = received.calls.items()
        blocks += [{"type": "tool_use", "id": one, "name": tool, "input": given} for one, (tool, given) in calls]
        return {"role": "assistant", "content": blocks}


def _tool_call(name: str, tool: str, arguments: object) -> Json:
    return {
        "id": name,
        "type": "function",
        "function": {"name": tool, "arguments": msgspec.json.encode(arguments).decode()},
    }


def _marked(message: Json) -> Json:
    *blocks, last = message["content"]
    return message | {"content": [*blocks, last | BREAKPOINT]}


async def _events(received: aiohttp.ClientResponse) -> AsyncIterator[Json]:
    async for line in received.content:
        if line.startswith(b"data: ") and line.strip() != b"data: [DONE]":
            yield msgspec.json.decode(line[6:])


def _read_chunk(received: Response, chunk: Json) -> None:
    received.usage = chunk.get("usage") or received.usage
    for choice in chunk["choices"]:
        delta = choice["delta"]
        received.text += delta.get("content") or ""
        received.reasoning += delta.get("reasoning_content") or ""
        received.finish = choice["finish_reason"] or received.finish
        for call in delta.get("tool_calls", ()):
            place = list(received.calls)
            if "id" in call:
                received.calls[call["id"]] = (call["function"]["name"], "")
            else:
                name = place[call["index"]]
                tool, arguments = received.calls[name]
                received.calls[name] = (tool, arguments + call["function"]["arguments"])
    if received.finish:
        received.calls = {
            name: (tool, msgspec.json.decode(given) if isinstance(given, str) else given)
            for name, (tool, given) in received.calls.items()
        }


def _read_event(received: Response, event: Json) -> None:
    match event:
        case {"type": "content_block_start", "content_block": {"type": "tool_use", "id": name, "name": tool}}:
            received.calls[name] = (tool, "")
        case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}:
            received.text += text
        case {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": text}}:
            received.reasoning += text
        case {"type": "content_block_delta", "delta": {"type": "signature_delta", "signature": signature}}:
            received.signature = signature
        case {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": piece}}:
            name = list(received.calls)[-1]
            tool, arguments = received.calls[name]
            received.calls[name] = (tool, arguments + piece)
        case {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage}:
            received.finish, received.usage = stop, usage
            received.calls = {
                name: (tool, msgspec.json.decode(given)) for name, (tool, given) in received.calls.items()
            }


def _read_completion(received: Response, body: Json) -> None:
    message = body["choices"][0]["message"]
    received.text, received.reasoning = message["content"] or "", message.get("reasoning_content", "")
    received.finish, received.usage = body["choices"][0]["finish_reason"], body["usage"]
    for call in message.get("tool_calls", ()):
        received.calls[call["id"]] = (call["function"]["name"], msgspec.json.decode(call["function"]["arguments"]))


def _read_message(received: Response, body: Json) -> None:
    received.finish, received.usage = body["stop_reason"], body["usage"]
    for block in body["content"]:
        match block:
            case {"type": "thinking", "thinking": text, "signature": signature}:
                received.reasoning, received.signature = text, signature
            case {"type": "text", "text": text}:
                received.text = text
            case {"type": "tool_use", "id": name, "name": tool, "input": given}:
                received.calls[name] = (tool, given)


@asynccontextmanager
async def connected() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as http:
        yield http
