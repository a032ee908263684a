"""The record of what setup did on this machine, stored next to the bundle, so that it can be undone."""

from pathlib import Path

import msgspec

from services.edges.connect import files
from services.edges.connect.bundle import home
from services.edges.connect.written import ConfigurationRecord

FILE = "setup.json"


class ConfigurationNote(msgspec.Struct, frozen=True):
    """One configuration that was changed."""

    written: ConfigurationRecord
    stubs: tuple[str, ...] = ()
    """The folders besides it in which something was made."""


Note = dict[str, ConfigurationNote]
"""By the path of the configuration."""


def load(data: Path, harness: str) -> Note:
    try:
        return msgspec.json.decode((home(data, harness) / FILE).read_bytes(), type=Note)
    except (FileNotFoundError, msgspec.DecodeError):
        return {}


def save(data: Path, harness: str, note: Note) -> None:
    path = home(data, harness) / FILE
    if note:
        files.write(path, msgspec.json.format(msgspec.json.encode(note)) + b"\n")
        path.chmod(0o600)
    else:
        path.unlink(missing_ok=True)
