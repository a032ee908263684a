"""Plays one recorded session through an adapter, a model call at a time."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

import msgspec

from schemas.commands import Answer, Command, DropQueue
from schemas.envelope import Actor
from schemas.inbox import Capability, MessageSeen, PartSeen, Seen, SessionIdle, StepSeen, UsageSeen
from schemas.subjects import Address
from services.domain.edits import ServedMessage, ServedPart
from services.domain.tokens import tokens
from services.edges.client import cost
from services.edges.client.adapter import ServedCall, as_sent
from services.edges.client.changes import argument_texts, edits
from services.edges.client.provider import Provider, ReceivedCall, part_tokens
from services.edges.client.recall import AgentOutput, CallRecall, Recall, VisibleText
from services.edges.client.transcript import Transcript
from services.kit.bus import Unreachable

START = datetime(2026, 1, 1, tzinfo=UTC)
PACE = timedelta(seconds=1)
"""Between messages of a recording that has no times."""
DEFAULT_LIMIT = 200_000
OUTPUT_LIMIT = 4_096
"""Tokens of the longest answer, where a recording does not say."""
ATTEMPTS = 3
"""The attempts of a call that is refused, before it has failed."""
CAPABILITIES: tuple[Capability, ...] = ("caches_exact_prefix", "accepts_empty_content")
CLEAN_UP_EVERY = 10
"""Calls between two clean-ups of the tidy agent."""
NEWEST_TAGS = 30
"""The newest tags that the tidy agent still needs."""
LARGE = 2000
"""Bytes from which an output is worth dropping."""

_TAG = re.compile(r"§(\d+)§ ")


class Keeper(Protocol):
    """The one who limits the context: an installation, by its adapter, or the harness alone."""

    async def publish(self, name: str, at: datetime, /, *items: Seen) -> None: ...

    async def saw(self, *messages: MessageSeen) -> None: ...

    async def answered(self, usage: UsageSeen, at: datetime, /) -> None: ...

    async def refused(self, text: str, at: datetime, /) -> None: ...

    async def step(self, step: StepSeen, messages: Sequence[MessageSeen], at: datetime, /) -> ServedCall: ...

    async def send(self, name: str, command: Command, at: datetime, actor: Actor, /) -> Answer: ...


class Played(msgspec.Struct, frozen=True):
    """One model call of a session that was played."""

    step: str
    messages: int
    pass_: str
    causes: tuple[str, ...]
    edits: int
    received: ReceivedCall
    raw_tokens: int
    """Estimated tokens without any plan."""
    served_tokens: int
    """The same of what was served."""
    seconds: float
    status: str
    recall: CallRecall
    refused: int = 0
    """The number of times that the provider refused it."""
    aside: int = 0
    """Tokens, in and out, of calls outside the conversation."""
    owed: tuple[str, ...] = ()
    """Causes of rebases that only calls have brought that failed."""

    @property
    def cost(self) -> float:
        """See `cost.units`; what would have to be looked at again is not in it."""
        return cost.units(self.received.tokens, self.received.cached_tokens, self.aside)

    @property
    def failed(self) -> bool:
        """Whether the call never came through."""
        return self.received.refused

    @property
    def is_unexplained(self) -> bool:
        """Whether what was sent before changed without a rebase that says why."""
        return self.received.changed and not (self.causes or self.owed)


class PlayedSession(msgspec.Struct, frozen=True):
    """A session that was played."""

    address: Address
    transcript: Transcript
    steps: tuple[Played, ...]
    tags: int
    """The highest tag that the agent saw."""
    dropped: int
    """Tags that the agent asked to drop."""
    refused: tuple[str, ...] = ()


class Player:
    """Plays a transcript. `watch` hears of every step."""

    def __init__(
        self,
        keeper: Keeper,
        address: Address,
        transcript: Transcript,
        *,
        tidy: bool,
        limit: int,
        overhead: int = cost.OVERHEAD,
    ) -> None:
        self._keeper = keeper
        self._address = address
        self._transcript = transcript
        self._agent = TidyAgent() if tidy else None
        self._limit = limit or DEFAULT_LIMIT
        self._provider = Provider(self._limit, overhead)
        self._recall = Recall(transcript.seen.directory)
        self._texts = PromptTexts()
        self._tags = 0
        self._dropped = 0
        self._raw_tokens = 0
        self._counted = 0
        self._owed: tuple[str, ...] = ()
        self._refused: list[str] = []

    async def play(
        self,
        watch: Callable[[Played], None],
        *,
        start: int = 1,
        pause: Callable[[], Awaitable[None]] | None = None,
    ) -> PlayedSession:
        """Make the calls whose answers stand at `start` or later; what is before comes with the first of them.

        `pause` is made behind each call: the time that a model would have taken for its answer.
        """
        messages = _with_times(self._transcript.messages)
        await self._keeper.publish("session", messages[0].at or START, self._transcript.seen)
        steps: list[Played] = []
        for index, message in enumerate(messages):
            if message.role != "assistant" or index < start:
                continue
            played = await self._call(messages[:index], message, len(steps))
            steps.append(played)
            watch(played)
            if pause is not None:
                await pause()
            if index + 1 < len(messages) and _ends_a_turn(message):
                await self._keeper.publish("idle", message.at or START, SessionIdle())
        return PlayedSession(
            self._address, self._transcript, tuple(steps), self._tags, self._dropped, tuple(self._refused)
        )

    async def _call(self, messages: list[MessageSeen], answer: MessageSeen, number: int) -> Played:
        """One model call: what was there before the answer is sent, then the provider's count is reported."""
        at = max(messages[-1].at or START, (answer.at or START) - PACE)
        step = StepSeen(
            step=f"{answer.message}.{number}",
            mode=self._transcript.seen.mode,
            agent=answer.agent,
            provider=answer.provider,
            model=answer.model or "unknown",
            context_limit=self._limit,
            output_limit=OUTPUT_LIMIT,
            capabilities=CAPABILITIES,
        )
        fresh = messages[self._counted :]
        self._raw_tokens += sum(raw_tokens(message) for message in fresh)
        self._counted = len(messages)
        served, received, refused = await self._sent(step, messages, at)
        recall = self._recall.call(
            self._texts.of(served.messages), texts_by_agent(answer), texts_for_agent(fresh), prompt=received.tokens
        )
        await self._keeper.saw(answer)
        if not received.refused:
            await self._keeper.answered(received.usage(answer.message, output_tokens(answer)), answer.at or at)
        self._tags = max(self._tags, newest_tag(served.messages[-1:]))
        await self._tidy(served, answer.at or at, number)
        owed, self._owed = self._owed, (*self._owed, *served.causes) if received.refused else ()
        return Played(
            step=served.step,
            messages=len(messages),
            pass_=served.plan.pass_,
            causes=served.causes,
            edits=served.edits,
            received=received,
            raw_tokens=self._raw_tokens,
            served_tokens=sum(_served_tokens(message) for message in served.messages),
            seconds=served.seconds,
            status=served.plan.status,
            recall=recall,
            refused=refused,
            aside=served.aside,
            owed=owed,
        )

    async def _sent(
        self, step: StepSeen, messages: list[MessageSeen], at: datetime
    ) -> tuple[ServedCall, ReceivedCall, int]:
        """The call as it came through in the end, or failed; what it was served by, and how often it was refused."""
        served = await self._keeper.step(step, messages, at)
        received = self._provider.receive(served.messages, at)
        refused = int(received.refused)
        while received.refused and refused < ATTEMPTS:
            await self._keeper.refused(received.refusal, at)
            again = await self._keeper.step(msgspec.structs.replace(step, step=f"{step.step}~{refused}"), messages, at)
            received = self._provider.receive(again.messages, at)
            refused += received.refused
            served = again.joined(served)
        return served, received, refused

    async def _tidy(self, served: ServedCall, at: datetime, number: int) -> None:
        wanted = self._agent.after(served.messages) if self._agent else None
        if wanted is None:
            return
        try:
            answer = await self._keeper.send(f"drop/{number}", wanted, at, Actor("agent"))
        except Unreachable as error:
            self._refused.append(str(error))
            return
        if answer.ok:
            self._dropped += _count(wanted)
        else:
            self._refused.append(answer.text)


