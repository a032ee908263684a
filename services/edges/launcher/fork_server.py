"""The fork server: a process that has loaded what rooms need. Each room is a copy of it.

To load a room takes seconds, to copy it milliseconds: one that fell is soon back, and what all of them need is in
memory once. No thread may run here, since a copy would not have it.
"""

import gc
import os
import runpy
import selectors
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import msgspec

LOADED = ("commit_indexer", "console", "desk", "dreamer", "historian", "responder", "tagger")
"""The rooms that are loaded before they are asked for. What the others need begins threads when it is loaded."""
NAME = Path("/proc/self/comm")
MOST = 65_536


class Begin(msgspec.Struct, frozen=True):
    """Make a room."""

    room: str
    environment: tuple[tuple[bytes, bytes], ...]
    """Its variables as bytes, which they are: a home may have a name that is no UTF-8."""


class Begun(msgspec.Struct, frozen=True, tag=True):
    """The room that was asked for; answers come in the order of the questions."""

    pid: int


class EndedRoom(msgspec.Struct, frozen=True, tag=True):
    """A room has ended, with this status; below zero: of this signal."""

    pid: int
    code: int


_requests = msgspec.json.Decoder(Begin)


def serve(asker: socket.socket) -> Begin | None:
    """Make rooms until nobody can ask any more. What was asked for, in the room; nothing, in the server."""
    awake, woken = socket.socketpair()
    awake.settimeout(0)
    woken.settimeout(0)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno())
    with selectors.DefaultSelector() as selector, awake, woken, asker:
        selector.register(asker, selectors.EVENT_READ)
        selector.register(awake, selectors.EVENT_READ)
        pending = b""
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if awake in ready:
                awake.recv(MOST)
                _report_ended(asker)
            if asker in ready:
                data = asker.recv(MOST)
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    if not _forked(asker):
                        return _requests.decode(line)
                if not data:
                    return None


def _forked(asker: socket.socket) -> int:
    """Make a copy of this process; zero in the copy."""
    pid = os.fork()
    if pid:
        _send(asker, Begun(pid))
    else:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    return pid


def _report_ended(asker: socket.socket) -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            _send(asker, EndedRoom(ended[0], os.waitstatus_to_exitcode(ended[1])))


def _send(asker: socket.socket, reply: Begun | EndedRoom) -> None:
    with suppress(BrokenPipeError):  # nobody asks any more, which is read next
        asker.sendall(msgspec.json.encode(reply) + b"\n")


def _become(asked: Begin, supervisor: int) -> None:
    """Go on as this room, as if it had been started by its name."""
    os.setsid()
    os.environ.clear()
    os.environb.update(asked.environment)
    with suppress(OSError):
        NAME.write_text(f"annals-{asked.room}"[:15])
    sys.argv = [asked.room, "--with-parent", str(supervisor)]
    try:
        runpy.run_module(f"services.{asked.room}", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        _leave(end.code)


def _leave(code: object) -> NoReturn:
    """End at once: to take apart what was copied takes longer than all that the room had to close, which is closed."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def load() -> None:
    """Load the rooms."""
    import_module("services.kit.run")
    for room in LOADED:
        import_module(f"services.{room}.worker")
    gc.collect()
    gc.freeze()  # what is loaded is never looked through again, so that its pages stay shared


def attend(asker: socket.socket, supervisor: int) -> NoReturn:
    """Serve whoever holds the other end of this socket, in a process that has loaded the rooms.

    Each room ends with the process of this id, and goes on where this one falls.
    """
    asked = serve(asker)
    if asked is not None:
        _become(asked, supervisor)
    _leave(0)


if __name__ == "__main__":
    load()
    attend(socket.socket(fileno=int(sys.argv[1])), supervisor=int(sys.argv[2]))
