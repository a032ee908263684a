"""Rooms of many installations, one after the other, and commands that are copies of one process: all is loaded once."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import NoReturn

from services.edges.launcher import fork_server
from services.edges.launcher.room_process import ForkedRooms
from tests.helpers import copied_commands

ROOMS, COMMANDS = "rooms", "commands"
"""The sockets at which copies are asked for."""


class Shared(ForkedRooms):
    """Each has a fork server of its own, which is itself a copy."""

    async def _connected(self, environment: Mapping[str, str]) -> socket.socket:
        del environment
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(loaded() / ROOMS))
        return connection


@cache
def loaded() -> Path:
    """The folder with the sockets of the process that has loaded all that is copied. It ends with this one."""
    folder = Path(tempfile.mkdtemp(prefix="annals-"))
    command = [sys.executable, "-m", __name__, str(folder)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # it would begin threads when it is loaded
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    _processes.append(process)
    return folder


_processes: list["subprocess.Popen[bytes]"] = []


def _serve(folder: Path) -> None:
    fork_server.load()
    variables = copied_commands.load()
    assert 1 == len(list(Path("/proc/self/task").iterdir())), "a copy would lack the threads that were begun here"
    attendants: Mapping[str, Callable[[socket.socket], NoReturn]] = {
        ROOMS: partial(fork_server.attend, supervisor=os.getppid()),
        COMMANDS: partial(copied_commands.attend, variables=variables),
    }
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with ExitStack() as listeners, DefaultSelector() as selector:
        for name, attend in attendants.items():
            listener = listeners.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(str(folder / name))
            listener.listen()
            selector.register(listener, EVENT_READ, attend)
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        selector.register(sys.stdin, EVENT_READ)
        while True:
            ready = [key for key, _ in selector.select()]
            if any(key.data is None for key in ready):
                break
            for key in ready:
                _copy(key.fileobj, key.data, listeners)
    shutil.rmtree(folder)


def _copy(listener: object, attend: Callable[[socket.socket], NoReturn], listeners: ExitStack) -> None:
    """Have a copy of this process serve whoever asks next."""
    assert isinstance(listener, socket.socket)
    asker, _ = listener.accept()
    if os.fork() == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listeners.close()
        attend(asker)
    asker.close()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
