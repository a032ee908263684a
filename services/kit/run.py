"""The life of a room: settings, connection, work, and an orderly end."""

import asyncio
import os
import select
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import psutil
import uvloop

import schemas
import services
from services.kit import garbage, metrics
from services.kit.background import log_unretrieved
from services.kit.bus import Appender, BrokerError, Bus, LogReader, Unreachable
from services.kit.bus.erasure_lock import refuse_while_erasing
from services.kit.data_directory import Unusable, refuse_unusable
from services.kit.endpoint import FOLDER, READ_BACK, HealthAddress, find, write_address
from services.kit.health import HealthReport, Watchdog
from services.kit.logs import configure, logger
from services.kit.room import Kit, Room
from services.kit.stream_losses import StreamLosses
from services.settings import Settings, load

LOWERED = 5
"""The priority of a room that gives way, as `nice` counts: a third of the share of one that does not."""
GROUP = Path("/proc/self/autogroup")
THREADS = Path("/proc/self/task")
ATTEMPTS, PAUSE = 50, 0.2
"""The attempts to set the priority of the group, and the seconds between two: Linux takes one change in 0.1 s."""


async def give_way() -> None:
    """Have what others wait for go first.

    Linux shares the processor out between sessions, and only then between the processes of each, where it groups them
    (`sched_autogroup_enabled`). Each room is a session of its own, so that its group is given the priority, too.
    Nothing is done to a group with other processes, as the shell has that started a room.
    """
    with suppress(OSError):  # a system that does not let a process lower itself runs it as all others
        _lower_threads()
    if os.getsid(0) != os.getpid():
        return
    for _ in range(ATTEMPTS):
        if _lower_group():
            return
        await asyncio.sleep(PAUSE)


def _lower_group() -> bool:
    """Lower the session of this process, where the system groups sessions; whether nothing is left to try."""
    try:
        if GROUP.exists():
            GROUP.write_text(str(LOWERED))
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _lower_threads() -> None:
    """Linux counts the priority of each thread, other systems that of the process."""
    threads = [int(one.name) for one in THREADS.iterdir()] if THREADS.exists() else [0]
    for thread in threads:
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, thread, max(LOWERED, os.getpriority(os.PRIO_PROCESS, thread)))


IDLE_POLL = 0.05
ORPHAN_POLL = 1.0


class RoomFailure(RuntimeError):
    """A part of the room failed that nothing restores."""


def run(room: type[Room], arguments: list[str] | None = None) -> int:
    """Run one room until it is asked to stop; the exit status."""
    parser = ArgumentParser(prog=f"annals {room.NAME}", description=room.__doc__)
    parser.add_argument("--until-idle", action="store_true", help="work until nothing waits, then end")
    parser.add_argument("--with-parent", type=int, help="end when the process of this id, the supervisor, ends")
    options = parser.parse_args(arguments)
    _refuse_mixed_packages()
    garbage.collect_in_steps()
    os.umask(0o077)  # a room's files contain what people wrote: nobody else reads them
    loaded = load()
    settings = loaded.settings
    configure(room.NAME, level=settings.logs.level, as_json=settings.logs.format == "json")
    if options.with_parent is None:  # which has read the same, and handed on what holds
        for problem in loaded.problems:
            logger().warning(problem.line)
    try:
        refuse_unusable(settings.data)
        uvloop.run(_live(room, settings, until_idle=options.until_idle, parent=options.with_parent))
    except (Unreachable, RoomFailure, Unusable) as error:
        logger().error(str(error))
        return 1
    except BrokerError as error:
        logger().error(f"the broker failed this room: {str(error) or type(error).__name__}; any line before says more")
        return 1
    finally:
        garbage.collect_as_ever()
    return 0


def _refuse_mixed_packages() -> None:
    """`schemas` and `services` are plain names: another package of that name on the path would silently win."""
    homes = {Path(str(package.__file__)).parents[1] for package in (schemas, services)}
    if len(homes) > 1:
        sys.exit(f"schemas and services come from different places ({homes}); install only one of them")


