"""A recorded session, sent to the installation's rooms over a broker and compressed but for its newest messages."""

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from schemas.codec import decode_event
from schemas.events import Event, HistoryAdvanced, HistoryAttempted, HistoryFailed
from schemas.inbox import StepSeen, UsageSeen
from schemas.subjects import Address
from services.desk.worker import Desk
from services.domain.retention import retention
from services.domain.texts.content import RecordedMessage
from services.edges.client.adapter import Adapter
from services.edges.client.outbox import Outbox
from services.edges.client.player import raw_tokens
from services.edges.client.transcript import Transcript
from services.historian.worker import Historian
from services.kit.bus import Bus, LogReader
from services.kit.contents import Contents
from services.kit.room import Kit
from services.plan.session.state import Session
from services.responder.projections.folds import SESSION
from services.responder.session_cache import SessionCache
from services.settings import History, Limits, Model, Settings
from services.tagger.worker import Tagger
from tests.bench.installations import kit, worked
from tests.helpers.broker_world import opened

E = TypeVar("E", bound=Event)

SHOP = Path(__file__).parents[2] / "services" / "edges" / "client" / "recorded" / "shop.json.gz"
"""The long session that comes along."""
WINDOW = 200_000
"""Tokens that the model takes."""
USED = 165_000
"""Tokens of the newest prompt: so full that all that may be compressed is, to its end."""
SHORT_TAIL = 0.25
"""The share of a session's tokens that stays as it is, where the usual tail is longer than the session."""
START = datetime(2026, 1, 1, tzinfo=UTC)


class Compressed(msgspec.Struct, frozen=True):
    """A session, compressed."""

    session: Session
    """As a responder knows it."""
    recorded: tuple[RecordedMessage, ...]
    """What the compartments stand for, as the log has it."""
    tail: int
    """Tokens that were to stay as they are."""
    short: bool
    """Whether that is less than usual."""
    seconds: float
    """From the provider's count to the last compartment."""
    asked: int
    """Calls to a model."""


def usual_tail() -> int:
    """Tokens that stay as they are in a session that is long enough."""
    return min(retention(WINDOW, Limits().context).tail, History().tail_tokens)


async def compressed(transcript: Transcript, model: Model) -> Compressed:
    """By the models of these settings, or by rules where there are none."""
    tokens = sum(map(raw_tokens, transcript.messages))
    short = tokens <= usual_tail()
    tail = int(tokens * SHORT_TAIL) if short else usual_tail()
    async with kit() as given:
        settings = replace(given.settings, history=History(tail_tokens=tail), model=model)
        address = Address("bench", transcript.session)
        seconds = await _compress(given, settings, address, transcript)
        entry = await SessionCache(given.reader, 1).entry(SESSION, address)
        behind = entry.state.history.last
        messages = [one for one in entry.state.conversation.after(0) if one.ordinal <= behind]
        recorded = await Contents(given.bus, given.reader).recorded(address, entry.state.conversation, messages)
        attempts = await _facts(given.bus, address, HistoryAttempted)
    asked = sum(one.model != "rules" for one in attempts)
    return Compressed(entry.state, recorded, tail, short, seconds, asked)


async def _compress(given: Kit, settings: Settings, address: Address, transcript: Transcript) -> float:
    """Seconds of a run from its cause to its end."""
    outbox = Outbox(given.bus)
    adapter = Adapter(given.bus, outbox, transcript.harness, address, deadline_ms=1)
    async with (
        opened(Tagger(), given.bus, settings),
        opened(Desk(), given.bus, settings),
        opened(Historian(), given.bus, settings),
    ):
        await adapter.publish("session", START, transcript.seen)
        step = StepSeen("bench", mode=transcript.seen.mode, provider="bench", model="bench", context_limit=WINDOW)
        await adapter.step(step, transcript.messages, START)
        await outbox.flushed()
        await worked(given.bus)
        began = time.perf_counter()
        await adapter.answered(UsageSeen(message="bench", input=USED), START)
        await _ended(given.bus, address)
        seconds = time.perf_counter() - began
    await outbox.close()
    return seconds


async def _ended(bus: Bus, address: Address) -> None:
    """Wait for the end of the run."""
    while not any(advanced.done for advanced in await _facts(bus, address, HistoryAdvanced)):
        for failed in await _facts(bus, address, HistoryFailed):
            raise RuntimeError(f"{address.session} was not compressed: {failed.code}: {failed.detail}")
        await asyncio.sleep(0.02)


async def _facts(bus: Bus, address: Address, kind: type[E]) -> list[E]:
    found = [decode_event(one.envelope) async for one in LogReader(bus).after(0, address.log(kind.TYPE))]
    return [event for event in found if isinstance(event, kind)]
