"""The models of harnesses: a question goes into the log of its project, and a harness that runs there answers it."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from schemas.codec import encode
from schemas.commands import Answer, Command
from schemas.envelope import Actor, Envelope
from schemas.events import Event, QuestionAnswered, QuestionTaken, QuestionWithdrawn
from schemas.question_commands import QuestionRequest, QuestionWithdraw
from schemas.subjects import Address
from services.domain.newest import NewestMap
from services.domain.questions.question import Outcome
from services.kit.bus import Bus, LogReader, Unreachable
from services.kit.commands import send
from services.kit.fact_watch import FactWaiter, FactWatch
from services.kit.model.calls import Completion, ModelFailure, clean, price_of
from services.kit.model.chain import ModelEndpoint
from services.kit.retry import retrying

PATIENCE = 10.0
"""Seconds for a desk that is being started again."""
ENVELOPE = 8_192
"""Bytes that a command, or a fact, has apart from the question."""
LEASE = 180.0
"""Seconds for which a question is its taker's: so long a harness that has taken another one may be busy."""
MOST_CONSUMED = 10_000
"""The newest questions that are known to have been answered here."""
MOST_BUSY = 1_000
"""Projects of which it is known until when a harness of theirs may be busy."""
FACTS = "log.*.*._.question.*"
"""The facts about the questions of all projects."""
OUTCOMES: Mapping[str, Outcome] = {
    "busy": "transient",
    "aborted": "transient",
    "refused": "refused",
    "overflow": "overflow",
    "timeout": "timeout",
}
"""The report of a harness, up to a colon -> its outcome for who asks; any other sentence may pass by itself."""
AWAY = "no harness of the project took the question within {:g} s; start one whose plugin may answer questions"


class HarnessQuestions:
    """The questions of one room to harnesses, in all projects."""

    def __init__(self, bus: Bus, reader: LogReader, room: str, *, wait: float) -> None:
        """`wait`: seconds in which a harness that is not busy must have taken a question."""
        self.bus = bus
        self.reader = reader
        self.room = room
        self.wait = wait
        self.consumed = NewestMap[str, None](MOST_CONSUMED)
        """Questions whose answer this process was given already: asked again, they need another one."""
        self.watch = FactWatch(bus, FACTS, self._heard)
        self._busy = NewestMap[str, float](MOST_BUSY)
        """Project -> until when a harness of it may be busy with a question, by the clock of the loop."""

    def client(self, address: Address) -> "HarnessClient":
        """The client for this session."""
        return HarnessClient(self, address)

    def patience(self, project: str, asked: float) -> float:
        """When a question that was asked then, and that nobody has taken, is given up."""
        return max(asked, self._busy.get(project, 0.0)) + self.wait

    def is_busy(self, project: str) -> bool:
        """Whether a harness of this project has taken a question, and may not have answered it yet."""
        return self._busy.get(project, 0.0) > asyncio.get_running_loop().time()

    def _heard(self, address: Address, event_type: str) -> None:
        now = asyncio.get_running_loop().time()
        if event_type == QuestionTaken.TYPE:
            self._busy[address.project] = now + LEASE
        elif event_type == QuestionAnswered.TYPE:
            self._busy[address.project] = now


