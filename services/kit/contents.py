"""Messages with their contents, read from the log."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from schemas.codec import decode_attachments, decode_event
from schemas.events import PartRecorded
from schemas.streams import BODIES
from schemas.subjects import Address
from services.domain.conversation import Conversation, Message
from services.domain.texts.content import Piece, RecordedMessage
from services.kit.bus import Bodies, Bus, LogReader, Missing


class Contents:
    """Reads the contents of messages that a conversation knows."""

    def __init__(self, bus: Bus, reader: LogReader) -> None:
        self._reader = reader
        self._bodies = Bodies(bus, BODIES)

    async def recorded(
        self, address: Address, conversation: Conversation, messages: Sequence[Message]
    ) -> tuple[RecordedMessage, ...]:
        """These messages, in their order, as they are recorded now."""
        wanted = {part.seq: name for message in messages for name, part in conversation.sent_parts(message)}
        pieces: dict[str, Piece] = {}
        async for seq, event in self._facts(address, sorted(wanted)):
            pieces[wanted[seq]] = await self._piece(event, conversation.parts[event.part].number)
        return tuple(_recorded_message(message, pieces) for message in messages)

    async def _facts(self, address: Address, seqs: Sequence[int]) -> AsyncGenerator[tuple[int, PartRecorded], None]:
        """The facts at these positions: read in one sweep, since they stand close together."""
        if not seqs:
            return
        wanted = frozenset(seqs)
        async with aclosing(self._reader.after(seqs[0] - 1, address.log(PartRecorded.TYPE))) as found:
            async for recorded in found:
                if recorded.envelope.seq in wanted:
                    event = decode_event(recorded.envelope)
                    if isinstance(event, PartRecorded):
                        yield recorded.envelope.seq, event
                if recorded.envelope.seq >= seqs[-1]:
                    return

    async def _piece(self, event: PartRecorded, number: int) -> Piece:
        return Piece(
            part=event.part,
            kind=event.kind,
            text=await self._body(event.text, event.text_ref),
            tool=event.tool,
            call=event.call,
            input=await self._body(event.input, event.input_ref),
            output=await self._body(event.output, event.output_ref),
            status=event.status,
            mime=event.mime,
            filename=event.filename,
            attachments=decode_attachments(event.attachments),
            number=number,
            ignored=event.ignored,
            synthetic=event.synthetic,
        )

    async def _body(self, text: str, reference: str) -> str:
        """A body that is gone is said to be so: what stands around it can still be read."""
        if not reference:
            return text
        try:
            return await self._bodies.get(reference)
        except Missing as error:
            return f"[{error}]"


def _recorded_message(message: Message, pieces: dict[str, Piece]) -> RecordedMessage:
    recorded = message.recorded
    return RecordedMessage(
        ordinal=message.ordinal,
        message=recorded.message,
        role=recorded.role,
        at=recorded.sent,
        pieces=tuple(pieces[name] for name in message.sent if name in pieces),
        synthetic=recorded.synthetic,
    )
