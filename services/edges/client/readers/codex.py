"""Codex's recorded sessions: what the model was sent and answered, line by line, between events for the screen."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from schemas.inbox import PartSeen, SessionSeen, ToolStatus, UsageSeen
from services.edges.client.readers.builder import MessageBuilder
from services.edges.client.readers.common import moment, texts, transcripts
from services.edges.client.transcript import Transcript

NAME = "Codex (~/.codex/sessions/**/rollout-*.jsonl)"

_FAILED = re.compile(r"^(?:Exit code: [1-9]|.*exited with code [1-9])|\"exit_code\": ?[1-9]", re.MULTILINE)
_BEGINNING = 400
"""Characters of an output in which Codex says how a command ended."""
_CALLS = {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"}
_RESULTS = {"function_call_output", "custom_tool_call_output", "tool_search_output"}
_PUT_IN = ("<", "# AGENTS.md instructions")
"""The beginnings of texts that Codex itself sends in the person's name."""


class _TokenCount(msgspec.Struct):
    """The tokens that the provider counted for one answer; cached ones are in the input, reasoning in the output."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_output_tokens: int = 0


class _UsageOfCall(msgspec.Struct):
    """The tokens that were counted so far, and for the newest answer."""

    last_token_usage: _TokenCount | None = None


class _Payload(msgspec.Struct):
    """The content of a line, of any type."""

    type: str = ""
    id: str | None = None
    cwd: str = ""
    cli_version: str = ""
    model: str | None = None
    model_provider: str | None = None
    source: Any = None
    role: str = ""
    content: Any = None
    summary: Any = None
    name: str | None = None
    call_id: str | None = None
    arguments: Any = None
    input: Any = None
    action: Any = None
    output: Any = None
    message: Any = None
    info: _UsageOfCall | None = None
    replacement_history: Any = None


class _Line(msgspec.Struct):
    """One line of the file."""

    type: str = ""
    timestamp: str | None = None
    payload: _Payload | None = None


def knows(keys: set[str]) -> bool:
    """Whether the first JSON object of a file has the keys of this format."""
    return {"timestamp", "type", "payload"} <= keys


def read(data: bytes) -> Iterator[Transcript]:
    lines = list(_lines(data))
    first = next((payload for kind, _, payload in lines if kind == "session_meta"), _Payload())
    parent = _parent(first.source)
    seen = SessionSeen(
        parent=parent,
        directory=first.cwd,
        version=first.cli_version,
        mode="subagent" if parent else "primary",
    )
    yield from transcripts("codex", first.id or "codex", seen, _Reading(lines, first.model_provider or "").messages())


def _lines(data: bytes) -> Iterator[tuple[str, str | None, _Payload]]:
    decoder = msgspec.json.Decoder(_Line)
    for text in data.splitlines():
        try:
            line = decoder.decode(text)
        except ValueError:
            # Codex may be writing the last line, and kinds of lines come and go with its versions.
            continue
        if line.payload is not None:
            yield line.type, line.timestamp, line.payload


def _parent(source: Any) -> str:  # noqa: ANN401 - a name, or an object with one key for each kind
    """Find the session that started this one as its sub-agent."""
    at = source
    for key in ("subagent", "thread_spawn", "parent_thread_id"):
        at = at.get(key) if isinstance(at, dict) else None
    return at if isinstance(at, str) else ""


class _Reading:
    """One pass over the lines.

    An answer of the model goes from what was sent to the next result of a tool; behind that begins the next answer.
    """

    def __init__(self, lines: list[tuple[str, str | None, _Payload]], provider: str) -> None:
        self._lines = lines
        self._provider = provider
        self._model = ""
        self._built = MessageBuilder()
        self._answering = False
        typed = (
            payload.message for kind, _, payload in lines if kind == "event_msg" and payload.type == "user_message"
        )
        self._typed = {text.strip() for text in typed if isinstance(text, str)}

    def messages(self) -> Iterator[Any]:
        for kind, at, payload in self._lines:
            match kind:
                case "turn_context":
                    self._model = payload.model or self._model
                case "event_msg" if payload.type == "token_count" and payload.info is not None:
                    self._count(payload.info.last_token_usage)
                case "compacted":
                    self._compacted(payload, at)
                case "response_item":
                    self._item(payload, at)
                case _:
                    pass  # only for the screen
        return self._built.messages()

    def _item(self, item: _Payload, at: str | None) -> None:
        if item.type == "message":
            self._message(item, at)
        elif item.type == "reasoning":
            text = texts(item.summary) or texts(item.content)
            if text:
                self._answer(at)
                self._built.text(text, "reasoning")
        elif item.type in _CALLS:
            self._answer(at)
            given = next((one for one in (item.arguments, item.input, item.action) if one is not None), None)
            self._built.call(item.name or item.type.removesuffix("_call"), item.call_id or item.id or "", given)
            if item.type == "web_search_call":  # the provider itself runs it, and records no result
                self._built.result(item.call_id or item.id or "", "", "completed", moment(at))
        elif item.type in _RESULTS:
            output, status = _result(item.output)
            self._built.result(item.call_id or "", output, status, moment(at))
            self._answering = False

    def _message(self, item: _Payload, at: str | None) -> None:
        if item.role == "assistant":
            self._answer(at, item.id or "")
            self._built.text(texts(item.content))
            return
        self._answering = False
        blocks = item.content if isinstance(item.content, list) else [item.content]
        typed = [item.role == "user" and self._is_typed(texts(block)) for block in blocks]
        self._built.message("user" if item.role == "user" else "system", moment(at), synthetic=not any(typed))
        for block, by_person in zip(blocks, typed, strict=True):
            self._built.text(texts(block), synthetic=not by_person)
            url = block.get("image_url") if isinstance(block, dict) else None
            if isinstance(url, str):
                self._built.part(PartSeen(message="", type="file", text=url, mime=_mime(url)))

    def _is_typed(self, text: str) -> bool:
        """Whether a person wrote it: Codex records that as an event, too; older versions did not."""
        return text.strip() in self._typed if self._typed else not text.lstrip().startswith(_PUT_IN)

    def _answer(self, at: str | None, name: str = "") -> None:
        if not self._answering:
            self._built.message("assistant", moment(at), name=name, provider=self._provider, model=self._model)
            self._answering = True

    def _compacted(self, payload: _Payload, at: str | None) -> None:
        replaced = payload.replacement_history if isinstance(payload.replacement_history, list) else []
        history = "\n\n".join(filter(None, (texts(one.get("content")) for one in replaced if isinstance(one, dict))))
        self._answering = False
        self._built.message("system", moment(at), synthetic=True)
        self._built.text((payload.message if isinstance(payload.message, str) else "") or history, "compaction")

    def _count(self, counted: _TokenCount | None) -> None:
        if counted is not None:
            self._built.usage(
                UsageSeen(
                    "",
                    input=max(0, counted.input_tokens - counted.cached_input_tokens),
                    output=max(0, counted.output_tokens - counted.reasoning_output_tokens),
                    reasoning=counted.reasoning_output_tokens,
                    cache_read=counted.cached_input_tokens,
                )
            )


def _result(output: Any) -> tuple[str, ToolStatus]:  # noqa: ANN401 - a text, a list of blocks, or an object
    """The words of a result and how the call ended, as far as it says."""
    failed = isinstance(output, dict) and output.get("success") is False
    text = texts(output)
    return text, "error" if failed or _FAILED.search(text[:_BEGINNING]) else "completed"


def _mime(url: str) -> str:
    """The media type that a data url names; an address names none."""
    return url[len("data:") :].partition(";")[0] if url.startswith("data:") else ""
