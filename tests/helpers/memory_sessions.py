"""Sessions of harnesses in one project, with the rooms that remember: their messages, and what they are served."""

import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from schemas.asks import MemoryAsk, MemoryReply, Plan, TransformAsk
from schemas.codec import encode
from schemas.commands import Answer, Command, DropQueue, FlushRequest
from schemas.envelope import Actor
from schemas.inbox import CompactionSeen, Inbound, Listed, MessageSeen, Mode, PartSeen, Role, SessionSeen, StepSeen
from schemas.plan import AnyEdit, AppendText, SetHead
from schemas.subjects import Address, ask
from services.console.worker import Console
from services.desk.worker import Desk
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.kit.commands import send
from services.kit.room import Room
from services.responder.worker import Responder
from services.settings import Limits, MemoryLimits
from services.tagger.worker import Tagger
from tests.helpers.broker_world import HARBOUR, NOON, connected, opened, quick_settings
from tests.helpers.compressed_sessions import ran, text
from tests.helpers.waiting import PATIENCE, until

PROJECT = Address(HARBOUR.project)
ADA = Actor("person", "ada")


@asynccontextmanager
async def rooms(
    broker: Broker,
    data: Path,
    memory: MemoryLimits = MemoryLimits(),  # noqa: B008 - it never changes
    plan: Limits = Limits(),  # noqa: B008 - it never changes
) -> AsyncIterator[Sequence[Room]]:
    """A tagger, a desk and a responder, on a connection of their own: what they answer ends with it."""
    interval = sys.getswitchinterval()
    given = replace(quick_settings(data), memory=memory, plan=plan)
    made, bus = (Tagger(), Desk(), Responder()), await connected(broker)
    try:
        async with AsyncExitStack() as stack:
            for room in (*made, Console()):
                await stack.enter_async_context(opened(room, bus, given))
            yield made
    finally:
        await bus.close()
        sys.setswitchinterval(interval)


class Harness:
    """A session of some harness that makes model calls."""

    def __init__(
        self,
        bus: Bus,
        harness: str,
        session: str,
        mode: Mode = "primary",
        now: Callable[[], datetime] = lambda: NOON,
        project: str = HARBOUR.project,
    ) -> None:
        self.bus = bus
        self._now = now
        self._harness = harness
        self._address = Address(project, session)
        self._mode: Mode = mode
        self._listed: list[Listed] = []
        self._sent = 0
        self._step = ""
        self.revision = 0

    async def report(self, *items: object) -> None:
        self._sent += 1
        name = f"{self._address.session}.{self._sent}"
        await self.bus.publish(
            self._address.inbound(self._harness),
            encode(Inbound(name, self._now(), items)),  # type: ignore[arg-type] # what a harness says
            name,
        )

    async def says(self, words: str) -> str:
        """A person says this; the name of the message."""
        return await self.says_parts("user", (text(words),))

    async def says_parts(self, role: Role, parts: Sequence[PartSeen], *, synthetic: bool = False) -> str:
        """A message of these parts; its name."""
        name = f"{self._address.session}m{len(self._listed)}"
        named = tuple(
            replace(part, message=name, part=f"{name}.{place}", call=f"{name}c{place}" if part.call else "")
            for place, part in enumerate(parts)
        )
        self._listed.append(Listed(name, tuple(part.part for part in named)))
        await self.report(MessageSeen(message=name, role=role, at=self._now(), synthetic=synthetic, parts=named))
        return name

    async def summarised(self, words: str) -> None:
        """The harness summarises the session like this."""
        name = await self.says_parts("assistant", (text(words),), synthetic=True)
        await self.report(CompactionSeen(summary=name))

    async def rebased(self, serving: Sequence[Room]) -> tuple[AnyEdit, ...]:
        """What the plan adds where a person asks for a rebase, and there is something to save."""
        await self.says_parts("assistant", (PartSeen("", "tool", tool="bash", call="c", output="x" * 40_000,
                                                     input='{"command": "ls"}', status="completed"),))  # fmt: skip
        await self.says("so")
        edits = await self.step(serving)
        await send(self.bus, self._address, DropQueue("2"), name=str(uuid4()), actor=ADA)
        await send(self.bus, self._address, FlushRequest(), name=str(uuid4()), actor=ADA)
        for words in ("on", "and on"):
            await self.says(words)
            edits += await self.step(serving)
        return edits

    async def runs(self, command: str) -> None:
        """The agent runs a command, which succeeds."""
        name = f"{self._address.session}m{len(self._listed)}"
        part = replace(ran(command, "", name), message=name, part=f"{name}.0", exit_code=0)
        self._listed.append(Listed(name, (part.part,)))
        await self.report(MessageSeen(message=name, role="assistant", at=self._now(), parts=(part,)))

    async def step(self, serving: Sequence[Room]) -> tuple[AnyEdit, ...]:
        """What the plan of the next call adds to the one in hand."""
        plan = await self.asks(serving)
        assert "ready" == plan.status, plan.reason
        self.revision = plan.revision
        return tuple(edit for revision in plan.revisions for edit in revision.edits)

    async def asks(self, serving: Sequence[Room], deadline_ms: int = 60_000) -> Plan:
        """The answer to the next call."""
        step, listed = f"s{self._sent}", tuple(self._listed)
        await self.report(
            StepSeen(
                step, messages=listed, count=len(listed), provider="p", model="opus", context_limit=100_000,
                mode=self._mode,
            )
        )  # fmt: skip
        for room in serving:
            await until(room.idle)
        self._step = step
        return await self.asks_again(deadline_ms)

    async def asks_again(self, deadline_ms: int = 60_000) -> Plan:
        """The answer to the newest call, asked for once more."""
        question = TransformAsk(self._address.project, self._address.session, self._step, self.revision, deadline_ms)
        reply = await self.bus.request(ask(question.NAME, question.project), encode(question), PATIENCE)
        return msgspec.json.decode(reply, type=Plan)


async def begun(
    bus: Bus, harness: str, session: str, mode: Mode = "primary", project: str = HARBOUR.project
) -> Harness:
    made = Harness(bus, harness, session, mode, project=project)
    await made.report(SessionSeen(directory="/w"))
    await made.says("hello")
    return made


def heads(edits: tuple[AnyEdit, ...]) -> list[str]:
    return [edit.text for edit in edits if isinstance(edit, SetHead)]


def notices(edits: tuple[AnyEdit, ...]) -> list[str]:
    return [edit.text for edit in edits if isinstance(edit, AppendText)]


async def done(bus: Bus, command: Command, address: Address = PROJECT, actor: Actor = ADA) -> Answer:
    answer = await send(bus, address, command, name=str(uuid4()), actor=actor)
    assert answer.ok, answer.text
    return answer


async def asked(bus: Bus, view: str, **fields: object) -> MemoryReply:
    question = msgspec.convert({"project": HARBOUR.project, "view": view, **fields}, MemoryAsk)
    reply = await bus.request(ask(question.NAME, question.project), encode(question), PATIENCE)
    return msgspec.json.decode(reply, type=MemoryReply)
