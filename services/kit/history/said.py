"""A conversation with its contents, as it is read for a summary or shown again."""

from datetime import datetime

import msgspec


class Piece(msgspec.Struct, frozen=True):
    """A part of a message with what it holds."""

    part: str
    kind: str
    """As in the log: text, reasoning, file, tool (call and result in one), tool_call, tool_result or compaction."""
    text: str = ""
    tool: str = ""
    call: str = ""
    input: str = ""
    """The arguments as JSON."""
    output: str = ""
    status: str = ""
    number: int = 0
    """Its tag; 0: none."""
    ignored: bool = False
    synthetic: bool = False
    """Whether the harness wrote it, not a person."""


class Said(msgspec.Struct, frozen=True):
    """A message in its place."""

    ordinal: int
    message: str
    role: str
    at: datetime | None = None
    pieces: tuple[Piece, ...] = ()
    synthetic: bool = False
