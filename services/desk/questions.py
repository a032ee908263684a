"""The questions of rooms, as the desk decides on them and offers them to harnesses."""

import asyncio
from datetime import UTC, datetime, timedelta

from schemas.codec import decode_event
from schemas.commands import Answer, Command, CommandMessage
from schemas.events import QuestionPut
from schemas.question_asks import OfferedQuestion, QuestionAsk
from schemas.subjects import Address
from services.desk.core.commands import decide
from services.desk.core.questions import Questions, evolve
from services.desk.core.trust import trust_of
from services.desk.deciding import decided
from services.domain.decision import CommandContext
from services.kit.aggregate import Aggregate
from services.kit.asks import AskHandler
from services.kit.cache import Sessions
from services.kit.fact_watch import FactWatch
from services.kit.nouns import NounReader
from services.kit.room import Kit

NOUN = "question"
FACTS = f"log.*.*._.{NOUN}.*"
"""The facts about the questions of all projects."""


class QuestionDesk:
    """Decides on questions, and answers `ask.question` as soon as there is one."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        reader = NounReader(kit.reader, (NOUN,), catches_up=True)
        sessions = Sessions(reader, evolve, Questions(), kit.settings.loop.sessions)  # the state knows what is repeated
        self._questions = Aggregate(kit, sessions, guard=NOUN, catches_up=True)
        self._asks = AskHandler(kit, QuestionAsk, self._offered, lambda reason: OfferedQuestion(error=reason))
        self._watch = FactWatch(kit.bus, FACTS)
        self._is_closing = False

    @property
    def waiting(self) -> int:
        """The number of harnesses that wait for a question."""
        return len(self._watch)

    async def open(self) -> None:
        """Answer from here on."""
        await self._watch.open()
        self._kit.stack.callback(self._close)
        await self._asks.open()

    async def handle(self, address: Address, message: CommandMessage, command: Command) -> Answer:
        """Decide a command that came on this address: the questions are those of its project."""
        context = CommandContext(actor=message.actor, trust=trust_of(message.actor), now=datetime.now(UTC))
        return await decided(
            self._questions,
            self._kit.reader,
            Address(address.project),
            message,
            lambda questions: decide(questions, command, context),
        )

    async def _offered(self, ask: QuestionAsk) -> OfferedQuestion:
        """The oldest question that may be taken; it is waited for, until the deadline of the one who asks."""
        until, begun = datetime.now(UTC) + timedelta(milliseconds=ask.deadline_ms), frozenset(ask.begun)
        with self._watch.waiter(ask.project) as waiter:
            while True:
                questions = await self._questions.newest(Address(ask.project))
                now = datetime.now(UTC)
                for one in questions.offered(now, ask.taker, begun):
                    if (offered := await self._read(one.seq)) is not None:
                        return offered
                if now >= until or self._is_closing:
                    return OfferedQuestion()
                left = min(until, questions.next_free(now) or until) - now
                await waiter.wait(asyncio.get_running_loop().time() + left.total_seconds())

    async def _read(self, seq: int) -> OfferedQuestion | None:
        """The question at that position; none where its texts were erased."""
        envelope = await self._kit.reader.at(seq)
        event = decode_event(envelope) if envelope is not None else None
        if not isinstance(event, QuestionPut) or not event.prompt:
            return None
        return OfferedQuestion(
            event.question,
            event.model,
            event.system,
            event.prompt,
            event.output,
            event.origin,
            event.purpose,
            event.until,
        )

    def _close(self) -> None:
        """Let those go who wait."""
        self._is_closing = True
        self._watch.wake_all()
