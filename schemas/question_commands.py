"""The commands about questions that harnesses answer, next to the others of `schemas.commands`."""

from typing import ClassVar

from schemas.commands import Command
from schemas.envelope import Moment
from schemas.numbers import Amount, Count


class QuestionRequest(Command, frozen=True):
    """A room has a question for a model, which a harness of the project may answer. The same question twice is one."""

    TYPE: ClassVar[str] = "question.put"

    question: str
    """An id that the room makes of what it asks."""
    purpose: str
    """The room."""
    model: str
    """`provider/model`, or `small`: whichever small model the harness has."""
    system: str
    prompt: str
    output: Count
    """The most tokens of the answer."""
    until: Moment
    """After this nobody takes it any more."""
    session: str = ""
    """The session that it is asked for."""


class QuestionTake(Command, frozen=True):
    """A harness is about to answer a question. The first one has it, for 180 s; meanwhile all others are refused."""

    TYPE: ClassVar[str] = "question.take"

    question: str
    taker: str
    """One id for each process of a harness."""
    session: str = ""


class QuestionAnswer(Command, frozen=True):
    """The answer of the harness that took a question, or why it has none."""

    TYPE: ClassVar[str] = "question.answer"

    question: str
    taker: str
    text: str = ""
    failure: str = ""
    """`busy`, `refused`, `aborted`, `empty`, `overflow`, `timeout`, or a sentence; empty: there is an answer."""
    model: str = ""
    """The one that answered, as `provider/model`."""
    tokens_in: Count = 0
    """As the harness counts them; 0: it does not know. So are the others."""
    tokens_out: Count = 0
    cached: Count = 0
    usd: Amount = 0.0
    session: str = ""


class QuestionWithdraw(Command, frozen=True):
    """A room no longer waits for an answer, or could not use the one that came."""

    TYPE: ClassVar[str] = "question.withdraw"

    question: str
    reason: str = ""
