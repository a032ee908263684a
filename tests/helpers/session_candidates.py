"""Candidates for memory in recorded sessions, with ids that reveal nothing of their texts."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from schemas.inbox import MessageSeen
from services.domain.texts.content import Piece, RecordedMessage, person_texts
from services.domain.tools.call import TOOLS, call_of
from services.edges.client.readers import read
from services.memory.candidates import JudgedCandidate, from_agent, from_call, from_person


def candidates(paths: Iterable[Path]) -> dict[str, JudgedCandidate]:
    """Each candidate of these recordings by its id, over the project and the words."""
    return {
        name_of(path.name.split("__")[0], found.text): found
        for path in paths
        for transcript in read(path)
        for message in transcript.messages
        for found in of_message(message)
    }


def name_of(project: str, text: str) -> str:
    return sha256(f"{project}\n{text}".encode()).hexdigest()[:12]


def pieces_of(message: MessageSeen) -> tuple[Piece, ...]:
    """The parts of a message, as a reader of history has them."""
    return tuple(
        Piece(
            part=part.part,
            kind=part.type,
            text=part.text,
            tool=part.tool,
            call=part.call,
            input=part.input,
            output=part.output,
            status=part.status,
            ignored=part.ignored,
            synthetic=part.synthetic,
        )
        for part in message.parts
    )


def of_message(message: MessageSeen) -> Iterator[JudgedCandidate]:
    """What could be remembered of a message, whatever the gate says of it."""
    pieces = pieces_of(message)
    for text in person_texts(
        RecordedMessage(1, message.message, message.role, pieces=pieces, synthetic=message.synthetic)
    ):
        yield from from_person(text)
    for piece in pieces:
        if piece.kind == "text" and message.role == "assistant":
            yield from from_agent(piece.text)
        elif piece.kind in TOOLS:
            yield from from_call(call_of(piece))
