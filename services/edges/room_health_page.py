"""The health page of a room on this machine, and the end of a room that takes a request and does not answer it.

A container has no supervisor: its health check ends a room that hangs, and its restart policy starts it anew.
"""

import os
import signal
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from services.kit import rooms

PATIENCE = 5.0
"""Seconds that a room has to answer."""
LISTENS = "0A"
"""The state of a socket that listens, as /proc/net has it."""
PROC = Path("/proc")
MOST_BYTES = 1024 * 1024
"""Bytes of a page that are read."""


class HealthPage(NamedTuple):
    """The answer of a room."""

    text: str
    is_well: bool


class NoRoom(LookupError):
    """Nobody listens at this port, or what does is no room."""


class Unanswered(TimeoutError):
    """The request was taken, and not answered in time."""


def health_page(port: int, patience: float = PATIENCE) -> HealthPage:
    """Request a room's health page. Raises `NoRoom` or `Unanswered`."""
    try:
        with _page(port, patience) as reply:
            text = reply.read(MOST_BYTES).decode(errors="replace")
            return HealthPage(text, is_well=not isinstance(reply, HTTPError))
    except TimeoutError as error:
        raise Unanswered from error
    except (OSError, HTTPException) as error:
        if isinstance(error, URLError) and isinstance(error.reason, TimeoutError):
            raise Unanswered from error
        raise NoRoom from error


def _page(port: int, patience: float) -> HTTPResponse | HTTPError:
    """The page, from its beginning; of a room that is not well it says why."""
    try:
        found: HTTPResponse = urlopen(f"http://127.0.0.1:{port}/healthz", timeout=patience)
    except HTTPError as error:
        return error
    return found


def end_hung(port: int, patience: float) -> int | None:
    """End the room that listens at this port where it does not answer for so many seconds, too; its process.

    None: it answers, or no room of this user is found there. Other programs are never ended.
    """
    try:
        health_page(port, patience)
    except NoRoom:
        return None
    except Unanswered:
        for process in _rooms_at(port):
            os.kill(process, signal.SIGKILL)
            return process
    return None


def _rooms_at(port: int) -> Iterator[int]:
    """The processes of rooms that listen at this port, as far as this user may look; none where there is no /proc."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    for folder in PROC.glob("[0-9]*"):
        try:
            opened = {str(one.readlink()) for one in (folder / "fd").iterdir()}
            words = (folder / "cmdline").read_text(errors="replace").split("\0")
        except OSError:
            continue  # of somebody else, or over by now
        if sockets & opened and any(word.removeprefix("services.") in rooms.ROOMS for word in words):
            yield int(folder.name)


def _inodes(port: int) -> Iterator[str]:
    """The sockets that listen at a port."""
    for table in ("tcp", "tcp6"):
        try:
            lines = (PROC / "net" / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == LISTENS and int(local.rpartition(":")[2], 16) == port:
                yield inode
