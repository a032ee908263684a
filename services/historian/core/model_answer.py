"""The shape of a model's answer to a transcript, and what it was shown of that."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

import msgspec

from services.domain.texts.bounds import flat
from services.domain.texts.content import person_texts, task_texts
from services.domain.transcript.blocks import atoms
from services.domain.transcript.reader import Chunk


class Compartment(msgspec.Struct, frozen=True):
    """A span of messages, in four tiers from the fullest to the shortest."""

    start: int
    end: int
    title: str
    importance: int
    p1: str
    p2: str
    p3: str
    p4: str = ""
    episode: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return f"{self.start}-{self.end}"


class AnswerFact(msgspec.Struct, frozen=True):
    """Something that may hold beyond the session."""

    category: str
    text: str
    evidence: tuple[int, ...] = ()


class Happening(msgspec.Struct, frozen=True):
    """A turn that the work took, at a message."""

    kind: str
    at: int
    fields: Mapping[str, str]


class Output(msgspec.Struct, frozen=True):
    """The whole answer."""

    compartments: tuple[Compartment, ...]
    facts: tuple[AnswerFact, ...] = ()
    events: tuple[Happening, ...] = ()
    user_observations: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    unprocessed_from: int | None = None


class Bounds(msgspec.Struct, frozen=True):
    """The bounds of what was shown to the model."""

    ordinals: tuple[int, ...]
    """Of the messages, ascending; removed ones leave holes."""
    tool_only: tuple[tuple[int, int], ...] = ()
    """Ranges without a text: tool calls only."""
    tokens: int = 0
    """Of the transcript."""
    previous_last: int = 0
    """The ordinal of the last message in the compartments before; 0: there are none."""
    requests: tuple[str, ...] = ()
    """The texts that a person wrote, one by one: their lines, without blanks around and between."""
    tasks: tuple[str, ...] = ()
    """The same of the agent that started the session."""
    arcs: tuple[tuple[int, int], ...] = ()
    """Messages that belong together, from a call to its result, where these stand in several messages."""

    @property
    def first(self) -> int:
        return self.ordinals[0]

    @property
    def last(self) -> int:
        return self.ordinals[-1]

    def between(self, left: int, right: int) -> Sequence[int]:
        """The messages behind the one and before the other."""
        return self.ordinals[bisect_right(self.ordinals, left) : bisect_left(self.ordinals, right)]


def bounds(chunk: Chunk, previous_last: int) -> Bounds:
    joined = ((atom[0].ordinal, atom[-1].ordinal) for atom in atoms(chunk.recorded))
    return Bounds(
        ordinals=tuple(ordinal for ordinal, _ in chunk.ordinals),
        tool_only=chunk.tool_only,
        tokens=chunk.tokens,
        previous_last=previous_last,
        requests=tuple(_lines(text) for one in chunk.recorded for text in person_texts(one)),
        tasks=tuple(_lines(text) for one in chunk.recorded for text in task_texts(one)),
        arcs=tuple((first, last) for first, last in joined if first < last),
    )


def _lines(text: str) -> str:
    return "\n".join(filter(None, map(flat, text.splitlines())))
