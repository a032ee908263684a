"""The broker's address: from the settings, or from the file of the process that started it."""

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
