"""What setup did on this machine, kept beside the bundle, so that it can be taken back."""

from pathlib import Path

import msgspec

from services.connect import files
from services.connect.bundle import home
from services.connect.change import Written

FILE = "setup.json"


class Noted(msgspec.Struct, frozen=True):
    """One configuration that was changed."""

    written: Written
    stubs: tuple[str, ...] = ()
    """The folders in which something stands in for OpenCode's dependencies."""


Note = dict[str, Noted]
"""By the path of the configuration."""


def load(data: Path) -> Note:
    try:
        return msgspec.json.decode((home(data) / FILE).read_bytes(), type=Note)
    except (FileNotFoundError, msgspec.DecodeError):
        return {}


def save(data: Path, note: Note) -> None:
    path = home(data) / FILE
    if note:
        files.write(path, msgspec.json.format(msgspec.json.encode(note)) + b"\n")
        path.chmod(0o600)
    else:
        path.unlink(missing_ok=True)
