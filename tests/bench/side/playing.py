"""One scenario in one arm: the real OpenCode, a scripted model, and a person who goes on after a failed turn."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import aiohttp
import msgspec

from schemas.inbox import MessageSeen, PartSeen
from services.edges.client.player import texts_by_agent
from services.edges.client.recall import AgentOutput, VisibleText
from tests.bench.side.arms import Arm, OwnInstallation, connect, installation
from tests.bench.side.measured import Answered, Row, measured
from tests.bench.side.model import Model, Pause, SideScript
from tests.bench.side.recordings import Step, Turn, moved
from tests.bench.side.workshop import Workshop
from tests.harness.api import Refused
from tests.harness.isolation import Family, Json
from tests.harness.opencode import OpenCode
from tests.harness.provider import Reply, Request
from tests.harness.scripted import tool_parts

PATIENCE = 600.0
TRIES = 2
"""How often a person asks to continue after a failed turn."""
GO_ON = "Please continue."


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario's model and installation."""

    name: str
    family: Family
    limit: int
    output: int = 4_096
    density: float = 1.0
    tidy: bool = False
    reports_usage: bool = True
    pictures: bool = False
    absent: bool = False
    """No installation from the start."""
    killed_at: float = 0.0
    """The share of the window at which the installation is killed, once; 0: never."""
    killed_for: int = 0
    """Calls until it is started again."""


class Played(msgspec.Struct):
    """What happened in one session, in its order."""

    session: str
    words: list[tuple[int, str, str]]
    """The answers that a person's messages precede, their texts, and their names."""
    answers: list[tuple[int, AgentOutput, tuple[str, ...]]]
    """Each answer with the number of its request and the ids of its calls."""
    inherited: tuple[str, ...] = ()
    """The ids of calls that were copied from another session."""


class Bench:
    """A running arm of a scenario."""

    def __init__(
        self, setup: Setup, model: Model, script: SideScript, oc: OpenCode, running: OwnInstallation, home: str
    ) -> None:
        self.oc = oc
        self.model = model
        self.failed = self.lost = 0
        self._setup = setup
        self._script = script
        self._installation = running
        self._home = home
        self._workshop = Workshop(oc.workspace)
        self._sessions: list[Played] = []
        self._down_since = -1
        self._starting: asyncio.Task[None] | None = None

    async def open(self) -> str:
        session = await self.oc.session("Side by side")
        self._sessions.append(Played(session, [], []))
        return session

    async def fork(self, session: str) -> str:
        """A copy of a session as it is now."""
        origin = self._of(session)
        copy = await self.oc.fork(session)
        self._sessions.append(Played(copy, [(0, name, text) for _, name, text in origin.words], []))
        self._sessions[-1].words += [(0, one.source, "\n".join(one.texts)) for _, one, _ in origin.answers]
        self._sessions[-1].inherited = tuple(one for _, _, ids in origin.answers for one in ids)
        return copy

    async def send(self, session: str, turn: Turn) -> None:
        """One turn; what is left of it after a failure is asked for again."""
        turn = moved(turn, self._home, str(self.oc.workspace))
        self._script.session = session
        self._script.waiting.extend(self._replier(session, step) for step in turn.steps)
        words = turn.words
        for _ in range(1 + TRIES):
            played = self._of(session)
            played.words.append((len(played.answers), f"words:{len(played.words)}", words))
            self.failed += not await self._prompted(session, words)
            words = GO_ON
            if not self._script.waiting:
                return
        self.lost += len(self._script.waiting)
        self._script.waiting.clear()

    async def scripted(self, session: str, words: str, *replies: Reply) -> None:
        """One turn with answers of the scenario's own."""
        steps = tuple(Step(_answer(reply), reply.text, ready=reply.calls) for reply in replies)
        await self.send(session, Turn(words, steps))

    async def _prompted(self, session: str, words: str) -> bool:
        """Whether a turn came to its end."""
        try:
            message = await self.oc.prompt(session, words, patience=PATIENCE)
        except (Refused, TimeoutError, aiohttp.ClientError):
            return False
        return not message.get("info", {}).get("error")

    def _replier(self, session: str, step: Step) -> Callable[[Request], Reply]:
        def reply(request: Request) -> Reply:
            calls = tuple(
                msgspec.structs.replace(call, id=f"call_{request.number:05d}_{place}")
                for place, call in enumerate(self._workshop.calls(step))
            )
            ids = tuple(call.id for call in calls)
            source = f"answer:{request.number}"
            answer = msgspec.structs.replace(texts_by_agent(step.answer), source=source)
            self._of(session).answers.append((request.number, answer, ids))
            self._blow(request)
            return Reply(text=step.text, reasoning=step.reasoning, calls=calls)

        return reply

    def _blow(self, request: Request) -> None:
        """Kill the installation, or start it again, where the scenario wants that."""
        setup, number = self._setup, request.number
        if setup.killed_at and self._down_since < 0 and request.usage.prompt >= setup.killed_at * setup.limit:
            self._down_since = number
            self._installation.kill()
        elif self._down_since >= 0 and number >= self._down_since + setup.killed_for and self._starting is None:
            self._starting = asyncio.create_task(self._installation.start())

    def _of(self, session: str) -> Played:
        return next(one for one in self._sessions if one.session == session)

    async def row(self, row: Row) -> Row:
        """All figures of what was played."""
        if self._starting is not None:
            await self._starting
        answers = [await self._answered(played) for played in self._sessions]
        counted = measured(row, self.model.requests, self.model.refused, answers, str(self.oc.workspace))
        return msgspec.structs.replace(
            counted, failed_turns=self.failed, lost_steps=self.lost, rebases=await self._installation.rebases()
        )

    async def _answered(self, played: Played) -> list[Answered]:
        outputs = _outputs(await self.oc.messages(played.session))
        made: list[Answered] = []
        before = played.inherited
        for place, (number, reply, ids) in enumerate(played.answers):
            words = [VisibleText(name, text) for at, name, text in played.words if at == place]
            results = [VisibleText(name, outputs[name]) for name in before if name in outputs]
            made.append(Answered(self.model.requests[number - 1], reply, (*results, *words)))
            before = ids
        return made


