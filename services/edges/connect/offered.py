"""What an installation of these settings offers, stored next to the bundle: some harnesses take tools only at start."""

from pathlib import Path

from schemas.codec import encode
from services.edges.connect import files
from services.edges.connect.bundle import home
from services.responder.answers.client_manifest import client_manifest
from services.settings import Settings

FILE = "guide.json"


def bring(settings: Settings, harness: str) -> None:
    offered = client_manifest(settings.plan, settings.memory)
    files.write(home(settings.data, harness) / FILE, encode(offered))


def take_away(data: Path, harness: str) -> None:
    (home(data, harness) / FILE).unlink(missing_ok=True)