async def _live(room_class: type[Room], settings: Settings, *, until_idle: bool, parent: int | None) -> None:
    asyncio.get_running_loop().set_exception_handler(log_unretrieved)
    stop = asyncio.Event()
    watchdog = Watchdog(settings.loop.hung_after)
    watches = [asyncio.create_task(one) for one in (watchdog.watch(), _until_orphaned(parent, stop))]
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    endpoint = find(settings)
    async with AsyncExitStack() as stack:
        name, wait = room_class.NAME, settings.nats.wait
        bus = await Bus.connect(endpoint.url, name, user=endpoint.user, password=endpoint.password, wait=wait)
        stack.push_async_callback(bus.close)
        await bus.ensure()
        await refuse_while_erasing(bus)
        watches.append(asyncio.create_task(garbage.collect_all_at_rest(lambda: bus.client.stats["in_msgs"])))
        room = room_class()
        appender = Appender(bus, settings.data / FOLDER / READ_BACK, writes=room_class.WRITES)
        kit = Kit(room_class.NAME, bus, LogReader(bus), appender, settings, stack, logger())
        await room.open(kit)
        if getattr(room_class, "GIVES_WAY", False):  # not before: while it is opened, others wait for what it will do
            watches.append(asyncio.create_task(give_way()))
        losses = StreamLosses(kit)
        if getattr(room_class, "WATCHES_STREAMS", False):
            losses.begin()
        report = HealthReport(kit, room, watchdog, lambda: appender.failure, lambda: losses.failures)
        try:
            server, port = metrics.serve(settings.http.host, settings.http.port, report.page)
        except OSError as error:
            raise RoomFailure(f"ANNALS_HTTP__PORT cannot be had ({error}); set another, or 0 for a free one") from error
        stack.callback(server.server_close)
        stack.callback(server.shutdown)
        await report.serve()
        if parent is not None:
            _write_address(kit, port)
        kit.log.info("open", port=port)
        await (_until_idle(room, stop, kit) if until_idle else _until_stopped(stop, kit))
        kit.log.info("closing")
    for watch in watches:
        watch.cancel()


def _write_address(kit: Kit, port: int) -> None:
    """Write the health page's address. Without it this room works all the same, and only its supervisor cannot ask."""
    address = HealthAddress(os.getpid(), kit.settings.http.host, port)
    try:
        write_address(kit.settings.data, kit.room, address)
    except OSError as error:
        kit.log.warning("the supervisor does not learn where to ask how this room is", reason=str(error))


async def _until_orphaned(parent: int | None, stop: asyncio.Event) -> None:
    """Ask to stop once the supervisor is gone, however it went: nobody would ever end this room otherwise."""
    if parent is None:
        return
    lives = _lives(parent)
    while lives():  # noqa: ASYNC110 - no signal reaches an orphan
        await asyncio.sleep(ORPHAN_POLL)
    stop.set()


def _lives(pid: int) -> Callable[[], bool]:
    """Whether the supervisor runs. A room that is a copy of a fork server is no child of it."""
    if os.getppid() == pid:
        return lambda: os.getppid() == pid
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return lambda: False
    except (AttributeError, OSError):  # a system without it
        return lambda: psutil.pid_exists(pid)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return lambda: not poll.poll(0)


async def _until_stopped(stop: asyncio.Event, kit: Kit) -> None:
    """Until someone asks. Raises `Unreachable` when the broker refuses what this room must do, or is gone for good.

    Raises `RoomFailure` when a part of the room has.
    """
    waits = [asyncio.create_task(event.wait()) for event in (stop, kit.failed, kit.bus.forbidden, kit.bus.lost)]
    _, pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in pending:
        wait.cancel()
    _check(kit)


def _check(kit: Kit) -> None:
    if kit.failed.is_set():
        raise RoomFailure("a part of this room failed, so that it ends; the line before says why")
    if kit.bus.lost.is_set():
        raise Unreachable("the broker ended the connection, or has another log; the line before says which")
    if kit.bus.forbidden.is_set():
        raise Unreachable("the broker refuses what this room must do; check its user's permissions in nats.conf")


async def _until_idle(room: Room, stop: asyncio.Event, kit: Kit) -> None:
    while not stop.is_set() and not await room.idle():
        _check(kit)
        await asyncio.sleep(IDLE_POLL)
