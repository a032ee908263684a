"""Limits of models that refusals report, over sessions, projects and restarts, on a real broker."""

import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from schemas.asks import Plan, SessionAsk, SessionReport, TransformAsk
from schemas.codec import encode
from schemas.events import HistoryRequested, LimitLearned, LimitWithdrawn, PlanExtended, PlanRebased, StepOpened
from schemas.explain_asks import ExplainAsk
from schemas.inbox import ErrorSeen, Inbound, Listed, MessageSeen, PartSeen, Seen, SessionSeen, StepSeen, UsageSeen
from schemas.subjects import Address, ask
from services.console.worker import Console
from services.domain.learned_limits import GLOBAL
from services.domain.record import Record
from services.edges.launcher.broker import Broker
from services.historian.worker import Historian
from services.kit.bus import Appender, Bus, LogReader
from services.responder.answers.explain import explain
from services.responder.projections.folds import SESSION
from services.responder.session_cache import SessionCache
from services.responder.worker import Responder
from services.settings import Limits, Settings
from services.tagger.worker import Tagger
from tests.helpers.broker_world import HARBOUR, NOON, connected, facts, opened, quick_settings, wrapped
from tests.helpers.compressed_sessions import Session, reported_session, settings
from tests.helpers.sql import select
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

LIGHTHOUSE = Address("lighthouse", "s2")
WORDS = "prompt token count of 150000 exceeds the limit of 128000"
LEARNED = LimitLearned(provider="anthropic", model="opus", limit=128_000, in_project="harbour", in_session="s1")


class Team:
    """Sessions that speak to an installation with a tagger."""

    def __init__(self, bus: Bus, tagger: Tagger) -> None:
        self._bus = bus
        self._tagger = tagger
        self._published = 0

    async def see(self, address: Address, *items: Seen) -> None:
        """Let a harness say this; return when it is in the log."""
        self._published += 1
        name = f"{address.session}.{self._published}"
        await self._bus.publish(address.inbound("pi"), encode(Inbound(name, NOON, items)), name)
        await until(self._tagger.idle)

    async def step(self, address: Address, model: str = "opus", mode: str = "primary") -> str:
        """The next model call of this session; its name."""
        step = StepSeen(f"t{self._published}", provider="anthropic", model=model, context_limit=400_000)
        message = MessageSeen("m1", "user", parts=(PartSeen("m1", "text", "p1", text="go"),))
        listed = msgspec.structs.replace(step, messages=(Listed("m1"),), count=1, mode=mode)
        await self.see(address, SessionSeen(title="At work"), message, listed)
        return step.step

    async def answer(self, question: SessionAsk | TransformAsk) -> bytes:
        return await self._bus.request(ask(question.NAME, question.project), encode(question), PATIENCE)

    async def window(self, address: Address) -> str:
        """A person's report of a session's window."""
        reply = msgspec.json.decode(await self.answer(SessionAsk(address.project, address.session)), type=SessionReport)
        return reply.text.partition("Model: ")[2].partition(" tokens")[0]

    async def plan(self, address: Address, step: str) -> Plan:
        question = TransformAsk(address.project, address.session, step, deadline_ms=60_000)
        return msgspec.json.decode(await self.answer(question), type=Plan)


@pytest.fixture
async def team(bus: Bus, tmp_path: Path) -> AsyncIterator[Team]:
    interval = sys.getswitchinterval()
    async with opened(tagger := Tagger(), bus, quick_settings(tmp_path)):
        yield Team(bus, tagger)
    sys.setswitchinterval(interval)


@asynccontextmanager
async def responding(broker: Broker, settings: Settings) -> AsyncIterator[None]:
    """A responder with a connection of its own: when that is closed, it answers nothing more."""
    bus = await connected(broker)
    async with opened(Responder(), bus, settings):
        yield
    await bus.close()


async def refuse(team: Team, address: Address = HARBOUR, words: str = WORDS) -> None:
    """A model call that the provider refuses, with its limit."""
    await team.step(address)
    await team.see(address, ErrorSeen(words))


