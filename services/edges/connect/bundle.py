"""The bundle of a harness's adapter: where this installation has it, and the copy that the harness loads."""

import hashlib
from pathlib import Path

import msgspec

from services.edges.connect import files
from services.edges.connect.written import BUNDLE, ConfigurationRecord
from services.edges.launcher.run import private

_HERE = Path(__file__).parent


class NoBundle(FileNotFoundError):
    """No bundle comes with what is installed here; says how to make it."""


def sources(harness: str) -> tuple[Path, ...]:
    """The places where it may be: in a checkout, and next to an installed package."""
    return (_HERE.parents[2] / "deploy" / harness / "dist" / BUNDLE, _HERE / "bundles" / harness / BUNDLE)


def home(data: Path, harness: str) -> Path:
    """The folder for what connects a harness: it loads from here, wherever a checkout moves to."""
    return data.resolve() / "adapters" / harness


def copy_of(data: Path, harness: str) -> Path:
    return home(data, harness) / BUNDLE


def source(harness: str) -> Path:
    places = sources(harness)
    for path in places:
        if path.is_file():
            return path
    raise NoBundle(
        f"the adapter's bundle is not built: {places[0]} is missing; run `make adapter` there, then this again"
    )


def digest(path: Path) -> str:
    """The sha256 of a bundle; empty where there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def installed(harness: str) -> str:
    """The sha256 of the bundle that this installation has; empty where it has none."""
    try:
        return digest(source(harness))
    except NoBundle:
        return ""


def is_fresh(data: Path, harness: str) -> bool:
    return digest(copy_of(data, harness)) == digest(source(harness))


def bring(data: Path, harness: str) -> None:
    """Make the copy what this installation has. The data directory may be made for it."""
    private(data)
    if not is_fresh(data, harness):
        files.write(copy_of(data, harness), source(harness).read_bytes())


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
