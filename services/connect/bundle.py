"""The adapter's bundle: where this installation has it, and the copy that OpenCode loads."""

import hashlib
from pathlib import Path

from services.connect import files
from services.connect.config import BUNDLE

_HERE = Path(__file__).parent
SOURCES = (_HERE.parents[1] / "deploy" / "opencode" / "dist" / BUNDLE, _HERE / BUNDLE)
"""In a checkout, and beside an installed package."""


class Missing(FileNotFoundError):
    """No bundle comes with what is installed here; says how to make it."""


def home(data: Path) -> Path:
    """The folder for what connects OpenCode: harnesses load from here, wherever a checkout moves to."""
    return data.resolve() / "adapters" / "opencode"


def copy_of(data: Path) -> Path:
    return home(data) / BUNDLE


def source() -> Path:
    for path in SOURCES:
        if path.is_file():
            return path
    raise Missing(
        f"the adapter's bundle is not built: {SOURCES[0]} is missing; run `make adapter` there, then this again"
    )


def digest(path: Path) -> str:
    """The sha256 of a bundle; empty where there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def is_fresh(data: Path) -> bool:
    return digest(copy_of(data)) == digest(source())


def bring(data: Path) -> None:
    """Make the copy what this installation has."""
    if not is_fresh(data):
        files.write(copy_of(data), source().read_bytes())
