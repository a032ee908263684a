"""The desk's aggregate of the questions that rooms have for a model, and that harnesses of the project answer.

Only the newest are in memory, and of each only the positions of its facts: the texts are in the log.
"""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta

import msgspec

from schemas.envelope import Envelope
from schemas.events import Event, QuestionAnswered, QuestionPut, QuestionTaken, QuestionWithdrawn
from schemas.question_commands import QuestionAnswer, QuestionRequest, QuestionTake, QuestionWithdraw
from services.desk.core.spending import MOST_TOKENS, MOST_USD
from services.domain.command import HARNESSES, ROOMS, AddressKind, command
from services.domain.decision import CommandContext, Decision
from services.domain.fold import Map

replace = msgspec.structs.replace

MOST_OPEN = 64
"""Open questions of a project."""
LEASE = timedelta(seconds=180)
"""For so long a question is its taker's."""
MEMORY = timedelta(days=7)
"""For so long it is remembered that a question was answered, so that it need not be paid for once more."""
MOST_NAME = 200
"""Characters of an id, or of the name of a model."""
MOST_TEXT = 400_000
"""Characters of an answer."""
MOST_FAILURE = 2_000
"""Characters of the reason why there is none."""
ASK_AGAIN = "ask for another one with `ask.question`"
OF_ROOMS = "a harness answers what `ask.question` offers"
OF_HARNESSES = "a harness sends it on the subject of one of its sessions"


class OpenQuestion(msgspec.Struct, frozen=True):
    """A question that is not answered yet."""

    seq: int
    """Its position in the log."""
    until: datetime
    origin: str = ""
    taker: str = ""
    taken_until: datetime | None = None
    taken_seq: int = 0

    def holder(self, now: datetime) -> str:
        """The taker who may still answer before others; empty: nobody."""
        return self.taker if self.taken_until is not None and self.taken_until > now else ""


class ClosedQuestion(msgspec.Struct, frozen=True):
    """A question that nobody is to take any more."""

    seq: int
    """The position of the answer, or that it was withdrawn."""
    until: datetime
    taker: str = ""
    is_withdrawn: bool = False
    is_usable: bool = False
    """Whether there is an answer."""


class Questions(msgspec.Struct, frozen=True):
    """The questions of a project."""

    open: Map[str, OpenQuestion] = Map()
    closed: Map[str, ClosedQuestion] = Map()

    def offered(self, now: datetime, taker: str = "", begun: AbstractSet[str] = frozenset()) -> Iterator[OpenQuestion]:
        """Questions that a taker may take, the oldest first: also its own, except those that it began to answer."""
        free = (
            one
            for name, one in self.open.items()
            if one.until > now and (not (holder := one.holder(now)) or (holder == taker and name not in begun))
        )
        return iter(sorted(free, key=lambda one: one.seq))

    def next_free(self, now: datetime) -> datetime | None:
        """When the next question that somebody has taken becomes free again; none: there is none."""
        taken = (one.taken_until for one in self.open.values() if one.taken_until and one.holder(now))
        return min(taken, default=None)


def evolve(questions: Questions, event: Event, envelope: Envelope) -> Questions:
    seq = envelope.seq
    match event:
        case QuestionPut(question=name, until=until, origin=origin):
            before = questions.open.get(name) or OpenQuestion(seq, until)
            put = replace(before, seq=seq, until=until, origin=origin)
            both = Questions(questions.open.insert(name, put), questions.closed.discard(name))
            return _bounded(both, until, envelope.at)
        case QuestionTaken(question=name, taker=taker, until=until) if free := questions.open.get(name):
            taken = replace(free, taker=taker, taken_until=until, taken_seq=seq)
            return replace(questions, open=questions.open.insert(name, taken))
        case QuestionAnswered(question=name, taker=taker, failure=failure) if known := questions.open.get(name):
            closed = ClosedQuestion(seq, known.until, taker, is_usable=not failure)
            return Questions(questions.open.discard(name), questions.closed.insert(name, closed))
        case QuestionWithdrawn(question=name) if either := questions.open.get(name) or questions.closed.get(name):
            closed = ClosedQuestion(seq, either.until, is_withdrawn=True)
            return Questions(questions.open.discard(name), questions.closed.insert(name, closed))
        case _:
            return questions


def _bounded(questions: Questions, newest: datetime, now: datetime) -> Questions:
    """Questions without those that a new one, open until `newest`, has made old: first those that are over."""
    opened, closed = questions.open, questions.closed
    for name, _ in sorted(opened.items(), key=lambda item: (item[1].until <= now, -item[1].seq))[MOST_OPEN:]:
        opened = opened.discard(name)
    for name, one in questions.closed.items():
        if one.until < newest - MEMORY:
            closed = closed.discard(name)
    return Questions(opened, closed)


@command(
    QuestionRequest,
    on=Questions,
    sent_by=ROOMS,
    writes=(QuestionPut,),
    address=AddressKind.PROJECT_FOR_SESSION,
    remedy=OF_ROOMS,
)
def put(questions: Questions, command: QuestionRequest, context: CommandContext) -> Decision:
    """Ask, unless the same question is open or has an answer. What nobody could answer may be asked once more."""
    wrong = _wrong_id(command.question) or ("it is over already" if command.until <= context.now else "")
    if wrong:
        return Decision(ok=False, text=f"Nothing was asked: {wrong}.")
    closed, known = questions.closed.get(command.question), questions.open.get(command.question)
    if closed is not None and closed.is_usable:
        return Decision(ok=True, text="This was answered before.", seq=closed.seq)
    if known is not None and (known.holder(context.now) or known.until >= command.until):
        return Decision(ok=True, text="This was asked before, and is not answered yet.", seq=known.seq)
    waiting = sum(one.until > context.now for name, one in questions.open.items() if name != command.question)
    if waiting >= MOST_OPEN:
        return Decision(
            ok=False, text=f"Nothing was asked: {waiting} questions of this project wait already; ask again later."
        )
    event = QuestionPut(
        question=command.question,
        purpose=command.purpose,
        model=command.model,
        system=command.system,
        prompt=command.prompt,
        output=command.output,
        until=command.until,
        origin=command.session,
    )
    return Decision(ok=True, text="Asked.", events=(event,))


