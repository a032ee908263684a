"""The rooms that a prompt passes, in memory: a harness with its log, and the historian's rules next to it.

History is made behind each decision, as while a model takes seconds for its answer. So the same session makes the same
prompts each time, on whatever machine.
"""

from collections.abc import Sequence
from datetime import datetime

from schemas.asks import Plan
from schemas.commands import Answer, Command
from schemas.envelope import Actor, Envelope
from schemas.events import Event, HistoryRequested, PartRecorded
from schemas.inbox import ErrorSeen, MessageSeen, Seen, StepSeen, UsageSeen
from services.domain.conversation import Message, Part
from services.domain.limits import Limits
from services.domain.texts.content import Piece, RecordedMessage, piece_of, recorded_message
from services.domain.transcript.reader import page, read, whole
from services.edges.client.adapter import ServedCall
from services.historian.core.context_pressure import HistoryLimits
from services.historian.core.publish import SignedSummary, closing, is_another_generation, published, unread
from services.historian.core.rules.summary import summarise
from services.historian.core.state import HistorianSession as Historian
from services.historian.core.state import evolve
from services.historian.core.summary import RULES
from services.historian.core.triggers import due
from services.historian.writers.base import BUDGET
from services.plan.lanes import LANES
from tests.helpers.harness import ADDRESS, Harness, edits_of

HISTORY = HistoryLimits()


class HouseInMemory(Harness):
    """A session with all lanes, whose history the rules keep ready."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits, LANES)
        self._historian = Historian()

    def _recorded(self, event: Event) -> Envelope:
        envelope = super()._recorded(event)
        self._historian = evolve(self._historian, event, envelope)
        return envelope

    def saw(self, *messages: MessageSeen) -> None:
        """Messages come as they are written, before a step lists them."""
        self.report(*messages)
        self._reported.update({message.message: message for message in messages})

    def compress(self) -> None:
        """Do what is due, until nothing is."""
        while (request := due(self._historian, self.limits, HISTORY, now=self.now)) is not None:
            self.append(request)
            while isinstance(request, HistoryRequested) and self._historian.request is not None:
                for event in self._part_of(request):
                    self.append(event)

    def _part_of(self, request: HistoryRequested) -> Sequence[Event]:
        """The next part of a job."""
        state = self._historian
        left = unread(state, request, max(state.reached, request.first - 1))
        ends = left if is_another_generation(state, request) else whole(left, state.conversation)
        pages = [self._read(message, state) for message in page(ends, state.conversation)]
        chunk = read(pages, BUDGET)
        if not chunk.messages:
            return closing(state, request)
        return published(state, request, ADDRESS, chunk, SignedSummary(summarise(chunk, state.directory), RULES))

    def _read(self, message: Message, state: Historian) -> RecordedMessage:
        pieces = {name: self._piece(part) for name, part in state.conversation.sent_parts(message)}
        return recorded_message(message, pieces, is_subagent=state.is_subagent)

    def _piece(self, part: Part) -> Piece:
        _, recorded = self.log[part.seq - 1]
        assert isinstance(recorded, PartRecorded)
        return piece_of(recorded, part.number)


class KeeperInMemory:
    """Who keeps the context of a played session small, with the face of an adapter."""

    def __init__(self, limits: Limits) -> None:
        self._house = HouseInMemory(limits)

    async def publish(self, _name: str, at: datetime, /, *items: Seen) -> None:
        self._report(at, *items)

    async def saw(self, *messages: MessageSeen) -> None:
        self._house.saw(*messages)

    async def answered(self, usage: UsageSeen, at: datetime, /) -> None:
        self._report(at, usage)

    async def refused(self, text: str, at: datetime, /) -> None:
        self._report(at, ErrorSeen(text=text, name="ContextOverflowError", status=400))

    async def step(self, step: StepSeen, messages: Sequence[MessageSeen], at: datetime, /) -> ServedCall:
        """What the model is sent at this step."""
        house = self._house
        house.now = at
        house.messages = list(messages)
        house.mode, house.agent, house.model = step.mode, step.agent, step.model
        house.context_limit, house.output_limit = step.context_limit, step.output_limit
        house.capabilities = step.capabilities
        call = house.step()
        house.compress()
        plan = Plan("ready", pass_=call.made.kind)
        return ServedCall(step.step, call.served, plan, 0.0, call.causes, len(edits_of(call.made)))

    async def send(self, _name: str, _command: Command, _at: datetime, _actor: Actor, /) -> Answer:
        return Answer(ok=False, text="There is no desk in memory: play an agent that asks for nothing.")

    def _report(self, at: datetime, *items: Seen) -> None:
        self._house.now = at
        self._house.report(*items)
        self._house.compress()

    @property
    def log(self) -> Sequence[tuple[Envelope, Event]]:
        """All facts, in their order."""
        return self._house.log
