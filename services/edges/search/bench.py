"""`annals bench search`: sets of documents go through an installation of their own, and then the questions.

Each set is a project. Documents with files become commits of a repository, all others messages. When the index has read
everything, a person in no session asks each question, and what was found is left as one JSON line.
"""

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import msgspec
import uvloop

from schemas.codec import encode
from schemas.inbox import MessageSeen, PartSeen, Role, Seen, SessionSeen
from schemas.search_asks import Hits, SearchAsk
from schemas.streams import IN
from schemas.subjects import Address, ask
from services.edges.asking import answer
from services.edges.client.adapter import NOWHEN, Adapter
from services.edges.client.outbox import Outbox
from services.edges.launcher.supervisor import Installation
from services.edges.search.sets import Doc, Set, UnreadableSet, moment, read_sets
from services.edges.terminal import write_error
from services.kit.bus import Bus, LogReader, Unreachable
from services.kit.logs import configure
from services.kit.project_name import beginning, name_of
from services.settings import Nats, Settings

HARNESS = "bench"
LIMIT = 200
PATIENCE, POLL = 30.0, 0.5
STALLED = 300.0
"""Seconds without any headway after which a run is given up."""
MOST_COMMITS = 100_000
AT_ONCE = 200
"""Messages that are published together."""
COMMITTER = b"Annals <annals@example.invalid>"
FIRST_SECOND = 946_684_800
"""The second from which on commits without a readable time are numbered."""
_IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "PATH": os.environ.get("PATH", os.defpath),
}


class Stalled(RuntimeError):
    """The installation does not get on; says with what."""


class BenchProject(NamedTuple):
    """A set as the installation knows it."""

    name: str
    set: Set
    by_sha: Mapping[str, str]
    """Commit -> document."""


class QuestionLine(msgspec.Struct, frozen=True):
    """The line that is printed for a question."""

    task: str
    query_id: str
    ranking: tuple[str, ...]
    ms: float


def bench(paths: Sequence[Path], outs: Mapping[str, Path], settings: Settings) -> int:
    """Play the sets, and ask with each arm; the lines of each are left in its file."""
    configure("bench", level="warning", as_json=False)
    try:
        sets = read_sets(paths)
    except UnreadableSet as error:
        write_error(str(error))
        return 1
    try:
        uvloop.run(_bench(sets, outs, settings))
    except (Stalled, UnreadableSet) as error:
        write_error(str(error))
        return 1
    return 0


async def _bench(sets: Sequence[Set], outs: Mapping[str, Path], settings: Settings) -> None:
    with tempfile.TemporaryDirectory(prefix="annals-bench-", ignore_cleanup_errors=True) as folder:
        commits = msgspec.structs.replace(settings.commits, since_days=0, max_commits=MOST_COMMITS, every=1.0)
        base = msgspec.structs.replace(settings, data=Path(folder) / "data", commits=commits, nats=Nats())
        projects: list[BenchProject] = []
        for arm, out in outs.items():
            search = msgspec.structs.replace(base.search, ranking=arm)
            async with _installation(msgspec.structs.replace(base, search=search)) as bus:
                if not projects:
                    projects = [await _report(bus, number, one, Path(folder)) for number, one in enumerate(sets)]
                    await _read_through(bus, projects)
                lines = [line for project in projects for line in await _asked(bus, project)]
            out.write_bytes(b"".join(encode(line) + b"\n" for line in lines))


@asynccontextmanager
async def _installation(settings: Settings) -> AsyncIterator[Bus]:
    logs = msgspec.structs.replace(settings.logs, level="warning")
    async with Installation(msgspec.structs.replace(settings, logs=logs)).running() as installation:
        endpoint = installation.endpoint
        bus = await Bus.connect(endpoint.url, "bench", user=endpoint.user, password=endpoint.password)
        try:
            await _answers(bus)
            yield bus
        finally:
            await bus.close()