def _ends_a_turn(answer: MessageSeen) -> bool:
    """Whether an agent waits for a person after this: it has called no tool."""
    return not any(part.type in ("tool", "tool_call") for part in answer.parts)


def _count(command: DropQueue) -> int:
    return command.drop.count(",") + 1


def _served_tokens(message: ServedMessage) -> int:
    return sum(map(part_tokens, message.parts))


def raw_tokens(message: MessageSeen) -> int:
    """Estimated tokens of a message as the harness holds it."""
    return _served_tokens(as_sent(message))


def output_tokens(answer: MessageSeen) -> int:
    """Estimated tokens that a model has written: thoughts, words and arguments."""
    return sum(tokens(len((part.text + part.input).encode())) for part in answer.parts if not part.ignored)


def _with_times(messages: tuple[MessageSeen, ...]) -> list[MessageSeen]:
    """The messages with a time for each; those without get one a second behind the one before."""
    timed = []
    at = START
    for message in messages:
        at = message.at or at + PACE
        timed.append(msgspec.structs.replace(message, at=at))
    return timed


class TidyAgent:
    """An agent that drops, by tag, the large old outputs that it can see, as a model would with `ctx_reduce`."""

    def __init__(self) -> None:
        self._calls = 0
        self._asked: set[int] = set()

    def after(self, messages: Sequence[ServedMessage]) -> DropQueue | None:
        """The order to drop outputs after this call; None: there is nothing to be rid of."""
        self._calls += 1
        if self._calls % CLEAN_UP_EVERY:
            return None
        tagged = list(_tagged(messages))
        newest = newest_tag(messages)
        old = [
            number
            for number, part in tagged
            if number <= newest - NEWEST_TAGS and len(part.output) >= LARGE and number not in self._asked
        ]
        self._asked.update(old)
        return DropQueue(",".join(map(str, sorted(old)))) if old else None


