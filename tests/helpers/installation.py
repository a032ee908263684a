"""What tests of a whole installation need: its log, its views, and their rebuilding from nothing."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from schemas.codec import encode
from schemas.envelope import Envelope
from schemas.events import Event
from schemas.status_asks import StatusAsk
from schemas.streams import IN
from schemas.subjects import ask
from schemas.view_asks import HistoryRunsAsk
from services.edges.client.player import Played, PlayedSession
from services.edges.client.readers import read
from services.edges.client.replay import ReplayOptions, play
from services.edges.client.transcript import Transcript
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Bus, LogReader, Unreachable
from services.kit.endpoint import find
from services.responder.views.store import Store, view_sources
from services.settings import Settings
from tests.helpers.recordings import SHIPPED
from tests.helpers.sql import select
from tests.helpers.waiting import PATIENCE

Fact = tuple[Envelope, Event]


async def until(condition: Callable[[], Awaitable[bool]], what: str, patience: float = PATIENCE) -> None:
    """Wait until it holds, looking every few milliseconds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience
    while not await condition():
        assert loop.time() < deadline, f"waited {patience} s in vain: {what}"
        await asyncio.sleep(0.02)


async def connect_to(settings: Settings) -> Bus:
    """Connect as a room does, to an installation of these settings that answers."""
    endpoint = find(settings)
    return await Bus.connect(endpoint.url, "test", user="room", password=endpoint.password)


async def connect(installation: Installation) -> Bus:
    """Connect as a room does, once the responder answers."""
    endpoint = installation.endpoint
    bus = await Bus.connect(endpoint.url, "test", user=endpoint.user, password=endpoint.password)
    await until(lambda: answers(bus), "the responder answers")
    return bus


async def answers(bus: Bus) -> bool:
    try:
        await bus.request(ask(StatusAsk.NAME), encode(StatusAsk()), 1.0)
    except Unreachable:
        return False
    return True


async def settle(bus: Bus) -> None:
    """Wait until the tagger has worked all input, the views hold all of the log, and it has not grown meanwhile."""

    async def is_settled() -> bool:
        lag = await bus.lag(IN.name, "tagger")
        return lag is not None and lag.waiting == 0 and lag.in_hand == 0

    await until(is_settled, "the tagger has worked all its input")
    head = 0

    async def is_committed() -> bool:
        try:
            await bus.request(ask(HistoryRunsAsk.NAME), encode(HistoryRunsAsk()), 5.0)  # the views are written for it
            status = msgspec.json.decode(await bus.request(ask(StatusAsk.NAME), encode(StatusAsk()), 1.0), type=dict)
        except Unreachable:
            return False
        return bool(status["committed_through"] >= head)

    while head != (head := await LogReader(bus).head()):  # a plan that was made meanwhile comes behind the input
        await until(is_committed, "the views hold all of the log")


async def facts(bus: Bus) -> list[Fact]:
    """All of the log."""
    found = []
    async for recorded in LogReader(bus).after(0, "log.>"):
        assert recorded.event is not None
        found.append((recorded.envelope, recorded.event))
    return found


def recorded_twice(log: Sequence[Fact]) -> list[tuple[str, ...]]:
    """Facts that the log holds more than once. A usage or a message may change back: only neighbours count there."""
    keys = Counter(key for envelope, event in log for key in _keys(envelope, event))
    return [key for key, count in keys.items() if count > 1]


