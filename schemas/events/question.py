"""Facts about questions that rooms have for a model, and that a harness of the project answers with its own logins."""

from datetime import datetime
from typing import ClassVar

from schemas.events.base import Event, LogOnly


class QuestionPut(Event, frozen=True):
    """A room asks whichever harness of the project runs now."""

    TYPE: ClassVar[str] = "question.put"

    question: str
    purpose: str
    """The room that asks."""
    model: str
    """`provider/model`, or `small`: whichever small model the harness has."""
    system: LogOnly
    prompt: LogOnly
    output: int
    """The most tokens of the answer."""
    until: datetime
    """After this nobody takes it any more."""
    origin: str = ""
    """The session that it is asked for."""


class QuestionTaken(Event, frozen=True):
    """A harness answers this question, so that no other one does."""

    TYPE: ClassVar[str] = "question.taken"

    question: str
    taker: str
    """A process of a harness."""
    until: datetime
    """After this another one may take it."""


class QuestionAnswered(Event, frozen=True):
    """The harness that took a question has answered it, or reports why it cannot."""

    TYPE: ClassVar[str] = "question.answered"

    question: str
    taker: str
    text: LogOnly = ""
    failure: str = ""
    """`busy`, `refused`, `aborted`, `empty`, `overflow`, `timeout`, or a sentence; empty: there is an answer."""
    model: str = ""
    """The one that answered, as `provider/model`."""
    tokens_in: int = 0
    """As the harness counts them; 0: it does not know. So are the others."""
    tokens_out: int = 0
    cached: int = 0
    usd: float = 0.0
    origin: str = ""
    """The session that it was asked for."""


class QuestionWithdrawn(Event, frozen=True):
    """The room that asked no longer waits for an answer, or could not use the one that came."""

    TYPE: ClassVar[str] = "question.withdrawn"

    question: str
    reason: str = ""


EVENTS: tuple[type[Event], ...] = (QuestionPut, QuestionTaken, QuestionAnswered, QuestionWithdrawn)
