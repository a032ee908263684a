"""`annals status`: what runs, what lags, and what failed."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
import psutil
from rich.console import Console
from rich.table import Table

from schemas.room_health import RoomHealth
from schemas.spending_asks import SpentBudget, SpentBudgets
from schemas.status_asks import SessionStatus, Status, StatusAsk
from schemas.streams import DEAD, IN, LOG
from schemas.view_asks import DreamReport, DreamRunReport, DreamsAsk, HistoryRun, HistoryRuns, HistoryRunsAsk
from services.domain.often import quantity
from services.edges.asking import answer
from services.edges.dream.report import brief
from services.edges.empty_report import why_refused
from services.edges.launcher.room_status import RoomStatus, read_status
from services.edges.launcher.run import Run, current
from services.edges.person import HARNESS, PERSON, admitted
from services.edges.room_health import healths, unfolding
from services.edges.spending import budget_lines, spent_budgets
from services.edges.styling import console, styled
from services.edges.terminal import write_json
from services.kit.bus import Bus, Lag, NotAllowed, Unreachable
from services.kit.endpoint import find
from services.kit.replies import NotUnderstood
from services.kit.rooms import ROOMS
from services.kit.same_log import Difference
from services.settings import Settings

ANSWER = 2.0
"""Seconds for an answer of a room."""
LISTED_RUNS = 5
"""Projects whose newest run of the dreamer is listed."""
INDEXER = "indexer"
NOT_WELL = "it does not say why it cannot do its work"


class ObservedRoom(msgspec.Struct, frozen=True):
    """One room as seen from outside. `running` is None where another machine runs it."""

    name: str
    running: bool | None = None
    restarts: int = 0
    last_exit: int | None = None
    lag: Lag | None = None
    health: RoomHealth | None = None
    """The report of the room on its health; None: it is not open."""


class Overview(msgspec.Struct, frozen=True):
    """All that `annals status` shows."""

    broker: str
    rooms: tuple[ObservedRoom, ...]
    inbound: int | None
    """Messages stored of the last seven days; null where this user may not look at the streams, as below."""
    log: int | None
    dead: int | None
    """Letters that nobody could deliver."""
    responder: Status | None = None
    history: tuple[HistoryRun, ...] = ()
    dreams: tuple[DreamRunReport, ...] = ()
    """The newest run of the dreamer on each project."""
    spent: tuple[SpentBudget, ...] = ()
    """The cost of background models in all projects."""
    installation: Run | None = msgspec.field(default=None, name="house")
    """The process that runs it, where that is on this machine."""
    not_allowed: str = ""
    """The reason why the streams are not listed, where this user may not look at them."""
    refused: str = ""
    """The reason why the broker stores nothing; empty: it does, or this user may not try."""
    unread: tuple[str, ...] = ()
    """The parts of the above that could not be read, each with the reason."""


async def show(settings: Settings, *, as_json: bool) -> int:
    """Print the overview; the exit status is 1 where something needs a person."""
    overview = await look(settings)
    if as_json:
        write_json(overview)
    else:
        render(overview, console())
    return 0 if is_well(overview) else 1


def is_well(overview: Overview) -> bool:
    """Whether the responder answers, every room runs, each that is open can do its work, and the broker stores."""
    return overview.responder is not None and not overview.refused and all(map(_is_room_well, overview.rooms))


def _is_room_well(room: ObservedRoom) -> bool:
    return room.running is not False and (room.health is None or room.health.ok)


async def look(settings: Settings) -> Overview:
    bus = await admitted(settings, "status", settings.nats.user, PERSON, HARNESS, wait=3.0)
    try:
        processes = read_status(settings.data)
        names = dict.fromkeys((*processes, *ROOMS))
        known, streams, (responder, unlike), history, dreams, spent = await asyncio.gather(
            healths(bus, names, ANSWER),
            _streams(bus, tuple(names)),
            _responder(bus),
            _history(bus),
            _dreams(bus),
            spent_budgets(bus, "", ANSWER),
        )
        inbound, log, dead = streams.messages
        refused = await why_refused(bus, ANSWER)
        return Overview(
            broker=find(settings).url,
            rooms=tuple(_room(name, processes.get(name), streams.lags.get(name), known.get(name)) for name in names),
            inbound=inbound,
            log=log,
            dead=dead,
            responder=responder,
            history=history.runs,
            dreams=dreams.runs,
            spent=spent.budgets,
            unread=_unread(history, dreams, spent) if responder is not None else tuple(filter(None, [unlike])),
            installation=current(settings.data),
            not_allowed=streams.not_allowed,
            refused=refused,
        )
    finally:
        await bus.close()


class Streams(NamedTuple):
    """The broker's streams, as far as this user may look at them."""

    messages: Sequence[int | None]
    lags: Mapping[str, Lag | None]
    not_allowed: str = ""


