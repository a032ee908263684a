"""Builds the messages of a recording that writes calls of tools and their results on lines of their own."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from schemas.inbox import MessageSeen, PartKind, PartSeen, Role, ToolStatus, UsageSeen
from services.edges.client.readers.common import ReadMessage, arguments

UNKNOWN_TOOL = "unknown"
"""The tool of a result whose call is not in the recording."""


class MessageBuilder:
    """Collects messages in the order of a recording; a result goes into the part of its call.

    Recordings that were masked may give many calls one id: a result belongs to the newest call that has none yet.
    """

    def __init__(self) -> None:
        self._messages: list[tuple[MessageSeen, list[PartSeen]]] = []
        self._usage: dict[int, UsageSeen] = {}
        self._newest_answer: int | None = None
        """The place of the newest message of an assistant."""
        self._open: dict[str, list[tuple[list[PartSeen], int]]] = {}

    def message(
        self,
        role: Role,
        at: datetime | None,
        *,
        name: str = "",
        provider: str = "",
        model: str = "",
        synthetic: bool = False,
    ) -> None:
        """Begin a message: parts go into it until the next one begins."""
        seen = MessageSeen(name, role, at=at, provider=provider, model=model, synthetic=synthetic)
        self._messages.append((seen, []))
        if role == "assistant":
            self._newest_answer = len(self._messages) - 1

    def text(self, text: str, kind: PartKind = "text", *, ignored: bool = False, synthetic: bool = False) -> None:
        """Add words to the newest message; without any there is no part."""
        if text.strip():
            self.part(PartSeen(message="", type=kind, text=text, ignored=ignored, synthetic=synthetic))

    def part(self, part: PartSeen) -> None:
        parts = self._messages[-1][1]
        parts.append(msgspec.structs.replace(part, position=len(parts)))

    def call(self, tool: str, call: str, given: Any) -> None:  # noqa: ANN401 - whatever the model passed
        """Add a call of a tool to the newest message."""
        self.part(PartSeen(message="", type="tool", tool=tool, call=call, input=_json(given), status="pending"))
        parts = self._messages[-1][1]
        self._open.setdefault(call, []).append((parts, len(parts) - 1))

    def result(self, call: str, output: str, status: ToolStatus, at: datetime | None) -> None:
        """Put a result into its call."""
        if not self._open.get(call):
            self.message("assistant", at)
            self.call(UNKNOWN_TOOL, call, None)
        parts, place = self._open[call].pop()
        parts[place] = msgspec.structs.replace(parts[place], output=output, status=status)

    def usage(self, usage: UsageSeen) -> None:
        """Note what the provider counted for the newest answer; before the first answer there is nothing to count."""
        if self._newest_answer is not None and usage != UsageSeen("", input=0):
            self._usage[self._newest_answer] = usage

    def messages(self) -> Iterator[ReadMessage]:
        for at, (message, parts) in enumerate(self._messages):
            yield ReadMessage(msgspec.structs.replace(message, parts=tuple(parts)), self._usage.get(at))


def _json(given: Any) -> str:  # noqa: ANN401 - whatever the model passed
    """Write arguments as JSON; a text that is JSON already stays as it is."""
    if isinstance(given, str):
        try:
            msgspec.json.decode(given)
        except ValueError:
            return arguments({"input": given})
        return given
    return arguments(given)
