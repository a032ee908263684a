"""`annals erase`, for a person: what it would touch, the erasure, and a receipt of what is gone and what is not."""

import argparse
import getpass
import os
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from services.domain.erasure.facts import Structural
from services.domain.erasure.secret import TooShort
from services.edges.erase import files
from services.edges.erase.secret import Found, SecretErasure
from services.edges.launcher.broker import Broker
from services.edges.launcher.leftover import end_leftover
from services.edges.launcher.run import Busy, owned
from services.edges.terminal import write, write_error, write_note
from services.kit.bus import BrokerError, Bus, Unreachable
from services.kit.bus.rewriting import end_what_was_begun, is_half_done, is_read, refuse_unless_allowed
from services.settings import Settings

VARIABLE = "SECRET"
ROOM = 2
"""How many times as large a message may be: a mask may be longer than what it stands for."""
UNREACHED = (
    "plugins of harnesses that run now, or on other machines: their memory and their spools",
    "the harnesses' own files, in which what was said stands as it was",
    "providers of models, which have read the prompts",
    "backups and copies of the data directory",
    "parts of it: texts that were cut in its middle, or break it over lines",
    "free blocks of the disk, from which deleted files may be recovered",
)
VOLUMES = (
    "files of the broker, and of rooms, that are not below ANNALS_DATA here: deploy/README.md says which to delete"
)


async def erase(options: argparse.Namespace, settings: Settings) -> int:
    """Do what these arguments ask for; the exit status is 1 where it was refused, or something is left."""
    try:
        secret = _secret(options.source)
        async with stopped_store(settings) as store:
            return await _erase_secret(store, settings, secret, is_meant=options.yes)
    except Busy:
        write_error("an installation runs here, and erasing needs it stopped: run `annals down`, then this again")
    except (TooShort, Structural, Unreachable, BrokerError, OSError) as error:
        write_error(str(error) or type(error).__name__)
    return 1


def _secret(source: str | None) -> str:
    """The secret, which never stands in the arguments of a command: others see these, and shells keep them."""
    if source == "-":
        given = sys.stdin.buffer.read().decode(errors="surrogateescape")
        return given.removesuffix("\n").removesuffix("\r")
    if given := os.environ.get(VARIABLE):
        return given
    if sys.stdin.isatty():
        return getpass.getpass("The secret (it is not shown): ")
    raise TooShort(f"no secret was given: write it to standard input and give `-`, or set {VARIABLE}")


class StoppedStore(NamedTuple):
    """The broker of an installation whose rooms are stopped."""

    bus: Bus
    broker: Broker | None = None
    """The one that this command has started for itself."""

    async def close(self) -> None:
        """Let all be written that is stored."""
        if self.bus.connected:
            await self.bus.close()
        if self.broker is not None:
            self.broker.stop()


@asynccontextmanager
async def stopped_store(settings: Settings) -> AsyncIterator[StoppedStore]:
    """A broker that nobody else uses: one of this command alone, or the one of a team while its rooms are stopped."""
    nats = settings.nats
    if nats.url:
        bus = await Bus.connect(nats.url, "erase", user=nats.user, password=nats.password.get_secret_value())
        try:
            await _refuse_busy(bus)
            yield StoppedStore(bus)
        finally:
            await StoppedStore(bus).close()
        return
    if not (settings.data / "jetstream").is_dir():
        raise Unreachable(f"no installation has run in {settings.data}; set ANNALS_DATA to the directory of the one")
    with owned(settings.data):
        end_leftover(settings.data)
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


async def _refuse_busy(bus: Bus) -> None:
    await refuse_unless_allowed(bus)
    if await is_read(bus):
        raise Busy("rooms are connected")


async def _erase_secret(store: StoppedStore, settings: Settings, secret: str, *, is_meant: bool) -> int:
    erasure = SecretErasure(store.bus, settings.data, secret)
    if not is_meant:
        for line in lines_of(await erasure.look()):
            write(line)
        if await is_half_done(store.bus):
            write_note(
                "An erasure was cut off, so that some of the log may stand in its copy alone; --yes ends it first."
            )
        write_note("Nothing was changed; with --yes it is masked everywhere, in the prompts that showed it, too.")
        return 0
    if await is_half_done(store.bus):
        await end_what_was_begun(store.bus)  # so that all of the log is there to be looked at
    await erasure.refuse_unworked()
    await erasure.refuse_structural()
    for done, stage in erasure.stages:
        await stage()
        write(done)
    found = await erasure.look()
    await store.close()
    unreached = (*UNREACHED, VOLUMES) if store.broker is None else UNREACHED
    return _receipt(found, files.files_with(settings.data, erasure.masks), unreached)


def lines_of(found: Found) -> Iterator[str]:
    """What was found, store by store."""
    facts = ", ".join(f"{count:,} of {noun}" for noun, count in found.facts.items())
    where = f"{sum(found.facts.values()):,} facts at {found.sessions:,} addresses"
    yield f"log        {where}{': ' if facts else ''}{facts}"
    yield f"prompts    {found.facts.get('plan', 0):,} plans, which change once"
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


def _receipt(found: Found, left: Sequence[Path], unreached: Sequence[str]) -> int:
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