@command(
    QuestionTake,
    on=Questions,
    sent_by=HARNESSES,
    writes=(QuestionTaken,),
    address=AddressKind.SESSION,
    for_subagents=True,
    remedy=OF_HARNESSES,
)
def take(questions: Questions, command: QuestionTake, context: CommandContext) -> Decision:
    """Give a question to whoever comes first, for as long as `LEASE`."""
    wrong = "" if 0 < len(command.taker) <= MOST_NAME else f"a taker needs an id of 1 to {MOST_NAME} characters"
    if wrong:
        return Decision(ok=False, text=f"Nothing was taken: {wrong}.")
    known = questions.open.get(command.question)
    if known is None:
        return Decision(ok=False, text=f"Nothing was taken: {_closed(questions, command.question)}; {ASK_AGAIN}.")
    if known.until <= context.now:
        return Decision(ok=False, text=f"Nothing was taken: the time for this question is over; {ASK_AGAIN}.")
    holder = known.holder(context.now)
    if holder == command.taker:
        return Decision(ok=True, text="You have taken this already: answer it.", seq=known.taken_seq)
    if holder:
        return Decision(ok=False, text=f"Nothing was taken: another harness was faster; {ASK_AGAIN}.")
    until = context.now + LEASE
    event = QuestionTaken(question=command.question, taker=command.taker, until=until)
    return Decision(ok=True, text=f"Taken: answer it until {until:%H:%M:%S} UTC.", events=(event,))


@command(
    QuestionAnswer,
    on=Questions,
    sent_by=HARNESSES,
    writes=(QuestionAnswered,),
    address=AddressKind.SESSION,
    for_subagents=True,
    remedy=OF_HARNESSES,
)
def answer(questions: Questions, command: QuestionAnswer, _: CommandContext) -> Decision:
    """Store an answer, once, from whoever has taken the question last: also a late one, since it was paid for."""
    closed, known = questions.closed.get(command.question), questions.open.get(command.question)
    if closed is not None and not closed.is_withdrawn and closed.taker == command.taker:
        return Decision(ok=True, text="You have answered this already.", seq=closed.seq)
    if known is None:
        return Decision(ok=False, text=f"Nothing was stored: {_closed(questions, command.question)}; {ASK_AGAIN}.")
    if not known.taker or known.taker != command.taker:
        return Decision(ok=False, text=f"Nothing was stored: only who has taken a question may answer it; {ASK_AGAIN}.")
    wrong = _wrong_answer(command)
    if wrong:
        return Decision(ok=False, text=f"Nothing was stored: {wrong}.")
    event = QuestionAnswered(
        question=command.question,
        taker=command.taker,
        text=command.text,
        failure=command.failure,
        model=command.model,
        tokens_in=command.tokens_in,
        tokens_out=command.tokens_out,
        cached=command.cached,
        usd=command.usd,
        origin=known.origin,
    )
    return Decision(ok=True, text="Stored.", events=(event,))


@command(
    QuestionWithdraw,
    on=Questions,
    sent_by=ROOMS,
    writes=(QuestionWithdrawn,),
    address=AddressKind.PROJECT,
    remedy=OF_ROOMS,
)
def withdraw(questions: Questions, command: QuestionWithdraw, _: CommandContext) -> Decision:
    """Withdraw a question: nobody answers it any more, and it may be asked again where its answer could not be used."""
    closed = questions.closed.get(command.question)
    if closed is not None and closed.is_withdrawn:
        return Decision(ok=True, text="This was withdrawn before.", seq=closed.seq)
    if closed is None and command.question not in questions.open:
        return Decision(ok=False, text="Nothing was withdrawn: this question is not known.")
    event = QuestionWithdrawn(question=command.question, reason=command.reason)
    return Decision(ok=True, text="Withdrawn.", events=(event,))


def _closed(questions: Questions, name: str) -> str:
    closed = questions.closed.get(name)
    if closed is None:
        return "this question is not known, or no longer"
    return "this question was withdrawn" if closed.is_withdrawn else "this question is answered already"


def _wrong_id(name: str) -> str:
    return "" if 0 < len(name) <= MOST_NAME else f"a question needs an id of 1 to {MOST_NAME} characters"


def _wrong_answer(command: QuestionAnswer) -> str:
    if len(command.text) > MOST_TEXT:
        return (
            f"the answer has {len(command.text):,} characters, and at most {MOST_TEXT:,} are stored; "
            "report `overflow` as its failure, without a text"
        )
    if len(command.failure) > MOST_FAILURE or len(command.model) > MOST_NAME:
        return f"a failure has at most {MOST_FAILURE:,} characters, and the name of a model {MOST_NAME}; send less"
    counts = (command.tokens_in, command.tokens_out, command.cached)
    if not all(0 <= one <= MOST_TOKENS for one in counts) or not 0.0 <= command.usd <= MOST_USD:
        return f"{max(counts):,} tokens and {command.usd} USD are no amounts that a call can have"
    return ""