async def _streams(bus: Bus, rooms: Sequence[str]) -> Streams:
    try:
        messages = [await bus.messages(stream.name) for stream in (IN, LOG, DEAD)]
        lags = await asyncio.gather(*(_lag(bus, room) for room in rooms))
    except NotAllowed as error:
        return Streams((None, None, None), {}, str(error))
    return Streams(messages, dict(zip(rooms, lags, strict=True)))


def _room(name: str, process: RoomStatus | None, lag: Lag | None, health: RoomHealth | None) -> ObservedRoom:
    return ObservedRoom(
        name=name,
        running=psutil.pid_exists(process.pid) if process else None,
        restarts=process.restarts if process else 0,
        last_exit=process.last_exit if process else None,
        lag=lag,
        health=health,
    )


async def _lag(bus: Bus, name: str) -> Lag | None:
    """The distance of a room from the end of the stream that it reads; None for one that only answers."""
    found = await asyncio.gather(*(bus.lag(stream.name, name) for stream in (IN, LOG)))
    return next((lag for lag in found if lag is not None), None)


async def _responder(bus: Bus) -> tuple[Status | None, str]:
    """The status of the responder; where its answer is not understood, the reason."""
    try:
        return await answer(bus, StatusAsk(), Status, ANSWER), ""
    except NotUnderstood as error:
        return None, str(error)
    except Unreachable:
        return None, ""


async def _history(bus: Bus) -> HistoryRuns:
    """The newest run of each session, where it is open or has failed."""
    try:
        return await answer(bus, HistoryRunsAsk(), HistoryRuns, ANSWER)
    except Unreachable as error:
        return HistoryRuns(error=str(error))


async def _dreams(bus: Bus) -> DreamReport:
    """The newest run of the dreamer on each project."""
    try:
        return await answer(bus, DreamsAsk(limit=LISTED_RUNS, newest=True), DreamReport, ANSWER)
    except Unreachable as error:
        return DreamReport(error=str(error))


def _unread(history: HistoryRuns, dreams: DreamReport, spent: SpentBudgets) -> tuple[str, ...]:
    """The parts that were answered with an error."""
    errors = (
        ("runs that compress history", history.error),
        ("runs of the dreamer", dreams.error),
        ("what models have cost", spent.error),
    )
    return tuple(f"{what}: {error}" for what, error in errors if error)


def _progress(run: HistoryRun) -> str:
    """One line about a run."""
    what = f"{run.project}/{run.session}, messages {run.first}-{run.last} ({run.reason})"
    if run.status == "failed":
        return f"{what}: failed with {run.code}; next try {run.retry_at or 'when there is reason to'}"
    done = max(0, run.through - run.first + 1)
    return f"{what}: {done} of {run.last - run.first + 1} done, about {run.tokens_left:,} tokens left"


def _near(session: SessionStatus) -> str:
    """One line about how near a session is to its next rebase."""
    what = f"{session.project}/{session.session}"
    named = f"{what} ({session.title})" if session.title else what
    return (
        f"{named}: about {session.prompt:,} tokens, {session.percent:.0f} % of what is usable (room is made at "
        f"{session.threshold:.0f} %, or when cheaper: {session.spent:.0f} % there); no rebase: {session.reason}"
    )


def _breaks(status: Status | None) -> Iterator[str]:
    """When the log was another one than before."""
    for one in status.breaks if status is not None else ():
        at = f"{one.at:%Y-%m-%d %H:%M UTC}"
        reason = Difference(one.known, one.agreed, one.head).reason
        yield f"log       {at}: {reason}; views and index were made anew, `annals doctor` says what is left to do"


def _skipped(status: Status | None) -> Iterator[str]:
    """The records of the log that cannot be read, with what to do about them."""
    if status is None or not status.skipped:
        return
    records, are = quantity(status.skipped, "record"), "is" if status.skipped == 1 else "are"
    yield f"skipped   {records} of the log cannot be read, and {are} passed over; `annals doctor` says what to do"
    for one in status.newest_skipped:
        yield f"skipped   {one.seq:,} on {one.subject}: {one.reason}"


