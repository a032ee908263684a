"""The address of a room's health page, in a file for the supervisor that has started the room."""

from pathlib import Path

import msgspec

from services.kit.files import SPOILT, write_whole

FOLDER = "health"
READ_BACK = "read_back"
"""The file that names the broker whose newest facts were found whole."""


class HealthAddress(msgspec.Struct, frozen=True):
    """The process of a room, and where it serves `/healthz`."""

    pid: int
    host: str
    port: int


def write_address(data: Path, room: str, address: HealthAddress) -> None:
    """Write the file of this room anew."""
    path = _path(data, room)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(path, msgspec.json.encode(address), mode=0o600)


def read_address(data: Path, room: str, pid: int) -> HealthAddress | None:
    """The address of this room, where this process has written it down."""
    try:
        address = msgspec.json.decode(_path(data, room).read_bytes(), type=HealthAddress)
    except (OSError, *SPOILT):
        return None
    return address if address.pid == pid else None


def _path(data: Path, room: str) -> Path:
    return data / FOLDER / f"{room}.json"
