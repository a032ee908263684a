"""Rooms of many installations, one after the other, that are copies of one process: they are loaded once."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

from services.edges.launcher.fork_server import attend, load
from services.edges.launcher.room_process import Forked


class Shared(Forked):
    """Each has a fork server of its own, which is itself a copy."""

    async def _connected(self, environment: Mapping[str, str]) -> socket.socket:
        del environment
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(_loaded())
        return connection


@cache
def _loaded() -> str:
    """Where the process listens that has loaded the rooms. It ends with this one."""
    path = str(Path(tempfile.mkdtemp(prefix="annals-")) / "rooms")
    command = [sys.executable, "-m", __name__, path]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline()
    _kept.append(process)
    return path


_kept: list["subprocess.Popen[bytes]"] = []


def _serve(path: str) -> None:
    load()
    supervisor = os.getppid()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener, DefaultSelector() as selector:
        listener.bind(path)
        listener.listen()
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        selector.register(listener, EVENT_READ)
        selector.register(sys.stdin, EVENT_READ)
        while sys.stdin not in {key.fileobj for key, _ in selector.select()}:
            asker, _ = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                attend(asker, supervisor)
            asker.close()
    shutil.rmtree(Path(path).parent)


if __name__ == "__main__":
    _serve(sys.argv[1])
