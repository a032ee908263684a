"""Facts about parts of messages."""

from typing import ClassVar

from schemas.events.base import Event, LogOnly


class PartRecorded(Event, frozen=True):
    """A part of a message was seen, or its content changed. Secrets are masked."""

    TYPE: ClassVar[str] = "part.recorded"

    message: str
    part: str
    kind: str
    """text, reasoning, file, tool (call and result in one), tool_call, tool_result or compaction."""
    position: int = 0
    """Index in the message's full list of parts."""
    tool: str = ""
    call: str = ""
    owner: str = ""
    """The message that made the call: with `call` it identifies a tool use, since call ids come back."""
    status: str = ""
    mime: str = ""
    filename: str = ""
    signed: bool = False
    ignored: bool = False
    synthetic: bool = False
    bytes: int = 0
    """UTF-8 length of the text or the output."""
    input_bytes: int = 0
    tokens: int = 0
    """Estimate of what the part costs in a prompt, attachments included."""
    attachments: str = ""
    """The attachments that a tool returned in addition to its text, as JSON: a list as in the inbox."""
    attachment_tokens: int = 0
    """The tokens of `attachments`, which are among `tokens`."""
    digest: str = ""
    """Of the content as the harness holds it: another digest is another content."""
    text: LogOnly = ""
    input: LogOnly = ""
    output: LogOnly = ""
    text_ref: str = ""
    """sha256 of a body in its bucket, where the text is too long for a message. The same for the two below."""
    input_ref: str = ""
    output_ref: str = ""
    provenance: str = ""
    """Of a text in a user's message: `typed`, if the harness vouches that a person has typed it; `typed_quoted`, if the
    harness has put the whole of what was typed into quotation marks; `replaced`, if it took the place of another text;
    `added`, if it came when the message had been sent. Empty: the harness's word."""


class PartRemoved(Event, frozen=True):
    """A part was deleted in the harness."""

    TYPE: ClassVar[str] = "part.removed"

    message: str
    part: str


EVENTS: tuple[type[Event], ...] = (PartRecorded, PartRemoved)
