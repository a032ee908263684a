"""The rooms of this installation: every folder of `services` that has a worker.

What cannot be found that way names a room once more: its layer in pyproject.toml, and its container in compose.yaml.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the list is all that the command line needs at once; a room brings half a second of imports
    from services.kit.room import Room

ROOMS = tuple(sorted(worker.parent.name for worker in Path(__file__).parents[1].glob("*/worker.py")))


def load(name: str) -> "type[Room]":
    """The worker of a room; what it needs is imported only now."""
    class_name = "".join(word.capitalize() for word in name.split("_"))
    worker: type[Room] = getattr(import_module(f"services.{name}.worker"), class_name)
    return worker
