"""Messages with their contents, read from the log."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from schemas.events import PartRecorded
from schemas.streams import BODIES
from schemas.subjects import Address
from services.domain.conversation import Conversation, Message
from services.domain.texts.content import Piece, RecordedMessage, piece_of, recorded_message
from services.kit.bus import Bodies, Bus, LogReader, Missing


class Contents:
    """Reads the contents of messages that a conversation knows."""

    def __init__(self, bus: Bus, reader: LogReader) -> None:
        self._reader = reader
        self._bodies = Bodies(bus, BODIES)

    async def recorded(
        self,
        address: Address,
        conversation: Conversation,
        messages: Sequence[Message],
        *,
        is_subagent: bool = False,
    ) -> tuple[RecordedMessage, ...]:
        """Messages in their order, as they are recorded now. `is_subagent`: an agent has started the session."""
        wanted = {part.seq: name for message in messages for name, part in conversation.sent_parts(message)}
        pieces: dict[str, Piece] = {}
        async for seq, event in self._facts(address, sorted(wanted)):
            pieces[wanted[seq]] = await self._piece(event, conversation.parts[event.part].number)
        return tuple(recorded_message(message, pieces, is_subagent=is_subagent) for message in messages)

    async def _facts(self, address: Address, seqs: Sequence[int]) -> AsyncGenerator[tuple[int, PartRecorded], None]:
        """The facts at these positions: read in one sweep, since they stand close together."""
        if not seqs:
            return
        wanted = frozenset(seqs)
        async with aclosing(self._reader.after(seqs[0] - 1, address.log(PartRecorded.TYPE))) as found:
            async for record in found:
                if record.envelope.seq in wanted and isinstance(record.event, PartRecorded):
                    yield record.envelope.seq, record.event
                if record.envelope.seq >= seqs[-1]:
                    return

    async def _piece(self, event: PartRecorded, number: int) -> Piece:
        return replace(
            piece_of(event, number),
            text=await self._body(event.text, event.text_ref),
            input=await self._body(event.input, event.input_ref),
            output=await self._body(event.output, event.output_ref),
        )

    async def _body(self, text: str, reference: str) -> str:
        """A body that is gone is replaced by a sentence about that: the text around it can still be read."""
        if not reference:
            return text
        try:
            return await self._bodies.get(reference)
        except Missing as error:
            return f"[{error}]"