async def test_another_session_in_another_project_knows_it_at_its_first_call_after_a_restart(
    broker: Broker, bus: Bus, team: Team, tmp_path: Path
) -> None:
    async with responding(broker, quick_settings(tmp_path / "first")):
        await refuse(team)
        assert [LEARNED] == await facts(bus, GLOBAL)
    for data in ("first", "anew"):  # from stored state, and from nothing but the log
        async with responding(broker, quick_settings(tmp_path / data)):
            await team.plan(LIGHTHOUSE, await team.step(LIGHTHOUSE))
            assert "anthropic/opus, window (learned from a refusal) 128,000" == await team.window(LIGHTHOUSE)
            await team.plan(LIGHTHOUSE, await team.step(LIGHTHOUSE, "haiku"))
            assert "anthropic/haiku, window 400,000" == await team.window(LIGHTHOUSE)


async def test_a_responder_that_runs_hears_of_it_and_of_its_withdrawal(bus: Bus, team: Team, tmp_path: Path) -> None:
    async with opened(Responder(), bus, quick_settings(tmp_path)):
        await team.step(LIGHTHOUSE)
        assert "anthropic/opus, window 400,000" == await team.window(LIGHTHOUSE)
        await refuse(team)
        await until(lambda: shows(team, "window (learned from a refusal) 128,000"))
        await team.step(Address("harbour", "s3"))
        await team.see(Address("harbour", "s3"), UsageSeen("a", 1_000, cache_read=130_000))
        await until(lambda: shows(team, "window 400,000"))
    withdrawn = LimitWithdrawn(
        provider="anthropic", model="opus", limit=128_000, accepted=131_000, in_project="harbour", in_session="s3"
    )
    assert [LEARNED, withdrawn] == await facts(bus, GLOBAL)


async def shows(team: Team, window: str) -> bool:
    return window in await team.window(LIGHTHOUSE)


async def test_what_a_subagent_has_learned_its_parent_is_pressed_by(bus: Bus, team: Team, tmp_path: Path) -> None:
    child = Address("harbour", "child")
    async with opened(Responder(), bus, quick_settings(tmp_path)):
        await team.plan(HARBOUR, await team.step(HARBOUR))
        await team.see(HARBOUR, UsageSeen("a", 126_000))
        await team.plan(HARBOUR, await team.step(HARBOUR))
        await team.step(child, mode="subagent")
        await team.see(child, ErrorSeen(WORDS))
        await team.plan(HARBOUR, await team.step(HARBOUR))
        assert "anthropic/opus, window (learned from a refusal) 128,000" == await team.window(HARBOUR)
    pressed = [event.declined for event in await facts(bus, HARBOUR) if isinstance(event, PlanExtended)]
    assert [0, 126_000] == pressed


async def test_a_person_knows_better(bus: Bus, team: Team, tmp_path: Path) -> None:
    chosen = replace(quick_settings(tmp_path), plan=Limits(context_limits={"opus": 300_000}))
    async with opened(Responder(), bus, chosen):
        await refuse(team)
        await team.step(LIGHTHOUSE)
        assert "anthropic/opus, window (as set) 300,000" == await team.window(LIGHTHOUSE)


async def test_what_was_learned_can_be_asked_for(bus: Bus, team: Team, tmp_path: Path) -> None:
    settings = quick_settings(tmp_path)
    async with opened(Responder(), bus, settings), opened(Console(), bus, settings):
        await refuse(team)
        rows = await select(bus, 'select provider, model, "limit", in_session from limit_learned')
        assert (("anthropic", "opus", 128_000, "s1"),) == rows


async def test_an_explanation_says_who_knew_of_the_window(bus: Bus) -> None:
    rebased = PlanRebased(
        revision=1,
        step="t1",
        as_of=1,
        causes=["pressure"],
        tokens_before=90_000,
        tokens_after=40_000,
        window=96_000,
        window_source="learned",
    )
    await Appender(bus).append(wrapped([StepOpened(step="t1"), rebased]), {})
    question = ExplainAsk(HARBOUR.project, HARBOUR.session)
    explained = await explain(LogReader(bus), question)
    assert ["pressure: 90000 to 40000 tokens, usable 96000 (learned)"] == [fact.text for fact in explained.history]
    newest = await SessionCache(LogReader(bus), 1).state(SESSION, HARBOUR)
    assert explained == await explain(Rebases(bus), question, newest)


