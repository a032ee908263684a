"""The shapes of Claude Code's session log: its lines, messages and content blocks."""

from typing import Any

import msgspec


class TokenUsage(msgspec.Struct):
    """The tokens that the provider counted."""

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0


class MediaSource(msgspec.Struct):
    """The place of an image or a document."""

    media_type: str = ""
    data: str = ""
    url: str = ""


class ContentBlock(msgspec.Struct):
    """One content block of a message, of any type."""

    type: str
    text: str = ""
    thinking: str = ""
    signature: str | None = None
    id: str = ""
    name: str = ""
    input: Any = None
    tool_use_id: str = ""
    content: "str | list[ContentBlock] | None" = None
    is_error: bool | None = None
    source: MediaSource | None = None


class ApiMessage(msgspec.Struct):
    """The message, in the shape of the API."""

    content: str | list[ContentBlock] | None = None
    id: str = ""
    model: str = ""
    usage: TokenUsage | None = None


class LineOrigin(msgspec.Struct, rename="camel"):
    """The original of a line that was copied."""

    session_id: str = ""


class LogLine(msgspec.Struct, rename="camel"):
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
    message: ApiMessage | str | None = None
    content: Any = None
    forked_from: LineOrigin | None = None
    leaf_uuid: str | None = None
    summary: str | None = None
    ai_title: str | None = None
    custom_title: str | None = None

    @property
    def as_message(self) -> ApiMessage | None:
        """The message that the line adds to the conversation; None: it adds none."""
        if self.type in {"user", "assistant"} and isinstance(self.message, ApiMessage):
            return self.message
        if self.type == "system" and self.subtype == "local_command" and isinstance(self.content, str):
            return ApiMessage(self.content)
        return None

    @property
    def name(self) -> str:
        """The message it belongs to: the API writes an answer in several lines with one id."""
        answer = self.as_message.id if self.as_message and self.type == "assistant" else ""
        return answer or self.uuid

    @property
    def blocks(self) -> list[ContentBlock]:
        content = self.as_message.content if self.as_message else None
        return [ContentBlock("text", text=content)] if isinstance(content, str) else content or []
