"""What was said, with its contents, from the log."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import islice

from schemas.codec import decode_event
from schemas.events import PartRecorded
from schemas.streams import BODIES
from schemas.subjects import Address
from services.kit.bus import Bodies, Bus, LogReader, Missing
from services.kit.conversation import Conversation, Message
from services.kit.history.said import Piece, Said

PAGE_BYTES = 8 * 1024 * 1024
"""Of contents that are held at once, as long as one message is not longer."""


class Contents:
    """Reads the contents of messages that a conversation knows."""

    def __init__(self, bus: Bus, reader: LogReader) -> None:
        self._reader = reader
        self._bodies = Bodies(bus, BODIES)

    async def said(self, address: Address, talk: Conversation, messages: Sequence[Message]) -> tuple[Said, ...]:
        """These messages, in their order, as they are recorded now."""
        wanted = {part.seq: name for message in messages for name, part in talk.sent_parts(message)}
        pieces: dict[str, Piece] = {}
        async for seq, event in self._recorded(address, sorted(wanted)):
            pieces[wanted[seq]] = await self._piece(event, talk.parts[event.part].number)
        return tuple(_said(message, pieces) for message in messages)

    async def _recorded(self, address: Address, seqs: Sequence[int]) -> AsyncGenerator[tuple[int, PartRecorded], None]:
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


def page(messages: Sequence[Message], talk: Conversation) -> Sequence[Message]:
    """As many of these, from the first on, as are well held at once."""
    size = 0
    for count, message in enumerate(messages):
        size += sum(part.recorded.bytes + part.recorded.input_bytes for _, part in talk.sent_parts(message))
        if size > PAGE_BYTES and count:
            return tuple(islice(messages, count))
    return messages


def _said(message: Message, pieces: dict[str, Piece]) -> Said:
    recorded = message.recorded
    return Said(
        ordinal=message.ordinal,
        message=recorded.message,
        role=recorded.role,
        at=recorded.sent,
        pieces=tuple(pieces[name] for name in message.sent if name in pieces),
        synthetic=recorded.synthetic,
    )