def _unfolded(overview: Overview) -> Iterator[str]:
    """Which facts can be read, and which room cannot use them."""
    for health in unfolding(overview.responder, _healths(overview)):
        facts = quantity(health.unfolded, "fact")
        yield f"unfolded  the {health.room} can read and not use {facts} of the log; `annals doctor` says what to do"
        for one in health.newest_unfolded:
            yield f"unfolded  {one.seq:,}, {one.type}"


def _healths(overview: Overview) -> dict[str, RoomHealth]:
    return {room.name: room.health for room in overview.rooms if room.health is not None}


def _unwell(overview: Overview) -> Iterator[str]:
    """The failures of rooms, each with the reason."""
    for name, health in _healths(overview).items():
        for failure in health.failures or (() if health.ok else (NOT_WELL,)):
            yield f"unwell    {name}: {failure}; `annals doctor` says what to do"
    others = [one for one in overview.rooms if one.running is None]
    if any(one.health for one in others):
        for one in (one for one in others if one.health is None):
            yield f"unwell    {one.name}: it does not answer; see that it runs where the others do, and its log"


def _index(overview: Overview) -> Iterator[str]:
    """The distance of the index of search from the end of the log."""
    health = _healths(overview).get(INDEXER)
    if health is None or overview.responder is None:
        return
    if health.committed_through is None:
        yield "index     it is not open yet; searches find what was written before"
    else:
        behind = max(0, overview.responder.log_head - health.committed_through)
        yield f"index     {quantity(behind, 'fact')} behind the log"


def render(overview: Overview, out: Console) -> None:
    """Print the overview for a person. Names are printed as they are: square brackets in them are no markup."""
    rooms = Table("room", "runs", "well", "restarts", "waiting", "in hand", title="Rooms", title_justify="left")
    for room in overview.rooms:
        runs = {True: "yes", False: f"NO (exit {room.last_exit})", None: "elsewhere"}[room.running]
        lag = (str(room.lag.waiting), str(room.lag.in_hand)) if room.lag else ("", "")
        well = "" if room.health is None else "yes" if room.health.ok else "NO"
        rooms.add_row(*map(styled, (room.name, runs, well, str(room.restarts), *lag)))
    out.print(rooms)
    for line in _lines(overview):
        out.print(styled(line), soft_wrap=True)


def _stored(overview: Overview) -> Iterator[str]:
    """The number of messages in the streams."""
    if overview.not_allowed:
        yield f"streams   not listed: {overview.not_allowed}"
    if overview.inbound is not None:
        yield f"inbound   {quantity(overview.inbound, 'message')} of the last seven days"
    if overview.log is not None:
        yield f"log       {quantity(overview.log, 'fact')}"
    if overview.dead is not None:
        where = "; read them on the stream DEAD" if overview.dead else ""
        yield f"dead      {quantity(overview.dead, 'letter')}{where}"


def _lines(overview: Overview) -> Iterator[str]:
    if overview.installation is not None:
        yield f"process   {overview.installation.line}"
    yield f"broker    {overview.broker}"
    if overview.refused:
        yield f"refused   {overview.refused}; `annals doctor` says more"
    yield from _stored(overview)
    yield from _breaks(overview.responder)
    yield from _skipped(overview.responder)
    yield from _unfolded(overview)
    yield from _unwell(overview)
    for one in overview.unread:
        yield f"unread    {one}; run this again, and if it stays so, see the log lines of the rooms"
    for run in overview.history:
        yield f"history   {_progress(run)}"
    for dream in overview.dreams:
        yield f"dream     {brief(dream)}"
    yield from (f"spent     {line}" for line in budget_lines(overview.spent))
    for session in overview.responder.sessions if overview.responder else ():
        yield f"session   {_near(session)}"
    if overview.responder is None and not overview.unread:
        yield "views     the responder does not answer; its log lines say why"
    elif overview.responder is not None:
        behind = overview.responder.log_head - overview.responder.committed_through
        state = "being built" if overview.responder.building else f"{quantity(behind, 'fact')} behind the log"
        yield f"views     {state}, {quantity(overview.responder.hot_sessions, 'session')} in memory"
        if dropped := overview.responder.plans_dropped:
            waiting = overview.responder.plans_waiting
            calls, wait = quantity(waiting, "call"), "waits" if waiting == 1 else "wait"
            yield f"plans     {calls} {wait}; {dropped:,} got none in time, and went on with the plan they had"
    yield from _index(overview)
