"""Where the broker is: told by the settings, or written down by the one who started it."""

import os
from pathlib import Path

import msgspec

from services.kit.settings import Settings

FILE = "broker.json"
USERS = ("room", "harness")


class Endpoint(msgspec.Struct, frozen=True):
    """An address with the user to be there."""

    url: str
    user: str = ""
    password: str = ""


class Written(msgspec.Struct, frozen=True):
    """The file that the embedded broker's address is kept in."""

    url: str
    passwords: dict[str, str]
    pid: int = 0


def write(data: Path, written: Written) -> None:
    """Write the file so that nobody but its owner reads it, and nobody ever reads half of it."""
    data.mkdir(parents=True, exist_ok=True)
    draft = data / f"{FILE}.draft"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(written))
    draft.replace(data / FILE)


def read(data: Path) -> Written | None:
    try:
        return msgspec.json.decode((data / FILE).read_bytes(), type=Written)
    except (FileNotFoundError, msgspec.DecodeError, msgspec.ValidationError):
        return None


def find(settings: Settings) -> Endpoint:
    """The broker of these settings; without any, the usual address on this machine."""
    nats = settings.nats
    if nats.url:
        return Endpoint(nats.url, nats.user, nats.password.get_secret_value())
    written = read(settings.data)
    if written is not None:
        return Endpoint(written.url, nats.user, written.passwords.get(nats.user, ""))
    return Endpoint("nats://127.0.0.1:4222")