def _keys(envelope: Envelope, event: Event) -> list[tuple[str, ...]]:
    where = (envelope.project, envelope.session, envelope.type)
    fields = msgspec.to_builtins(event)
    match envelope.type:
        case "tag.assigned":
            return [(*where, str(number)) for number in range(fields["first"], fields["first"] + len(fields["parts"]))]
        case "step.opened" | "session.opened":
            return [(*where, fields.get("step", ""))]
        case "plan.extended" | "plan.rebased":
            return [(*where[:2], "plan", str(fields["revision"]))]
        case "part.recorded":
            return [(*where, fields["part"], fields["digest"])]
        case "session.idled" | "call.failed" | "model.changed" | "todo.captured" | "history.attempted":
            return []  # these happen again and again, in the same words
        case "memory.reinforced":
            return []  # two candidates may absorb into one memory: each is judged once, which `memory.judged` holds
        case "drop.requested":
            return [(*where, str(number)) for number in fields["tags"]]
        case "message.listed":
            return [
                (*where, name, str(place)) for name, place in zip(fields["messages"], fields["ordinals"], strict=True)
            ]
        case _:
            return [(*where, encode(event).decode())]


async def views(bus: Bus) -> dict[str, list[str]]:
    """The rows of every view, as text and sorted."""
    queries = " union all ".join(f"select '{name}', * from ({_query(name)})" for name in view_sources())
    return {str(name): [str(tuple(row))] for name, *row in await select(bus, queries)}


async def log_and_views(bus: Bus) -> tuple[list[Fact], dict[str, list[str]]]:
    """The log and the views of it, read while nobody wrote: rooms work on for a while when a harness has ended."""
    found: tuple[list[Fact], dict[str, list[str]]] = ([], {})

    async def is_one_moment() -> bool:
        nonlocal found
        await settle(bus)
        log = await facts(bus)
        found = log, await views(bus)
        return await LogReader(bus).head() == log[-1][0].seq

    await until(is_one_moment, "nobody writes while the log is read")
    return found


def _query(view: str) -> str:
    """A fingerprint of a view: its rows as one text, in an order of their own."""
    rows = f'select (v)::varchar as row_text from "{view}" v'
    return f"select count(*), md5(string_agg(row_text, chr(10) order by row_text)) from ({rows})"


async def rebuilt(log: Sequence[Fact], path: Path) -> dict[str, list[str]]:
    """The same from the log alone, in a file of its own."""
    store = await Store.open(path, memory_limit="512MB")
    for start in range(0, len(log), 1000):
        batch = log[start : start + 1000]
        await store.commit(batch, batch[-1][0].seq)
    found = await _views_in(store)
    await store.close()
    return found


async def left_views(path: Path) -> tuple[int, dict[str, list[str]]]:
    """The position of a file of views whose responder has ended, and the same of it."""
    store = await Store.open_as_is(path, memory_limit="512MB")
    found = store.committed, await _views_in(store)
    await store.close()
    return found


async def _views_in(store: Store) -> dict[str, list[str]]:
    found = {}
    for name in view_sources():
        answer = await store.duck.query(_query(name), max_rows=1, timeout=60)
        found[name] = [str(list(row)) for row in answer.rows]
    return {name: [row.replace("[", "(").replace("]", ")") for row in rows] for name, rows in found.items()}


async def play_all(
    bus: Bus,
    transcripts: Sequence[Transcript],
    options: ReplayOptions | None = None,
    watch: Callable[[Played], None] | None = None,
) -> list[PlayedSession]:
    return await play(bus, transcripts, options or ReplayOptions(paths=()), watch or (lambda _: None))


def recorded(*names: str, most: int | None = None) -> list[Transcript]:
    """The sessions that come along with the tests; of each the first messages, where so many are named."""
    found = [beginning(one, most) for name in names for one in read(SHIPPED / f"{name}.json.gz")]
    return [one for one in found if any(message.role == "assistant" for message in one.messages[1:])]


def beginning(transcript: Transcript, most: int | None) -> Transcript:
    """The first messages of a session, for what does not need all of them."""
    return replace(transcript, messages=transcript.messages[:most])


def prefix_changes(sessions: Sequence[PlayedSession]) -> list[str]:
    """Steps whose prefix changed outside a rebase."""
    return [
        f"{session.address.session}/{step.step}: {step.received.prefix_messages} of {step.messages} messages unchanged"
        for session in sessions
        for step in session.steps
        if step.is_unexplained
    ]
