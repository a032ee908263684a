"""The list of rooms. A new room is its folder and its name here."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the list is all that the command line needs at once; a room brings half a second of imports
    from services.kit.room import Room

ROOMS = ("tagger", "desk", "historian", "responder")


def load(name: str) -> "type[Room]":
    """The worker of a room; what it needs is imported only now."""
    class_name = "".join(word.capitalize() for word in name.split("_"))
    worker: type[Room] = getattr(import_module(f"services.{name}.worker"), class_name)
    return worker
