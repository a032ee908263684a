"""Messages as steps: a person's request, the agent's answer, and its actions."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from services.domain.texts.bounds import bounded
from services.domain.texts.content import Piece, RecordedMessage, person_texts, task_texts
from services.domain.tools.call import TOOLS, Call, call_of
from services.domain.transcript import reader
from services.domain.transcript.blocks import atoms


class Step(msgspec.Struct, frozen=True):
    """Messages that cannot be parted: mostly one, or those from a tool's call to its result."""

    first: int
    last: int
    at: datetime | None = None
    requests: tuple[str, ...] = ()
    """The texts of a person, or of the agent that started the session."""
    is_task: bool = False
    """Whether that agent wrote them."""
    moves: tuple[str | Call, ...] = ()
    """The texts and calls of the agent, in order."""
    thought: tuple[str, ...] = ()
    """Its reasoning."""
    tokens: int = 0
    """Estimate of the messages as they are."""

    @property
    def of_person(self) -> tuple[str, ...]:
        """The texts that a person wrote."""
        return () if self.is_task else self.requests

    @property
    def reports(self) -> tuple[str, ...]:
        """The texts of the agent."""
        return tuple(one for one in self.moves if isinstance(one, str))

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls of the agent."""
        return tuple(one for one in self.moves if isinstance(one, Call))


def steps(recorded: Sequence[RecordedMessage]) -> tuple[Step, ...]:
    return tuple(_step(atom) for atom in atoms(recorded))


def _step(atom: Sequence[RecordedMessage]) -> Step:
    requests: list[str] = []
    moves: list[str | Call] = []
    thought: list[str] = []
    answers = {piece.call: piece for one in atom for piece in one.pieces if piece.kind == "tool_result"}
    for one in atom:
        requests += [*person_texts(one), *task_texts(one)]
        for piece in one.pieces:
            if piece.ignored:
                continue
            if piece.kind in TOOLS:
                moves += _called(piece, answers)
            elif piece.kind == "text" and one.role == "assistant":
                moves += [bounded(piece.text)] if piece.text.strip() else []
            elif piece.kind == "reasoning":
                thought.append(bounded(piece.text))
    return Step(
        first=atom[0].ordinal,
        last=atom[-1].ordinal,
        at=atom[0].at,
        requests=tuple(requests),
        is_task=any(one.is_task for one in atom),
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
    return [call_of(msgspec.structs.replace(piece, output=output, status=status))]
