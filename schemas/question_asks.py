"""The question of a harness that answers models' questions of the rooms, and the reply."""

from datetime import datetime
from typing import ClassVar

import msgspec

from schemas.ask import Ask, RequestReply
from schemas.numbers import Count, Wait


class QuestionAsk(Ask, frozen=True):
    """Is there a question for a model that nobody else has taken? The answer waits for one, until the deadline."""

    NAME: ClassVar[str] = "question"

    project: str
    harness: str
    """Its kind, by the name under which its events are sent."""
    taker: str
    """One id for each process of a harness. What was taken under it is offered to it again, as long as it is not
    answered: the answer to `question.take` may have been lost."""
    begun: list[str] = []
    """Questions that the process has begun to answer. While they are its own they are not offered to it again."""
    deadline_ms: Wait = 20_000
    """After this time the asker no longer listens."""


class OfferedQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.question`. Each open question is offered to all who ask; `question.take` says who has it."""

    question: str = ""
    """Its id; empty: there is none, ask again."""
    model: str = ""
    """`provider/model`, or `small`: whichever small model the harness has."""
    system: str = ""
    prompt: str = ""
    output: Count = 0
    """The most tokens of the answer."""
    session: str = ""
    """The session that it is asked for."""
    purpose: str = ""
    """The room that asks."""
    until: datetime | None = None
    """After this nobody takes it any more."""
    error: str = ""


QUESTION = RequestReply(QuestionAsk, OfferedQuestion, order=280)
