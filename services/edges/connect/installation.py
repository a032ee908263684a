"""Whether an installation is well, judged from what was seen of it."""

import re
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Literal

import msgspec

from schemas.room_health import RoomHealth
from schemas.status_asks import Status
from schemas.streams import BUCKETS, STREAMS, Bucket, Stream
from services.domain.often import often
from services.edges.connect.findings import Finding, doubtful, ill, well
from services.edges.room_health import unfolding
from services.kit.bus import Lag
from services.kit.rooms import ROOMS
from services.kit.same_log import Difference

OLDEST = (2, 12)
"""The first broker with atomic batches."""
LATE = 1000
"""Messages that may wait without a word."""
GIB = 1024**3
LITTLE = 2 * GIB
INDEXER = "indexer"
TOO_LITTLE = GIB // 4
START = "start the installation with `annals up --detach`"
ROOM = "make room, and what waits is stored by itself"
ROOM_OF_TEAM = "make room, then start the broker anew (`docker compose restart nats`)"
"""A broker that nobody looks after stores nothing more once its disk was full, whatever room there is."""
REFUSED = "the broker's log says why: nats.log; where its disk is full"
LOGS = "its log lines say why: in the terminal of `annals up`, or in house.log next to its data"
IN_A_TEAM = {
    START: "start the rooms on the machine where they run (`docker compose up -d` where they are containers)",
    LOGS: "its log lines give the reason, on the machine where it runs (`docker compose logs` where it is a container)",
}
"""Remedies that only an installation on this machine has -> the same where the settings name a broker."""


class Timed(msgspec.Struct, frozen=True):
    """The answer to one probe, with the time it took; an error if none came."""

    text: str = ""
    ms: float = 0.0
    error: str = ""


class StreamSettings(msgspec.Struct, frozen=True):
    """The settings of one stream at the broker."""

    subjects: tuple[str, ...] = ()
    max_age: float = 0.0
    duplicate_window: float = 0.0
    denies_deletion: bool = False
    messages: int = 0


class Running(msgspec.Struct, frozen=True):
    """One room's process."""

    name: str
    state: Literal["running", "gone", "stopped", "elsewhere"]
    """`elsewhere`: no process is known here, and the room answers."""
    restarts: int = 0
    health: RoomHealth | None = None
    """The report of the room on its health; None: it is not open, or was not asked."""
    is_asked: bool = False


class Disk(msgspec.Struct, frozen=True):
    """The data directory."""

    path: str
    free: int
    readable_by_others: bool = False
    """Whether others could read the broker's passwords."""
    is_open: bool = False
    """Whether others could look into the directory."""


class InstallationState(msgspec.Struct, frozen=True):
    """The state of an installation as it was probed. `streams` is None where this user may not look."""

    url: str
    connected: Timed
    user: str = "harness"
    is_team: bool = False
    """Whether the broker is one that the settings name, and none of an installation on this machine."""
    version: str = ""
    jetstream: bool = True
    streams: Mapping[str, StreamSettings | None] | None = None
    run: str = ""
    """The way in which the installation is run, where that is on this machine."""
    rooms: tuple[Running, ...] = ()
    tagger: Lag | None = None
    dead: int = 0
    dead_reason: str = ""
    harness: Timed = Timed()
    inbound: Timed = Timed()
    taken: Timed = Timed()
    status: Status | None = None
    asked: Timed = Timed()
    commanded: Timed = Timed()


def judge(seen: InstallationState) -> tuple[Finding, ...]:
    """All findings on an installation; only the first where nothing answers."""
    found = (ill("broker", *_split(seen.connected.error)),) if seen.connected.error else tuple(_judge(seen))
    return tuple(map(_in_a_team, found)) if seen.is_team else found


def _in_a_team(found: Finding) -> Finding:
    """The same finding, with remedies for rooms that are run elsewhere."""
    remedy = found.remedy
    for own, other in IN_A_TEAM.items():
        remedy = remedy.replace(own, other)
    return msgspec.structs.replace(found, remedy=remedy)


def judge_disk(disk: Disk) -> tuple[Finding, ...]:
    free = f"{disk.free / GIB:.1f} GiB are free at {disk.path}"
    if disk.free < TOO_LITTLE:
        space = ill("disk", free, f"{ROOM}: a broker refuses what it has no room for")
    elif disk.free < LITTLE:
        space = doubtful("disk", free, "make room soon: the log only grows")
    else:
        space = well("disk", free)
    return (_passwords(disk), _folder(disk), space)


def _passwords(disk: Disk) -> Finding:
    if not disk.readable_by_others:
        return well("passwords", "only their owner can read the broker's passwords")
    path = f"{disk.path}/broker.json"
    return ill("passwords", f"others can read the passwords in {path}", f"`chmod 600 {quote(path)}`")


