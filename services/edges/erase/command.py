"""`annals erase`, for a person: what it would touch, the erasure, and a receipt of what is gone and what is not."""

import argparse
import getpass
import os
import platform
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from schemas.streams import LOG
from schemas.subjects import Address
from services.domain.erasure.facts import Structural
from services.domain.erasure.scope import ErasureScope
from services.domain.erasure.secret import TooShort, spellings
from services.domain.erasure.survey import Survey, Unknown
from services.edges.erase import files
from services.edges.erase.erasure import Erasure, Occurrences
from services.edges.launcher.broker import RESERVE, Broker
from services.edges.launcher.leftover import end_leftover, refuse_leftover
from services.edges.launcher.run import Busy, owned
from services.edges.terminal import write, write_error, write_note
from services.kit.bus import BrokerError, Bus, NotAdmitted, Unreachable
from services.kit.bus.erasure_lock import ErasureLock, Lease, Owner, describe, lease_of
from services.kit.bus.rewriting import (
    bytes_of,
    end_what_was_begun,
    is_half_done,
    is_read,
    refuse_unless_allowed,
    stored_messages,
)
from services.settings import Settings

VARIABLE = "SECRET"
MEGABYTE = 1_000_000
ROOM = 2
"""The factor by which a message may be larger: a mask may be longer than the text it replaces."""
CONTAINER = (Path("/.dockerenv"), Path("/run/.containerenv"))
"""Files by which Docker and Podman mark a container."""
UNREACHED = (
    "plugins that were not connected since: each gets the order when it connects next, before it sends what it stored",
    "plugins of releases before that, and the memory of harnesses that run now: they send what they have",
    "prompts that showed it, before the next call of their sessions, which rebases them with the cause `erasure`",
    "the harnesses' own files, in which the conversation is unchanged",
    "providers of models, which have read the prompts",
    "backups and copies of the data directory",
    "free blocks of the disk, from which deleted files may be recovered",
)
UNREACHED_OF = {
    "secret": ("parts of it: texts that were cut in its middle, or break it over lines",),
    "memory": (
        "its sense in other words: messages it was made from, summaries, and memories that say the same otherwise",
    ),
    "session": (
        "what other sessions quote of it: answers to their searches, texts that were copied into them",
        "memories that a person has written or approved, or that other sessions found, too: see `annals erase memory`",
        "a harness that still has the session: where it goes on with it, it reports it again",
    ),
    "project": (
        "the repository itself, and its remotes",
        "what sessions of other projects quote of it",
        "a harness that still has its sessions: where it goes on with one, it reports it again",
    ),
}
"""The kind of an erasure -> what it does not reach."""
VOLUMES = (
    "files of the broker, and of rooms, that are not below ANNALS_DATA here: deploy/README.md says which to delete. "
    "Views of before, and those that were put aside, are removed by the responder when it starts"
)


async def erase(options: argparse.Namespace, settings: Settings) -> int:
    """Do what these arguments ask for; the exit status is 1 where it was refused, or something is left."""
    try:
        scope_of = _scope_of(options)
        async with stopped_store(settings, is_changed=options.yes) as store:
            return await _erase(store, settings, scope_of, options)
    except Busy:
        write_error("an installation runs here, and erasing needs it stopped: run `annals down`, then this again")
    except (TooShort, Structural, Unknown, Unreachable, BrokerError, OSError) as error:
        write_error(str(error) or type(error).__name__)
    return 1


ScopeOf = Callable[[Bus], Awaitable[ErasureScope]]


def _scope_of(options: argparse.Namespace) -> ScopeOf:
    """The way in which the scope of these arguments is found in a log. A secret is asked for at once."""
    if options.what == "secret":
        scope = ErasureScope(masks=spellings(_secret(options.source)))

        async def known(_: Bus) -> ErasureScope:
            return scope

        return known

    async def surveyed(bus: Bus) -> ErasureScope:
        survey = Survey()
        async with aclosing(stored_messages(bus, LOG.name)) as log:
            async for message in log:
                survey.add(message.subject, message.data)
        return _meant(survey, options)

    return surveyed