async def _answers(bus: Bus) -> None:
    """Wait until the searcher does."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            await bus.request(ask(SearchAsk.NAME, HARNESS), encode(SearchAsk(HARNESS, "")), 1.0)
        except Unreachable:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(POLL)
        else:
            return


async def _report(bus: Bus, number: int, one: Set, folder: Path) -> BenchProject:
    """Report all documents of a set, in the order of the file."""
    name = f"{HARNESS}-{number}"
    commits = [doc for doc in one.docs if doc.files is not None]
    by_sha: Mapping[str, str] = {}
    outbox = Outbox(bus)
    try:
        if commits:
            place = folder / "repositories" / name
            place.parent.mkdir(exist_ok=True)
            by_sha = await asyncio.to_thread(make_repository, place, commits)
            name = name_of(await beginning(place), place)  # the commits of no other project are read from there
            seen = SessionSeen(directory=str(place), root=str(place), vcs="git")
            await Adapter(bus, outbox, HARNESS, Address(name, HARNESS)).publish("session", NOWHEN, seen)
        messages = [doc for doc in one.docs if doc.files is None]
        for session, docs in groupby(messages, lambda doc: doc.group or HARNESS):
            await _say(Adapter(bus, outbox, HARNESS, Address(name, session)), list(docs))
        await outbox.flushed()
    finally:
        await outbox.close()
    return BenchProject(name, one, by_sha)


async def _say(adapter: Adapter, docs: Sequence[Doc]) -> None:
    await adapter.publish("session", NOWHEN, SessionSeen())
    for start in range(0, len(docs), AT_ONCE):
        seen: list[Seen] = [_message(doc) for doc in docs[start : start + AT_ONCE]]
        await adapter.publish(f"messages/{start}", datetime.now(UTC), *seen)


def _message(doc: Doc) -> MessageSeen:
    part = PartSeen(message=doc.id, type="text", part=f"{doc.id}.0", text=doc.text)
    role: Role = "assistant" if doc.role == "assistant" else "user"
    return MessageSeen(message=doc.id, role=role, at=moment(doc.time), parts=(part,))


async def _read_through(bus: Bus, projects: Sequence[BenchProject]) -> None:
    """Wait until the index holds all of it, with vectors where there is a model."""
    await _read_reports(bus)
    head = await LogReader(bus).head()
    for project in projects:
        state, changed = "", time.monotonic()
        while waits := await _waits(bus, project, head):
            if waits != state:
                state, changed = waits, time.monotonic()
            elif time.monotonic() - changed > STALLED:
                raise Stalled(f"the index of {project.set.task} makes no headway for {STALLED:.0f} s: {waits}")
            await asyncio.sleep(POLL)


async def _read_reports(bus: Bus) -> None:
    """Wait until the tagger has read all reports. Raises `Stalled`."""
    left, changed = -1, time.monotonic()
    while not await _settled(bus):
        waiting = await bus.newest(IN.name, ()) - await bus.settled(IN.name, "tagger")
        if waiting != left:
            left, changed = waiting, time.monotonic()
        elif time.monotonic() - changed > STALLED:
            raise Stalled(f"the tagger makes no headway for {STALLED:.0f} s: {waiting} reports wait for it")
        await asyncio.sleep(POLL)


async def _waits(bus: Bus, project: BenchProject, head: int) -> str:
    """The reasons why the index is not complete for a project; empty: it is."""
    found = await _search(bus, SearchAsk(project.name, "index", min_seq=head, limit=1))
    lacking = [reason for reason in found.degraded if "yet" in reason]
    if found.read_through < head:
        lacking.append(f"it has read to {found.read_through} of {head}")
    if not lacking and project.by_sha and not await _commits(bus, project):
        lacking.append("some commits cannot be found")
    return "; ".join(lacking)


async def _settled(bus: Bus) -> bool:
    """Whether the tagger has read all reports."""
    lag = await bus.lag(IN.name, "tagger")
    return lag is not None and not lag.waiting and not lag.in_hand and await LogReader(bus).head() > 0


async def _commits(bus: Bus, project: BenchProject) -> bool:
    """Whether the newest and the oldest commit can be found."""
    shas = list(project.by_sha)
    ends = [shas[0], shas[-1]]
    found = [await _search(bus, SearchAsk(project.name, sha, limit=1)) for sha in ends]
    return all(one.hits and one.hits[0].id == sha for one, sha in zip(found, ends, strict=True))


async def _asked(bus: Bus, project: BenchProject) -> list[QuestionLine]:
    lines = []
    await _search(bus, SearchAsk(project.name, "index", limit=1))  # what is read once is not part of an answer
    for question in project.set.queries:
        began = time.perf_counter()
        found = await _search(bus, SearchAsk(project.name, question.query, limit=LIMIT))
        ms = (time.perf_counter() - began) * 1000
        ranking = tuple(project.by_sha.get(hit.id, hit.id) for hit in found.hits)
        lines.append(QuestionLine(project.set.task, question.id, ranking, round(ms, 3)))
    return lines


async def _search(bus: Bus, question: SearchAsk) -> Hits:
    return await answer(bus, question, Hits, PATIENCE, question.project)


def make_repository(folder: Path, docs: Sequence[Doc]) -> Mapping[str, str]:
    """Make a real repository whose commits are given documents; sha -> document. Raises `UnreadableSet`.

    The oldest commit comes first, as far as their times show.
    """
    _git(folder.parent, b"", "init", "--quiet", "--initial-branch=main", str(folder))
    marks = folder / ".git" / "marks"
    ordered = sorted(enumerate(docs), key=lambda one: (_second(one[1], one[0]), -one[0]))
    listed = [doc for _, doc in ordered]
    _git(folder, b"".join(_stream(listed)), "fast-import", "--quiet", f"--export-marks={marks}")
    _git(folder, b"", "reset", "--quiet", "--hard", "main")
    found = (line.split() for line in marks.read_text().splitlines())
    return {sha: listed[int(mark.removeprefix(":")) - 1].id for mark, sha in found}


def _git(folder: Path, given: bytes, *words: str) -> None:
    try:
        subprocess.run(["git", *words], cwd=folder, input=given, check=True, capture_output=True, env=_IDENTITY)  # noqa: S603, S607
    except FileNotFoundError as error:
        raise UnreadableSet("git is not installed, and a set of commits needs it: install it") from error
    except subprocess.CalledProcessError as error:
        why = next(iter(error.stderr.decode(errors="replace").splitlines()), f"it ended with {error.returncode}")
        raise UnreadableSet(f"git can make no repository of the documents of a set ({why}): mend its files") from error


def _second(doc: Doc, number: int) -> int:
    at = moment(doc.time)
    return max(1, int(at.timestamp())) if at else FIRST_SECOND + number


def _stream(docs: Sequence[Doc]) -> Iterator[bytes]:
    """The input of `git fast-import`: one branch, and in each commit a line more in each of its files."""
    for number, doc in enumerate(docs, 1):
        text = doc.text.encode(errors="replace")
        yield b"commit refs/heads/main\nmark :%d\n" % number
        yield b"committer %s %d +0000\n" % (COMMITTER, _second(doc, number))
        yield b"data %d\n%s\n" % (len(text), text)
        content = b"%d\n" % number
        for path in dict.fromkeys(doc.files or ()):
            yield b"M 100644 inline %s\ndata %d\n%s\n" % (_quoted(path), len(content), content)
        yield b"\n"


def _quoted(path: str) -> bytes:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'.encode(errors="replace")
