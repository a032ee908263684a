"""A conversation with its contents, as it is read for a summary or shown again."""

from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec

from schemas.codec import decode_attachments
from schemas.events import PartRecorded
from schemas.inbox import Attachment
from services.domain.conversation import Message
from services.domain.texts.bounds import bounded
from services.domain.texts.clean import cleaned

TYPED = "typed"
"""The provenance of a text that a person typed, as the harness vouches."""
TYPED_QUOTED = "typed_quoted"
"""The provenance of such a text that the harness put into quotation marks: OpenCode does it with the words of `run`."""
LATE = frozenset({"replaced", "added"})
"""The provenance of texts that came into a person's message when that had been sent: no words of a person."""


def is_typed(event: PartRecorded) -> bool:
    """Whether the harness vouches that a person typed the text."""
    return event.provenance in (TYPED, TYPED_QUOTED)


def words_of_author(event: PartRecorded) -> str:
    """The text as its author wrote it: without the quotation marks that only the harness put around it."""
    return _unquoted(event.text) if event.provenance == TYPED_QUOTED else event.text


def _unquoted(text: str) -> str:
    is_whole = len(text) > 1 and text.startswith('"') and text.endswith('"')
    return text[1:-1].replace('\\"', '"') if is_whole else text


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
    mime: str = ""
    filename: str = ""
    """Of a file, as the one before."""
    attachments: tuple[Attachment, ...] = ()
    """The attachments that a tool returned in addition to its text."""
    number: int = 0
    """Its tag; 0: none."""
    ignored: bool = False
    synthetic: bool = False
    """Whether the harness wrote it, not a person."""
    is_late: bool = False
    """Whether it came into a person's message later, or replaced what was there: nobody knows whose it is."""
    is_typed: bool = False
    """Whether the harness vouches that a person typed it."""
    is_quoted: bool = False
    """Whether the harness has put the whole of what was typed into quotation marks."""

    @property
    def words(self) -> str:
        """The text as its author wrote it."""
        return _unquoted(self.text) if self.is_quoted else self.text


class RecordedMessage(msgspec.Struct, frozen=True):
    """A message in its place."""

    ordinal: int
    message: str
    role: str
    at: datetime | None = None
    pieces: tuple[Piece, ...] = ()
    synthetic: bool = False
    is_task: bool = False
    """Whether the agent that started this session wrote it: a message of the role `user`, and no person's words."""


def piece_of(event: PartRecorded, number: int) -> Piece:
    """A part as recorded, with its tag. What the log holds by reference is empty."""
    return Piece(
        part=event.part,
        kind=event.kind,
        text=event.text,
        tool=event.tool,
        call=event.call,
        input=event.input,
        output=event.output,
        status=event.status,
        mime=event.mime,
        filename=event.filename,
        attachments=decode_attachments(event.attachments),
        number=number,
        ignored=event.ignored,
        synthetic=event.synthetic or event.provenance in LATE,
        is_late=event.provenance in LATE,
        is_typed=is_typed(event),
        is_quoted=event.provenance == TYPED_QUOTED,
    )


def recorded_message(message: Message, pieces: Mapping[str, Piece], *, is_subagent: bool = False) -> RecordedMessage:
    """A message in its place with those of its parts that the harness sends.

    `is_subagent`: another agent has started the session, so that its messages of the role `user` are that agent's.
    """
    recorded = message.recorded
    return RecordedMessage(
        ordinal=message.ordinal,
        message=recorded.message,
        role=recorded.role,
        at=recorded.sent,
        pieces=tuple(pieces[name] for name in message.sent if name in pieces),
        synthetic=recorded.synthetic,
        is_task=is_subagent and recorded.role == "user",
    )


def person_texts(message: RecordedMessage) -> Iterator[str]:
    """The texts that a person wrote in this message, without what a harness or we ourselves have put around them."""
    if not message.is_task:
        yield from _written(message)


def task_texts(message: RecordedMessage) -> Iterator[str]:
    """Texts in this message by the agent that started this session, likewise."""
    if message.is_task:
        yield from _written(message)


def _written(message: RecordedMessage) -> Iterator[str]:
    if message.role != "user" or message.synthetic:
        return
    for piece in message.pieces:
        if piece.kind == "text" and not (piece.ignored or piece.synthetic) and (text := bounded(cleaned(piece.words))):
            yield text