class Rebases(LogReader):
    """A reader that is asked for nothing but rebases."""

    def after(self, seq: int, subject_filter: str) -> AsyncGenerator[Record, None]:
        assert subject_filter == HARBOUR.log(PlanRebased.TYPE)
        return super().after(seq, subject_filter)


async def test_the_same_refusal_of_many_sessions_is_learned_once(bus: Bus, team: Team) -> None:
    for number in range(3):
        await refuse(team, Address("harbour", f"s{number}"))
    assert 1 == len(await facts(bus, GLOBAL))


async def test_what_another_tagger_has_learned_meanwhile_is_seen_before_more_is_written(bus: Bus, team: Team) -> None:
    await refuse(team)
    other = msgspec.structs.replace(LEARNED, limit=64_000, in_session="s9")
    expected = {GLOBAL.log(LimitLearned.TYPE): await newest(bus)}
    await Appender(bus).append(wrapped([other], expected, GLOBAL), expected)
    await refuse(team, LIGHTHOUSE, "maximum context length is 100000 tokens")
    assert [LEARNED, other] == await facts(bus, GLOBAL)
    await refuse(team, Address("harbour", "s4"), "maximum context length is 32000 tokens")
    assert [128_000, 64_000, 32_000] == [
        event.limit for event in await facts(bus, GLOBAL) if isinstance(event, LimitLearned)
    ]


async def newest(bus: Bus) -> int:
    seqs = [recorded.envelope.seq async for recorded in LogReader(bus).after(0, GLOBAL.log_filter)]
    return seqs[-1]


async def test_a_lesson_that_was_cut_off_is_learned_when_its_message_comes_again(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise RuntimeError("cut off")

    with monkeypatch.context() as patched:
        patched.setattr("services.tagger.worker.Tagger._share_limits", fails)
        async with opened(tagger := Tagger(), bus, quick_settings(tmp_path, max_deliver=100)):
            await published_by(bus, "1", StepSeen("t1", provider="anthropic", model="opus"))
            await published_by(bus, "2", ErrorSeen(WORDS))
            await until(lambda: has_refusal(bus))
    assert [] == await facts(bus, GLOBAL)
    async with opened(tagger := Tagger(), bus, quick_settings(tmp_path)):
        await until(tagger.idle)
    assert [LEARNED] == await facts(bus, GLOBAL)


async def published_by(bus: Bus, name: str, *items: Seen) -> None:
    await bus.publish(HARBOUR.inbound("pi"), encode(Inbound(name, NOON, items)), name)


async def has_refusal(bus: Bus) -> bool:
    return any(event.TYPE == "overflow.detected" for event in await facts(bus, HARBOUR))


@pytest.fixture
async def session(bus: Bus) -> AsyncIterator[Session]:
    async with reported_session(bus) as made:
        yield made


@pytest.mark.parametrize(("model", "runs"), [("opus", 1), ("haiku", 0)])
async def test_history_is_compressed_for_the_window_that_another_session_has_learned(
    bus: Bus, session: Session, model: str, runs: int
) -> None:
    learned = msgspec.structs.replace(LEARNED, model=model, limit=50_000)
    await Appender(bus).append(wrapped([learned], address=GLOBAL), {})
    await session.turns(3)
    await session.step(45_000)
    await until(lambda: counted(bus))
    async with opened(historian := Historian(), bus, settings()):
        await until(historian.idle)
    assert runs == sum(isinstance(event, HistoryRequested) for event in await facts(bus, HARBOUR))


async def counted(bus: Bus) -> bool:
    return any(event.TYPE == "usage.sampled" for event in await facts(bus, HARBOUR))
