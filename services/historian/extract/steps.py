"""Messages as steps: what a person asked, what the agent told, and what it did."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from services.kit.history import reader
from services.kit.history.blocks import atoms
from services.kit.history.calls import TOOLS, Call, call
from services.kit.history.clean import cleaned
from services.kit.history.said import Piece, Said

MOST = 60_000
"""Characters of one text that are looked at; of what is longer the beginning and the end."""


class Step(msgspec.Struct, frozen=True):
    """Messages that cannot be parted: mostly one, or those from a tool's call to its result."""

    first: int
    last: int
    at: datetime | None = None
    asked: tuple[str, ...] = ()
    """What a person wrote."""
    moves: tuple[str | Call, ...] = ()
    """What the agent wrote and did, in its order."""
    thought: tuple[str, ...] = ()
    """What it said only to itself."""
    tokens: int = 0
    """Estimate of the messages as they are."""

    @property
    def told(self) -> tuple[str, ...]:
        """What the agent wrote."""
        return tuple(one for one in self.moves if isinstance(one, str))

    @property
    def calls(self) -> tuple[Call, ...]:
        """What it did."""
        return tuple(one for one in self.moves if isinstance(one, Call))


def steps(said: Sequence[Said]) -> tuple[Step, ...]:
    return tuple(_step(atom) for atom in atoms(said))


def bounded(text: str) -> str:
    """A text without its middle where it is very long."""
    return text if len(text) <= MOST else f"{text[: MOST * 3 // 4]}\n{text[-MOST // 4 :]}"


def _step(atom: Sequence[Said]) -> Step:
    asked: list[str] = []
    moves: list[str | Call] = []
    thought: list[str] = []
    answers = {piece.call: piece for one in atom for piece in one.pieces if piece.kind == "tool_result"}
    for one in atom:
        for piece in one.pieces:
            if piece.ignored:
                continue
            if piece.kind in TOOLS:
                moves += _called(piece, answers)
            elif piece.kind == "text" and one.role == "assistant":
                moves += [bounded(piece.text)] if piece.text.strip() else []
            elif piece.kind == "reasoning":
                thought.append(bounded(piece.text))
            elif piece.kind == "text" and one.role == "user" and not (one.synthetic or piece.synthetic):
                asked.append(bounded(cleaned(piece.text)))
    return Step(
        first=atom[0].ordinal,
        last=atom[-1].ordinal,
        at=atom[0].at,
        asked=tuple(text for text in asked if text.strip()),
        moves=tuple(moves),
        thought=tuple(text for text in thought if text.strip()),
        tokens=reader.cost(atom),
    )


def _called(piece: Piece, answers: dict[str, Piece]) -> list[Call]:
    """A call with its result, once: a result with a call in sight says nothing by itself."""
    if piece.kind == "tool_result":
        return []
    answer = answers.get(piece.call) if piece.kind == "tool_call" else None
    output, status = (answer.output or answer.text, answer.status) if answer else (piece.output, piece.status)
    return [call(msgspec.structs.replace(piece, output=bounded(output), status=status))]