def _meant(survey: Survey, options: argparse.Namespace) -> ErasureScope:
    match options.what:
        case "session":
            scope = survey.of_session(options.session)
            for one in sorted(scope.sessions, key=lambda one: (one.project, one.session)):
                write(f"session    {one.session} of {one.project}: {survey.facts[one]:,} facts")
            write(
                f"memory     {len(scope.memories):,} memories and {len(scope.notes):,} notes that came of these alone"
            )
            return scope
        case "memory":
            scope = survey.of_memories(options.memories)
            for name in survey.merged_from(scope.memories):
                write(f"memory     {name} was merged from it, and stays: name it too, if it is to go")
            return scope
        case _:
            scope = survey.of_project(options.project)
            of = [one for one in survey.facts if one.project in scope.projects]
            for project in sorted(scope.projects):
                sessions = sum(one.project == project and bool(one.session) for one in of)
                memories = sum(key[0] == project for key in survey.memories)
                write(f"project    {project}: {sessions:,} sessions, {memories:,} memories")
            return scope


def _secret(source: str | None) -> str:
    """The secret, which is never an argument of a command: others can see these, and shells store them."""
    if source == "-":
        given = sys.stdin.buffer.read().decode(errors="surrogateescape")
        return given.removesuffix("\n").removesuffix("\r")
    if given := os.environ.get(VARIABLE):
        return given
    if sys.stdin.isatty():
        return getpass.getpass("The secret (your input is not displayed): ")
    raise TooShort(f"no secret was given: write it to standard input and give `-`, or set {VARIABLE}")


class StoppedStore(NamedTuple):
    """The broker of an installation whose rooms are stopped."""

    bus: Bus
    broker: Broker | None = None
    """The one that this command has started for itself."""
    lock: ErasureLock | None = None
    """The lock that prevents others from erasing on a team's broker; None: there is none to take."""
    lease: Lease | None = None
    """The lock as it was found there: of an erasure that was cut off, or that works now."""

    async def close(self) -> None:
        """Let all be written that is stored."""
        if self.bus.connected:
            if self.lock is not None:
                await self.lock.release()
            await self.bus.close()
        if self.broker is not None:
            self.broker.stop()


@asynccontextmanager
async def stopped_store(settings: Settings, *, is_changed: bool) -> AsyncIterator[StoppedStore]:
    """A broker that nobody else uses: one of this command alone, or the one of a team while its rooms are stopped.

    `is_changed`: whether something will be erased. Then the broker that a killed supervisor left behind is ended, and
    not a reason to refuse, and no second erasure is let to a team's broker.
    """
    nats = settings.nats
    if nats.url:
        password = nats.password.get_secret_value()
        try:
            bus = await Bus.connect(nats.url, "erase", user=nats.user, password=password, wait=nats.wait)
        except NotAdmitted as error:
            raise Unreachable(
                "no password of a team's broker lets anybody erase what it stores; stop its rooms, and run `annals "
                "erase` with a broker of its own on the same store, as deploy/README.md describes"
            ) from error
        try:
            await refuse_unless_allowed(bus)
            async with _locked(bus, settings.data) if is_changed else _unlocked(bus) as store:
                if await is_read(bus):
                    raise Busy("rooms are connected")
                yield store
        finally:
            await StoppedStore(bus).close()
        return
    if not (settings.data / "jetstream").is_dir():
        raise Unreachable(f"no installation has run in {settings.data}; set ANNALS_DATA to the directory of the one")
    with owned(settings.data):
        (end_leftover if is_changed else refuse_leftover)(settings.data)
        files.refuse_foreign(settings.data)
        broker = Broker(settings.data, port=0, max_payload=ROOM * nats.max_payload, is_alone=True)
        await broker.start()
        try:
            endpoint = broker.endpoint
            bus = await Bus.connect(endpoint.url, "erase", user=endpoint.user, password=endpoint.password)
            try:
                yield StoppedStore(bus, broker)
            finally:
                await StoppedStore(bus).close()
        finally:
            broker.stop()


@asynccontextmanager
async def _locked(bus: Bus, data: Path) -> AsyncIterator[StoppedStore]:
    """A team's broker on which nobody else erases. Raises `NotOwned`."""
    with files.only_one(data) as name:
        is_in_container = any(sign.exists() for sign in CONTAINER)
        owner = Owner(name, platform.node(), os.getpid(), datetime.now(UTC), is_in_container=is_in_container)
        lock = ErasureLock(bus, owner)
        store = StoppedStore(bus, lock=lock, lease=await lock.take())
        try:
            yield store
        finally:
            await store.close()


@asynccontextmanager
async def _unlocked(bus: Bus) -> AsyncIterator[StoppedStore]:
    """A team's broker on which nothing is changed."""
    yield StoppedStore(bus, lease=await lease_of(bus))