def _folder(disk: Disk) -> Finding:
    if not disk.is_open:
        return well("data", f"only its owner can look into {disk.path}")
    return ill("data", f"others can read the files in {disk.path}", f"`chmod 700 {quote(str(disk.path))}`")


def _judge(seen: InstallationState) -> Iterator[Finding]:
    yield _broker(seen)
    if not seen.jetstream:
        yield ill("jetstream", "the broker keeps no streams", "start it with JetStream, as deploy/nats.conf does")
        return
    yield well("jetstream", "it is on")
    if seen.streams is None:
        finding = f"the user `{seen.user}` may not look at them"
        if seen.is_team:
            yield well("streams", f"{finding}, and need not: `annals doctor` in the container of a room does")
        else:
            yield doubtful("streams", finding, "set ANNALS_NATS__USER=room to see them")
    else:
        yield from (_stream(stream, seen.streams.get(stream.name)) for stream in STREAMS)
        yield from (_bucket(bucket, seen.streams.get(f"OBJ_{bucket.name}")) for bucket in BUCKETS)
    yield from _rooms(seen)
    yield from _reading(seen)
    yield from _log(seen.status)
    yield from _unfolded(seen)
    yield from _round_trips(seen)


def _broker(seen: InstallationState) -> Finding:
    numbers = re.match(r"(\d+)\.(\d+)", seen.version)
    if numbers and tuple(map(int, numbers.groups())) < OLDEST:
        return ill("broker", f"{seen.url} runs {seen.version}", "Annals needs nats-server 2.12 or later: upgrade it")
    return well("broker", f"{seen.url} answers, version {seen.version}", seen.connected.ms)


def _stream(stream: Stream, settings: StreamSettings | None) -> Finding:
    what = f"stream {stream.name}"
    if settings is None:
        return ill(what, "it does not exist", "restart the installation: its rooms make what is missing")
    wrong = [
        f"{name} is {is_now}, not {should}"
        for name, is_now, should in (
            ("its subjects", settings.subjects, stream.subjects),
            ("max_age", settings.max_age, stream.max_age),
            ("duplicate_window", settings.duplicate_window, stream.duplicate_window),
            ("deny_delete and deny_purge", settings.denies_deletion, stream.immutable),
        )
        if is_now != should
    ]
    if wrong:
        remedy = f"set it back with `nats stream edit {stream.name}`"
        if stream.immutable and not settings.denies_deletion:
            remedy = "nobody can make a stream immutable afterwards: begin a new data directory, or keep an eye on it"
        return ill(what, " and ".join(wrong), remedy)
    return well(what, f"{stream.description}: {settings.messages:,} messages")


def _bucket(bucket: Bucket, settings: StreamSettings | None) -> Finding:
    what = f"bucket {bucket.name}"
    if settings is None:
        return ill(what, "it does not exist", "restart the installation: its rooms make what is missing")
    if settings.max_age != bucket.max_age:
        finding = f"max_age is {settings.max_age}, not {bucket.max_age}"
        return ill(what, finding, f"set it back with `nats stream edit OBJ_{bucket.name}`")
    return well(what, bucket.description)


def _rooms(seen: InstallationState) -> Iterator[Finding]:
    if seen.run:
        yield well("installation", f"it {seen.run}")
    if not seen.rooms:
        yield doubtful("rooms", "none was started from this data directory", "ignore this where they run elsewhere")
        return
    for room in seen.rooms:
        yield _room(room, is_run=bool(seen.run))
    if all(room.state == "elsewhere" for room in seen.rooms):
        for name in sorted({*ROOMS} - {room.name for room in seen.rooms}):
            yield doubtful(f"room {name}", "it does not answer", "see that it runs where the others do, and its log")


def _room(room: Running, *, is_run: bool) -> Finding:
    """The finding about a room. `is_run`: the installation that began it still runs, and begins it again."""
    what = f"room {room.name}"
    if room.state == "gone" and room.health is not None and room.health.ok:
        return doubtful(what, "it fell, and answers again", LOGS)
    if room.state == "gone" and is_run:
        return ill(what, "it fell, and is started again", f"look again in a while; if it stays so, {LOGS}")
    if room.state == "gone":
        return ill(what, "its process is gone", f"{LOGS}; {START} if that has ended")
    if room.state == "stopped":
        return ill(what, "its process is stopped and does nothing", "let it go on: `kill -CONT` with its pid")
    if room.health is not None and not room.health.ok:
        failures = "; ".join(room.health.failures) or "it cannot do its work"
        return ill(what, failures, f"see that its disk has room and can be written, and look again; {LOGS}")
    if room.is_asked and room.health is None:
        return doubtful(what, "it runs, and does not answer yet", f"look again in a while; if it stays so, {LOGS}")
    if room.restarts:
        return doubtful(what, f"it runs, and fell {often(room.restarts)} before", LOGS)
    return well(what, "it runs" if room.state == "running" else "it answers")


