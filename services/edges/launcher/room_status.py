"""The status of rooms that a supervisor writes to a file, for commands in other processes."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from services.kit.files import SPOILT, write_whole

FILE = "rooms.json"


class RoomStatus(msgspec.Struct):
    """One room's process, as its supervisor sees it."""

    pid: int
    restarts: int = 0
    last_exit: int | None = None


def write_status(data: Path, rooms: Mapping[str, RoomStatus]) -> None:
    """Write the file of this data directory anew."""
    write_whole(data / FILE, msgspec.json.encode(rooms), mode=0o600)


def read_status(data: Path) -> dict[str, RoomStatus]:
    """The status that the supervisor of this directory wrote last; nothing where none runs."""
    try:
        return msgspec.json.decode((data / FILE).read_bytes(), type=dict[str, RoomStatus])
    except (OSError, *SPOILT):
        return {}


def remove_status(data: Path) -> None:
    """Remove the file, when the rooms have ended."""
    (data / FILE).unlink(missing_ok=True)