def newest_tag(messages: Sequence[ServedMessage]) -> int:
    """The highest tag that can be seen in these."""
    return max((number for number, _ in _tagged(messages)), default=0)


def _tagged(messages: Sequence[ServedMessage]) -> Iterator[tuple[int, ServedPart]]:
    for message in messages:
        for part in message.parts:
            found = _TAG.match(part.output or part.text)
            if found:
                yield int(found[1]), part


class PromptTexts:
    """All texts of a prompt, message by message; the texts of a message are cached until it changes."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[ServedMessage, tuple[str, ...]]] = {}

    def of(self, messages: Sequence[ServedMessage]) -> tuple[str, ...]:
        return tuple(text for message in messages for text in self._of(message))

    def _of(self, message: ServedMessage) -> tuple[str, ...]:
        known = self._read.get(message.id)
        if known is None or known[0] != message:
            known = self._read[message.id] = (message, tuple(_texts(message)))
        return known[1]


def _texts(message: ServedMessage) -> Iterator[str]:
    for part in message.parts:
        yield from filter(None, (part.text, *(argument_texts(part.input) if part.input else ()), part.output))


def texts_by_agent(answer: MessageSeen) -> AgentOutput:
    """The output of an agent: its words and the arguments of its calls, not its thoughts."""
    parts = [part for part in answer.parts if not part.ignored]
    words = [part.text for part in parts if part.type == "text"]
    inputs = [part.input for part in parts if part.input]
    arguments = [text for one in inputs for text in argument_texts(one)]
    return AgentOutput(answer.message, (*words, *arguments), tuple(edit for one in inputs for edit in edits(one)))


def texts_for_agent(messages: Iterable[MessageSeen]) -> Iterator[VisibleText]:
    """The texts that these show to the agent: all but its own words."""
    for message in messages:
        for part in message.parts:
            text = _shows(message, part)
            if text and not part.ignored:
                yield VisibleText(part.part, text)


def _shows(message: MessageSeen, part: PartSeen) -> str:
    return part.output or (part.text if message.role != "assistant" or part.type == "compaction" else "")
