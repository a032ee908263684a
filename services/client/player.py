"""Plays one recorded session through an adapter, a model call at a time."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import msgspec

from schemas.commands import DropQueue
from schemas.envelope import Actor
from schemas.inbox import Capability, MessageSeen, StepSeen
from schemas.subjects import Address
from services.client.adapter import Adapter, Served
from services.client.agent import TidyAgent, newest_tag
from services.client.provider import Provider, Received
from services.client.transcript import Transcript
from services.kit.bus import Unreachable
from services.kit.edits import Message
from services.kit.tokens import tokens

START = datetime(2026, 1, 1, tzinfo=UTC)
PACE = timedelta(seconds=1)
"""Between messages of a recording that has no times."""
DEFAULT_LIMIT = 200_000
CAPABILITIES: tuple[Capability, ...] = ("caches_exact_prefix", "accepts_empty_content")


class Played(msgspec.Struct, frozen=True):
    """One model call of a session that was played."""

    step: str
    messages: int
    pass_: str
    causes: tuple[str, ...]
    edits: int
    received: Received
    raw_tokens: int
    """Estimated tokens without any plan."""
    served_tokens: int
    """The same of what was served."""
    seconds: float
    status: str

    @property
    def is_unexplained(self) -> bool:
        """Whether what was sent before changed without a rebase that says why."""
        return self.received.changed and not self.causes


class Session(msgspec.Struct, frozen=True):
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

    def __init__(self, adapter: Adapter, address: Address, transcript: Transcript, *, tidy: bool, limit: int) -> None:
        self._adapter = adapter
        self._address = address
        self._transcript = transcript
        self._agent = TidyAgent() if tidy else None
        self._limit = limit or DEFAULT_LIMIT
        self._provider = Provider()
        self._tags = 0
        self._dropped = 0
        self._raw_tokens = 0
        self._counted = 0
        self._refused: list[str] = []

    async def play(self, watch: Callable[[Played], None], *, start: int = 1) -> Session:
        """Make the calls whose answers stand at `start` or later; what is before comes with the first of them."""
        messages = _with_times(self._transcript.messages)
        await self._adapter.say("session", messages[0].at or START, self._transcript.seen)
        steps: list[Played] = []
        for index, message in enumerate(messages):
            if message.role != "assistant" or index < start:
                continue
            played = await self._call(messages[:index], message, len(steps))
            steps.append(played)
            watch(played)
        return Session(self._address, self._transcript, tuple(steps), self._tags, self._dropped, tuple(self._refused))

    async def _call(self, messages: list[MessageSeen], answer: MessageSeen, number: int) -> Played:
        """One model call: what was there before the answer is sent, then the provider's count is told."""
        at = max(messages[-1].at or START, (answer.at or START) - PACE)
        step = StepSeen(
            step=f"{answer.message}.{number}",
            mode=self._transcript.seen.mode,
            agent=answer.agent,
            provider=answer.provider,
            model=answer.model or "unknown",
            context_limit=self._limit,
            capabilities=CAPABILITIES,
        )
        self._raw_tokens += sum(raw_tokens(message) for message in messages[self._counted :])
        self._counted = len(messages)
        served = await self._adapter.step(step, messages, at)
        received = self._provider.receive(served.messages, at)
        await self._adapter.saw(answer)
        await self._adapter.answered(received.usage(answer.message), answer.at or at)
        self._tags = max(self._tags, newest_tag(served.messages[-1:]))
        await self._tidy(served, answer.at or at, number)
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
        )

    async def _tidy(self, served: Served, at: datetime, number: int) -> None:
        wanted = self._agent.after(served.messages) if self._agent else None
        if wanted is None:
            return
        try:
            answer = await self._adapter.wish(f"drop/{number}", wanted, at, Actor("agent"))
        except Unreachable as error:
            self._refused.append(str(error))
            return
        if answer.ok:
            self._dropped += _count(wanted)
        else:
            self._refused.append(answer.text)


def _count(command: DropQueue) -> int:
    return command.drop.count(",") + 1


def _served_tokens(message: Message) -> int:
    return sum(tokens(len((part.text + part.output + part.input).encode())) for part in message.parts)


def raw_tokens(message: MessageSeen) -> int:
    """Estimated tokens of a message as the harness holds it."""
    return sum(
        tokens(len((part.text + part.output + part.input).encode())) for part in message.parts if not part.ignored
    )


def _with_times(messages: tuple[MessageSeen, ...]) -> list[MessageSeen]:
    """The messages with a time for each; those without get one a second behind the one before."""
    timed = []
    at = START
    for message in messages:
        at = message.at or at + PACE
        timed.append(msgspec.structs.replace(message, at=at))
    return timed