def _answer(reply: Reply) -> MessageSeen:
    inputs = [msgspec.json.encode(call.arguments).decode() for call in reply.calls]
    parts = (PartSeen("", "text", text=reply.text), *(PartSeen("", "tool", input=one) for one in inputs))
    return MessageSeen("", "assistant", parts=parts)


def _outputs(messages: Sequence[Json]) -> dict[str, str]:
    """What each call was answered, as the harness keeps it."""
    return {
        part["callID"]: part["state"].get("output") or part["state"].get("error") or "" for part in tool_parts(messages)
    }


Play = Callable[[Bench], Awaitable[None]]


async def play(setup: Setup, arm: Arm, home: str, how: Play, root: Path) -> Row:
    """Run it, and count."""
    began = time.monotonic()
    script = SideScript(tidy=setup.tidy)
    async with (
        installation(arm, root, absent=setup.absent) as running,
        _model(setup, script, running.caught_up) as model,
    ):
        oc = OpenCode(root, model.url, family=setup.family, config=_config(setup), keeps_settings=True)
        oc.configure()
        if arm.annals:
            await connect(oc, running.data, steady=not (setup.absent or setup.killed_at))
        async with oc:
            bench = Bench(setup, model, script, oc, running, home)
            await how(bench)
            row = await bench.row(Row(scenario=setup.name, arm=arm.name))
    return msgspec.structs.replace(row, seconds=round(time.monotonic() - began, 1))


def _model(setup: Setup, script: SideScript, pause: Pause) -> Model:
    return Model(script, setup.limit, density=setup.density, reports_usage=setup.reports_usage, pause=pause)


def _config(setup: Setup) -> Json:
    sizes: Json = {"limit": {"context": setup.limit, "output": setup.output}}
    if setup.pictures:
        sizes |= {"attachment": True, "modalities": {"input": ["text", "image"], "output": ["text"]}}
    models = {model.name: sizes for model in (setup.family.main, setup.family.other)}
    return {"provider": {setup.family.provider: {"models": models}}}
