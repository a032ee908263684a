"""`annals replay`: recorded sessions through an installation, as live ones would go, and what came of it."""

import asyncio
import signal
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec
import uvloop
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from schemas.codec import derived_id, encode
from schemas.status_asks import StatusAsk
from schemas.subjects import Address, ask
from services.edges.client.adapter import Adapter
from services.edges.client.alone import Alone
from services.edges.client.catching_up import caught_up
from services.edges.client.cost import OVERHEAD
from services.edges.client.outbox import Outbox
from services.edges.client.player import DEFAULT_LIMIT, OUTPUT_LIMIT, Played, PlayedSession, Player
from services.edges.client.readers import read
from services.edges.client.report import Report, lines, report, table
from services.edges.client.transcript import Transcript, UnreadableTranscript
from services.edges.launcher.room_process import processes
from services.edges.launcher.signals import asked_to_end
from services.edges.launcher.supervisor import Installation
from services.edges.output_file import check_writable
from services.edges.styling import console
from services.edges.terminal import write_error, write_json
from services.kit.bus import Bus, Unreachable
from services.kit.endpoint import Endpoint, find
from services.kit.logs import configure
from services.kit.retry import retrying
from services.settings import Embed, Model, Settings

PROJECT = "replay"
READY = 60.0
LOG = "rooms.log"


class ReplayOptions(msgspec.Struct, frozen=True):
    """The options of a replay. `limit` in tokens, 0: the default; `deadline_ms` 0: wait as long as it takes."""

    paths: tuple[Path, ...]
    as_json: bool = False
    agent: str = "tidy"
    at_once: int = 4
    limit: int = 0
    deadline_ms: int = 0
    steps: Path | None = None
    """The file for one JSON line about each model call; None: there is none."""
    overhead: int = OVERHEAD
    """Tokens of tools and system prompt in each prompt."""
    log: Path | None = None
    """The file for what the rooms of an installation of its own print, which is appended to it; None: there is none."""
    models: bool = False
    """Whether an installation of its own asks the models of the settings, which may cost something."""
    alone: bool = False
    """Without a plan: the harness's own compaction keeps the context small."""


def replay(options: ReplayOptions, settings: Settings) -> int:
    """Play, print the report, and say with the exit status whether any prefix changed without a reason.

    Raises `UnwritableFile` before anything is played, where a file cannot be written that is to be left.
    """
    for path in filter(None, (options.steps, options.log)):
        check_writable(path)
    transcripts = _transcripts(options.paths)
    configure("replay", level="warning", as_json=False)
    made = uvloop.run(_replay(options, settings, transcripts))
    if options.as_json:
        write_json(made)
    else:
        table(made, console())
    return 1 if made.unexplained_prefix_changes else 0


def _transcripts(paths: Sequence[Path]) -> list[Transcript]:
    """All sessions of these files that have at least one answer in them."""

    def skipped(path: Path, reason: str) -> None:
        write_error(f"left out {path}: {reason}")

    found = [transcript for path in paths for transcript in read(path, skipped)]
    playable = [one for one in found if any(message.role == "assistant" for message in one.messages[1:])]
    if not playable:
        raise UnreadableTranscript("there is no session with a model's answer in what was named")
    return playable


async def _replay(options: ReplayOptions, settings: Settings, transcripts: Sequence[Transcript]) -> Report:
    with progress(sum(calls(one) for one in transcripts)) as step:
        if options.alone:
            sessions = [await _alone(transcript, options, step) for transcript in transcripts]
        else:
            own = settings if options.models else without_models(settings)
            async with borrowed_installation(own, options.log) as bus:
                run = f"@{uuid.uuid4().hex[:6]}" if settings.nats.url else ""
                sessions = await play(bus, transcripts, options, step, run=run, waits=not settings.nats.url)
    if options.steps is not None:
        options.steps.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines(sessions)))
    return report(sessions)


async def _alone(transcript: Transcript, options: ReplayOptions, watch: Callable[[Played], None]) -> PlayedSession:
    keeper = Alone(options.limit or DEFAULT_LIMIT, OUTPUT_LIMIT)
    address = address_of(transcript)
    return await Player(keeper, address, transcript, tidy=False, limit=options.limit, overhead=options.overhead).play(
        watch
    )


def address_of(transcript: Transcript, run: str = "") -> Address:
    """The address at which a session is played: in one run, sessions of a directory share a project and its memory."""
    where = derived_id("directory", transcript.seen.directory)[:8] if transcript.seen.directory else ""
    return Address("-".join(filter(None, (PROJECT, where))) + run, f"{transcript.session}{run}")