def _reading(seen: InstallationState) -> Iterator[Finding]:
    if seen.streams is not None:
        if seen.tagger is None:
            yield ill("tagger", "it has never read what harnesses publish", START)
        else:
            yield _lag("tagger", seen.tagger.waiting + seen.tagger.in_hand, "messages wait for it")
    if seen.status is not None and seen.status.building:
        yield doubtful("responder", "it builds its views anew", "wait: old plans are served until it is done")
    elif seen.status is not None:
        yield _lag("responder", seen.status.log_head - seen.status.committed_through, "facts are not in its views yet")
    if seen.status is not None and (through := _index_through(seen)) is not None:
        yield _lag("indexer", seen.status.log_head - through, "facts are not in its index yet")
    if seen.dead:
        reason = f", the last one because: {seen.dead_reason}" if seen.dead_reason else ""
        remedy = "read them with `nats stream view DEAD`; Annals-Reason says why, Annals-Sequence where from"
        yield doubtful("dead letters", f"{seen.dead:,} could not be delivered{reason}", remedy)
    elif seen.streams is not None:
        yield well("dead letters", "there are none")


def _log(status: Status | None) -> Iterator[Finding]:
    """Whether the log is the one that it was, and can be read."""
    if status is None:
        return
    for one in status.breaks:
        yield doubtful(
            "log",
            f"{Difference(one.known, one.agreed, one.head).reason}, as was noticed at {one.at:%Y-%m-%d %H:%M UTC}, "
            "and views and index were made anew",
            "what was written between is gone: docs/operating.md says what can be had again; if this is not the log "
            "that it should be, put the right one in its place. This is repeated for a week",
        )
    if not status.skipped:
        yield well("log", "every record of it can be read")
        return
    where = "; ".join(f"{one.seq} on {one.subject}: {one.reason}" for one in status.newest_skipped)
    yield doubtful(
        "log",
        f"{status.skipped:,} of its records cannot be read and are passed over, the last ones at {where}",
        "nothing is lost by them: look at one with `nats stream get LOG POSITION`; if more come, someone publishes "
        "into the log who should not, so give each credential a new password",
    )


def _index_through(seen: InstallationState) -> int | None:
    return next((one.health.committed_through for one in seen.rooms if one.name == INDEXER and one.health), None)


def _unfolded(seen: InstallationState) -> Iterator[Finding]:
    """Whether each room could use all facts that it has read."""
    for health in unfolding(seen.status, {one.name: one.health for one in seen.rooms if one.health is not None}):
        where = "; ".join(f"{one.seq}, {one.type}" for one in health.newest_unfolded)
        yield doubtful(
            "facts",
            f"{health.unfolded:,} can be read and not be used since the {health.room} began, the last ones at {where}",
            "they are passed over, and what the room makes of the log lacks what they say: look at one with `nats "
            f"stream get LOG POSITION`. The {health.room} has noted each error: {LOGS}",
        )


def _lag(what: str, behind: int, waiting: str) -> Finding:
    if behind > LATE:
        return doubtful(what, f"{behind:,} {waiting}", f"look again in a while; if they do not get fewer, {LOGS}")
    return well(what, f"{max(0, behind):,} {waiting}")


def _round_trips(seen: InstallationState) -> Iterator[Finding]:
    if seen.harness.error:
        yield ill("user harness", *_split(seen.harness.error))
        return
    if not seen.harness.text and seen.is_team and seen.user == "room":
        yield well("user harness", "nothing was tried as a harness: a room does not know its password, and need not")
        yield _trip("asked", seen.asked, "the responder answers", "see the findings on the responder")
        return
    if not seen.harness.text:
        yield doubtful(
            "user harness",
            "its password is not known here, so that nothing was published or commanded as a harness does",
            "run `annals doctor` where a harness runs, too",
        )
        yield _trip("asked", seen.asked, "the responder answers", "see the findings on the responder")
        return
    room = ROOM_OF_TEAM if seen.is_team else ROOM
    yield _trip("published", seen.inbound, "the broker stores what a harness publishes", f"{REFUSED}: {room}")
    if seen.taken.text or seen.taken.error:
        yield _trip("read", seen.taken, "the tagger has read it", "see the findings on the tagger")
    yield _trip("asked", seen.asked, "the responder answers", "see the findings on the responder")
    yield _trip(
        "commanded", seen.commanded, "the desk answers, and refused an empty command", "see the findings on the desk"
    )


def _trip(what: str, probe: Timed, success: str, remedy: str) -> Finding:
    return ill(what, *_split(probe.error, remedy)) if probe.error else well(what, success, probe.ms)


def _split(error: str, remedy: str = START) -> tuple[str, str]:
    """The finding and the remedy of an error that says both; else this remedy."""
    finding, _, advice = error.partition("; ")
    return finding, advice or remedy
