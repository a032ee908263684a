"""Addresses: of the broker, and of the health of a process."""

from pathlib import Path

import msgspec

from services.kit.bus.connection import REMEDY, Unreachable
from services.kit.files import SPOILT, write_whole
from services.settings import Settings

FILE = "broker.json"
USERS = ("room", "harness", "person")


class Endpoint(msgspec.Struct, frozen=True):
    """The address of a broker, and the user to connect as."""

    url: str
    user: str = ""
    password: str = ""


class EndpointFile(msgspec.Struct, frozen=True):
    """The file with the embedded broker's address."""

    url: str
    passwords: dict[str, str]
    pid: int = 0


def write(data: Path, written: EndpointFile) -> None:
    """Write the file so that nobody but its owner can read it."""
    write_whole(data / FILE, msgspec.json.encode(written), mode=0o600)


def read(data: Path) -> EndpointFile | None:
    """The content of this data directory's file; None where there is none that can be read."""
    try:
        return msgspec.json.decode((data / FILE).read_bytes(), type=EndpointFile)
    except (OSError, *SPOILT):
        return None


def find(settings: Settings) -> Endpoint:
    """Find the broker of these settings, or the one that was started here. Raises `Unreachable` without either."""
    nats = settings.nats
    if nats.url:
        return Endpoint(nats.url, nats.user, nats.password.get_secret_value())
    written = read(settings.data)
    if written is not None:
        return Endpoint(written.url, nats.user, written.passwords.get(nats.user, ""))
    if (settings.data / FILE).exists():
        raise Unreachable(
            f"{settings.data / FILE} does not say where the broker is: start the installation anew with `annals down` "
            "and `annals up`, which writes that file"
        )
    raise Unreachable(f"no installation has run here; {REMEDY}")


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