def calls(transcript: Transcript) -> int:
    """The number of model calls that playing it makes."""
    return sum(message.role == "assistant" for message in transcript.messages[1:])


def without_models(settings: Settings) -> Settings:
    """Settings for an installation that asks no model which may cost something."""
    embed = Embed() if settings.embed.provider == "remote" else settings.embed
    return msgspec.structs.replace(settings, model=Model(), embed=embed)


@asynccontextmanager
async def borrowed_installation(settings: Settings, log: Path | None = None) -> AsyncIterator[Bus]:
    """Connect to the broker of the settings, or to an installation of one's own that is gone afterwards.

    What the rooms of the latter print goes to the file `log` and not between the lines of a progress bar; without a
    file only how much it was is reported at the end.
    """
    if settings.nats.url:
        async with _connected(find(settings), settings.nats.wait) as bus:
            yield bus
        return
    with asked_to_end((signal.SIGTERM, signal.SIGHUP)) as asked, _folder() as data:
        logs = msgspec.structs.replace(settings.logs, level="warning")
        own = msgspec.structs.replace(settings, data=data, logs=logs)
        with (log or data / LOG).open("ab+") as output:
            begin = output.tell()
            async with (
                Installation(own, begun_by=processes(output)).running() as installation,
                _connected(installation.endpoint, settings.nats.wait) as bus,
            ):
                yield bus
            output.seek(begin)
            printed = len(output.readlines())
        if printed:
            where = f"are in {log}" if log else "were left out; `annals replay --log FILE` writes them to a file"
            write_error(f"{printed} lines of warnings of the rooms {where}")
    if asked:
        raise SystemExit(128 + asked[0])


@asynccontextmanager
async def _connected(endpoint: Endpoint, wait: float) -> AsyncIterator[Bus]:
    """A connection to an installation that is ready, which is closed whatever ends its use."""
    bus = await Bus.connect(endpoint.url, "replay", user=endpoint.user, password=endpoint.password, wait=wait)
    try:
        await _ready(bus)
        yield bus
    finally:
        await bus.close()


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="annals-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


async def _ready(bus: Bus) -> None:
    """Wait until the responder answers, which is the last to be ready."""
    async for attempt in retrying(Unreachable, seconds=READY):
        with attempt:
            await bus.request(ask(StatusAsk.NAME), encode(StatusAsk()), 1.0)


async def play(
    bus: Bus,
    transcripts: Sequence[Transcript],
    options: ReplayOptions,
    watch: Callable[[Played], None],
    *,
    run: str = "",
    waits: bool = False,
) -> list[PlayedSession]:
    """Play sessions, several projects at a time, and those of one project in turn.

    Each begins with what those before it left in the project's memory. `run` makes names differ from those of an
    earlier run. `waits`: rooms come to rest before each plan and each answer, so that equal runs are equal.
    """
    outbox = Outbox(bus)
    turn = asyncio.Semaphore(options.at_once)

    async def one(transcript: Transcript) -> PlayedSession:
        async with turn:
            address = address_of(transcript, run)
            caught = partial(caught_up, bus, transcript.harness, address, models=options.models)
            pause = partial(_pause, outbox, caught) if waits else None
            adapter = Adapter(bus, outbox, transcript.harness, address, deadline_ms=options.deadline_ms, settle=pause)
            tidy = options.agent == "tidy"
            player = Player(adapter, address, transcript, tidy=tidy, limit=options.limit, overhead=options.overhead)
            return await player.play(watch, pause=pause)

    async def in_turn(project: Sequence[int]) -> list[tuple[int, PlayedSession]]:
        return [(place, await one(transcripts[place])) for place in project]

    projects: dict[str, list[int]] = {}
    for place, transcript in enumerate(transcripts):
        projects.setdefault(address_of(transcript, run).project, []).append(place)
    try:
        played = dict(chain.from_iterable(await asyncio.gather(*map(in_turn, projects.values()))))
        await outbox.flushed()
    finally:
        await outbox.close()
    return [played[place] for place in range(len(transcripts))]


async def _pause(outbox: Outbox, caught: Callable[[], Awaitable[None]]) -> None:
    await outbox.flushed()
    await caught()


class progress:  # noqa: N801 - used as a function
    """A progress bar over model calls, on standard error."""

    def __init__(self, total: int) -> None:
        self._bar = Progress(
            TextColumn("replaying"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("model calls"),
            TimeElapsedColumn(),
            console=console(sys.stderr),
        )
        self._task = self._bar.add_task("replay", total=total)

    def __enter__(self) -> Callable[[Played], None]:
        self._bar.start()
        return lambda _: self._bar.advance(self._task)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