class HarnessClient:
    """Asks the harnesses of a project, for one session."""

    def __init__(self, questions: HarnessQuestions, address: Address) -> None:
        self._questions = questions
        self._session = address.session
        self._address = Address(address.project)

    async def close(self) -> None:
        """There is nothing to close: the connection is the room's."""

    async def ask(
        self, endpoint: ModelEndpoint, system: str, prompt: str, *, output: int, seconds: float
    ) -> Completion | ModelFailure:
        """Ask once. Who is cancelled leaves the question open: its answer is there for whoever asks the same again."""
        began = asyncio.get_running_loop().time()
        name = self._name(endpoint.model, system, prompt)
        command = QuestionRequest(
            question=name,
            purpose=self._questions.room,
            model=endpoint.model,
            system=system,
            prompt=prompt,
            output=output,
            until=datetime.now(UTC) + timedelta(seconds=seconds),
            session=self._session,
        )
        size, most = len(encode(command)) + ENVELOPE, self._questions.bus.max_payload
        if size > most:
            remedy = f"set a smaller window for {endpoint.name} in ANNALS_MODEL__WINDOWS"
            return ModelFailure(
                "overflow", f"the question has {size:,} bytes, and a message has room for {most:,}; {remedy}"
            )
        await self._questions.watch.open()
        with self._questions.watch.waiter(self._address.project) as waiter:
            if name in self._questions.consumed:
                await self._send(QuestionWithdraw(name, "its answer was not enough: it is asked again"))
            sent = f"{command.TYPE}/{uuid4().hex}"
            answer = await self._send(command, sent)
            if not answer.ok:
                return ModelFailure("away", clean(answer.text, endpoint.key))
            follow = _Follow(name, sent, answer.seq, began, began + seconds)
            found = await self._followed(follow, waiter)
        if found is None:
            await self._withdraw(name)
            if follow.is_taken or follow.is_over:
                return ModelFailure("timeout", f"no answer of a harness within {seconds:.0f} s", spent=follow.is_taken)
            return ModelFailure("away", AWAY.format(self._questions.wait))
        result = await _result(found, endpoint, is_paid=follow.is_of_another_life)
        if isinstance(result, Completion):
            self._questions.consumed[name] = None
        return result

    def _name(self, model: str, system: str, prompt: str) -> str:
        """The id of a question: the same question after a restart is the same one."""
        parts = (self._questions.room, self._address.project, self._session, model, system, prompt)
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode()
            digest.update(len(data).to_bytes(8, "big") + data)
        return f"q-{digest.hexdigest()[:32]}"

    async def _followed(self, follow: "_Follow", waiter: FactWaiter) -> QuestionAnswered | QuestionWithdrawn | None:
        """The answer, as soon as it is in the log; none where nobody took the question, or it took too long."""
        while True:
            async with aclosing(self._read(follow)) as read:
                async for event in read:
                    if isinstance(event, QuestionAnswered | QuestionWithdrawn):
                        return event
            patience = self._questions.patience(self._address.project, follow.began)
            until = follow.until if follow.is_taken else min(follow.until, patience)
            if asyncio.get_running_loop().time() >= until:
                return None
            await waiter.wait(until)

    async def _read(self, follow: "_Follow") -> AsyncGenerator[Event, None]:
        """Read the facts of the question since the last look."""
        facts = self._address.log("question.*")
        async with aclosing(self._questions.reader.after(follow.seq, facts)) as records:
            async for record in records:
                follow.enter(record.envelope)
                event = record.event
                if event is None or getattr(event, "question", "") != follow.name:
                    continue
                follow.is_taken = follow.is_taken or isinstance(event, QuestionTaken)
                yield event

    async def _withdraw(self, name: str) -> None:
        try:
            await self._send(QuestionWithdraw(name, "nobody waits for it any more"))
        except Unreachable:
            return  # it ends by itself

    async def _send(self, command: Command, name: str = "") -> Answer:
        """Send a command, and again while the desk is restarted."""
        questions, name = self._questions, name or f"{command.TYPE}/{uuid4().hex}"
        actor = Actor("room", questions.room)
        async for attempt in retrying(Unreachable, seconds=PATIENCE):
            with attempt:
                return await send(questions.bus, self._address, command, name=name, actor=actor)
        raise AssertionError("patience ends with the last error")


class _Follow:
    """One question on its way, and how far the log was read for it."""

    def __init__(self, name: str, sent: str, start: int, began: float, until: float) -> None:
        """`sent`: the id of the command. `start`: where the log says what it led to, or what there was before."""
        self.name = name
        self.began = began
        self.until = until
        self.seq = start - 1
        self.is_taken = False
        self.is_of_another_life = False
        """Whether it was asked before: who did so has reserved what it costs."""
        self._sent = sent
        self._start = start

    @property
    def is_over(self) -> bool:
        """Whether there is no time left for an answer, by the clock of the loop."""
        return asyncio.get_running_loop().time() >= self.until

    def enter(self, envelope: Envelope) -> None:
        """Take in that a fact was read."""
        self.seq = envelope.seq
        if envelope.seq == self._start:
            self.is_of_another_life = envelope.cause != self._sent


async def _result(found: Event, endpoint: ModelEndpoint, *, is_paid: bool) -> Completion | ModelFailure:
    if not isinstance(found, QuestionAnswered):
        return ModelFailure("transient", "the question was withdrawn")
    name = f"{endpoint.provider}/{found.model}" if found.model else endpoint.name
    usd = await _usd(found, endpoint)
    if found.failure and found.failure != "empty":
        return ModelFailure(
            OUTCOMES.get(found.failure.partition(":")[0], "transient"),
            clean(f"the harness reports: {found.failure}", endpoint.key),
            model=name,
            tokens_in=found.tokens_in,
            tokens_out=found.tokens_out,
            cached=found.cached,
            usd=usd,
        )
    return Completion(
        text="" if found.failure else found.text,
        tokens_in=found.tokens_in,
        tokens_out=found.tokens_out,
        cached=found.cached,
        model=name,
        usd=usd,
        is_paid=is_paid,
    )


async def _usd(found: QuestionAnswered, endpoint: ModelEndpoint) -> float:
    """The cost that the harness reports; where it reports tokens alone, their price as far as one is known."""
    if found.usd or not (found.tokens_in or found.tokens_out):
        return found.usd
    tariff = endpoint.price or await asyncio.to_thread(price_of, found.model or endpoint.name)
    return 0.0 if tariff is None else tariff.usd(found.tokens_in, found.tokens_out, found.cached)