async def _erase(store: StoppedStore, settings: Settings, scope_of: ScopeOf, options: argparse.Namespace) -> int:
    if not options.yes:
        return await _show(store, settings, scope_of)
    if store.lease is not None:
        write_note(
            f"Cut off was {describe(store.lease.owner)}. What it had begun with the log is ended now; what else it "
            "was to erase may be left: run that again, too, unless it is this one."
        )
    if await is_half_done(store.bus):
        await end_what_was_begun(store.bus)  # so that all of the log is there to be looked at
    erasure = Erasure(store.bus, settings.data, await scope_of(store.bus), datetime.now(UTC))
    for refuse in _refusals(store, settings, erasure):
        await refuse()
    await erasure.take_samples()
    for done, stage in erasure.stages:
        await stage()
        write(done)
    found = await erasure.look()
    await store.close()
    unreached = [*map(unread_prompt, erasure.unread), *UNREACHED, *UNREACHED_OF[options.what]]
    if store.broker is None:
        unreached.append(VOLUMES)
    unreached += [f"{path}, a link: what it leads to was not looked at" for path in files.links(settings.data)]
    return _receipt(found, files.files_with(settings.data, erasure.needles), unreached)


async def _show(store: StoppedStore, settings: Settings, scope_of: ScopeOf) -> int:
    """Show what would be touched, and why `--yes` would refuse. Nothing is changed."""
    if store.lease is not None and store.lease.left:
        write_note(f"With --yes it would be refused for now: {store.lease.sentence}.")
    elif await is_half_done(store.bus):
        write_note("An erasure was cut off, so that some of the log may be in its copy alone; --yes ends it first.")
    erasure = Erasure(store.bus, settings.data, await scope_of(store.bus), datetime.now(UTC))
    for line in lines_of(await erasure.look()):
        write(line)
    for refuse in _refusals(store, settings, erasure):
        try:
            await refuse()
        except (Structural, Unreachable) as error:
            write_note(f"With --yes it would be refused: {error}.")
    write_note("Nothing was changed; with --yes it is masked everywhere, in the prompts that showed it, too.")
    return 0


def _refusals(store: StoppedStore, settings: Settings, erasure: Erasure) -> Sequence[Callable[[], Awaitable[None]]]:
    """The checks that refuse an erasure before anything is changed."""

    async def refuse_without_room() -> None:
        if store.broker is not None:
            check_room(await bytes_of(store.bus, LOG.name), shutil.disk_usage(settings.data).free)

    return (erasure.refuse_unworked, erasure.refuse_structural, refuse_without_room)


def check_room(log: int, free: int) -> None:
    """Raise `Unreachable` where the disk has no room for a copy of the log. Both are bytes."""
    needed = log + RESERVE
    if free < needed:
        raise Unreachable(
            f"the copy of the log needs {needed / MEGABYTE:,.0f} MB, and the disk has {free / MEGABYTE:,.0f} MB; "
            "make room, then run this again"
        )


def lines_of(found: Occurrences) -> Iterator[str]:
    """The lines on what was found, store by store."""
    facts = ", ".join(f"{count:,} of {noun}" for noun, count in found.facts.items())
    where = f"{sum(found.facts.values()):,} facts at {found.sessions:,} addresses"
    yield f"log        {where}{': ' if facts else ''}{facts}"
    yield f"prompts    {found.prompts:,} of sessions that stay, each of which is rebased once"
    for address in found.unread:
        yield f"not rebased: {unread_prompt(address)}"
    for name, count in found.streams.items():
        yield f"{name:<10} {count:,} messages"
    for name, count in found.bodies.items():
        yield f"{name:<10} {count:,} long bodies"
    yield f"views      {found.views:,} rows"
    yield f"index      {found.index:,} rows"
    for name in found.mirrors:
        yield f"mirror     {name}; fetched again, it comes back unless it is erased in the remote"
    for path in found.files:
        yield f"file       {path}"


def unread_prompt(address: Address) -> str:
    """The sentence for a prompt that shows it, and that nothing can be done about here."""
    return (
        f"the prompt of the session {address.session} of {address.project}, of which a plan cannot be read: its "
        "harness may serve what that showed; go on in a new session"
    )


def _receipt(found: Occurrences, left: Sequence[Path], unreached: Sequence[str]) -> int:
    """Print what was found afterwards, and what was not looked at; the exit status."""
    write("")
    write("Looked for again, in each store through its own reader, and in the bytes of every file:")
    for line in lines_of(found):
        write(line)
    write(f"bytes      {len(left):,} files")
    for path in left:
        write(f"left in    {path}")
    write("")
    write("Not reached:")
    for one in unreached:
        write(f"- {one}")
    is_gone = found.is_nothing and not left
    write("")
    write("Nothing of it is left here." if is_gone else "Some of it is left: run this again, and see who writes there.")
    return 0 if is_gone else 1
